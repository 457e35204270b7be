# SPDX-License-Identifier: GPL-2.0-only
"""What README and the quick start say of the program is so; what they say to type, tests/docs types."""

from __future__ import annotations

import re

import pytest

import astra_py
from astra_py.cli.app import COMMANDS
from documents import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
QUICK_START = (ROOT / "docs" / "quick_start.md").read_text(encoding="utf-8")


def test_every_command_is_listed() -> None:
    listed = re.findall(r"^\| `astra-py (\w+)", README, re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize(
    ("overrides", "time_us"),
    [
        ((), 5_993),
        (("transport.preset=dcqcn_vendor",), 1_605),
        (("transport.congestion_control=none",), 1_218),
        (("platform.routing=spray",), 672),
    ],
)
def test_a_leaf_for_each_node_takes_as_long_as_the_quick_start_says(overrides: tuple[str, ...], time_us: int) -> None:
    keys = ("platform.ranks_per_leaf=8", *overrides)
    result = astra_py.load(str(ROOT / "workloads" / "zionex_2x8.toml"), *keys).run()
    assert int(result.iterations["time_us"][1]) == time_us
    assert f"{time_us:,}" in QUICK_START
