# SPDX-License-Identifier: GPL-2.0-only
"""The document about DLRMs: its picture is that of the run, its presets are those that there are."""

from __future__ import annotations

import re
from pathlib import Path

import astra_py as ap
from astra_py.config.workload import dlrm_presets
from astra_py.results.timeline import draw_timeline

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "dlrm.md").read_text()


def test_the_picture_is_drawn_from_the_simulation() -> None:
    found = re.search(r"<!-- what_overlaps.py (\S+) (\S+) -->\n```\n(.*?)\n```", TEXT, re.DOTALL)
    assert found is not None
    result = ap.load(ROOT / found[1], found[2]).run()
    assert draw_timeline(result, rank=0, iteration=1).splitlines() == found[3].splitlines()


def test_every_preset_is_in_its_table() -> None:
    table = TEXT[: TEXT.index("## The batch")]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(dlrm_presets())
