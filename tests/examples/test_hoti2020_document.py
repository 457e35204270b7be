# SPDX-License-Identifier: GPL-2.0-only
"""The tables of docs/hoti2020.md are what the study prints."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "hoti2020.md").read_text()
#: Axis to its table, each after a comment that has the command.
TABLES = dict(re.findall(r"<!-- hoti2020_study.py --axis (\w+) -->\n```\n(.*?)\n```", TEXT, re.DOTALL))
#: The axis without a table: the larger model takes minutes.
WITHOUT_TABLE = ("accelerators_large",)
#: Those that take seconds; the others are run by ``make full``.
QUICK = ("mtu",)


@pytest.fixture(scope="module")
def study() -> ModuleType:
    """The example as a module, which its processes can import by name."""
    spec = importlib.util.spec_from_file_location("hoti2020_study", ROOT / "examples" / "hoti2020_study.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["hoti2020_study"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_axis_has_a_table(study: ModuleType) -> None:
    assert set(TABLES) == {axis.name for axis in study.AXES if axis.name not in WITHOUT_TABLE}


@pytest.mark.parametrize(
    "axis", [pytest.param(axis, marks=[] if axis in QUICK else pytest.mark.slow) for axis in TABLES]
)
def test_a_table_is_what_the_study_prints(study: ModuleType, axis: str) -> None:
    table = study.main(["--axis", axis, "--processes", "1"])
    assert study.text_of(table).splitlines() == TABLES[axis].splitlines()
