# SPDX-License-Identifier: GPL-2.0-only
"""What docs/compare.md says is what is computed."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from astra_py.analysis.stretches import Part
from documents import blocks

DOC = Path(__file__).parents[2] / "docs" / "compare.md"
PROGRAMS = [block.text for block in blocks(DOC) if block.language == "python"]


def rows(text):
    """The cells of each row of the doc's tables that begins with a name in code."""
    found = (re.split(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith(("| `", "| all")))
    return [[cell.strip().strip("`") for cell in row[1:-1]] for row in found]


def test_every_part_is_described():
    described = [name for name, *cells in rows(DOC.read_text(encoding="utf-8")) if len(cells) == 2]
    assert described == [str(part) for part in Part]


@pytest.fixture(scope="module")
def names():
    """What the document's programs leave behind."""
    space = {}
    for program in PROGRAMS:
        exec(program, space)
    return SimpleNamespace(**space)


def test_the_programs_run(names):
    assert len(PROGRAMS) == 2
    assert list(names.both.gaps["variant"]) == ["shallow"]


def test_the_figures_are_those_of_the_program(names):
    own, theirs = names.gap.why.to_dict("records")
    (gap,) = names.gap.gaps.to_dict("records")
    table = [cells for cells in rows(DOC.read_text(encoding="utf-8")) if len(cells) == 5]
    assert len(table) > 4
    columns = ["packet_us" if name == "all" else f"{name}_us" for name, *_ in table]
    assert [cells[1:4] for cells in table] == [
        [f"{row[column]:.3f}" for row in (own, theirs, gap)] for column in columns
    ]
    # what is left out has nothing
    rest = [f"{part}_us" for part in Part if f"{part}_us" not in columns]
    assert not any(row[column] for row in (own, theirs) for column in rest)
