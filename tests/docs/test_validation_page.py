# SPDX-License-Identifier: GPL-2.0-only
"""The tables of the page on validation are those of the figures beside it, and these are what is measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from astra_py.analysis.validation.table import all_cases
from document_validation import DOCUMENT, FIGURES, TABLES, page, table

REDRAW = "measure it anew: python tools/document_validation.py"
KEPT = json.loads(FIGURES.read_text(encoding="utf-8"))
#: Tables whose runs take seconds; the others take minutes.
QUICK = {"incast", "tcp_incast"}


def test_the_page_is_that_of_the_figures_beside_it() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert list(KEPT) == list(TABLES)
    assert page(text, KEPT) == text, REDRAW


def test_every_case_has_a_row_as_it_is_declared() -> None:
    declared = {
        case.id: (case.kind.value, case.unit, case.tolerance, case.relation.value, case.is_must) for case in all_cases()
    }
    keys = ("kind", "unit", "tolerance", "relation", "must")
    assert {row["case"]: tuple(row[key] for key in keys) for row in KEPT["cases"]} == declared, REDRAW
    assert not [row["case"] for row in KEPT["cases"] if row["must"] and row["pass"] is False]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in TABLES]
)
def test_the_figures_are_what_is_measured(name: str) -> None:
    measured = TABLES[name]()
    assert len(measured) == len(KEPT[name])
    for now, kept in zip(measured, KEPT[name], strict=True):
        assert _is_equal(now, kept), REDRAW


def _is_equal(now: dict[str, Any], kept: dict[str, Any]) -> bool:
    """Whether two rows are equal, but for the last digits of floats, which differ from machine to machine."""
    return now.keys() == kept.keys() and all(
        value == (pytest.approx(kept[key], rel=1e-9) if isinstance(value, float | list) else kept[key])
        for key, value in now.items()
    )


def test_a_figure_that_changed_is_found() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, rows in KEPT.items():
        first, *others = rows
        key = next(key for key, value in first.items() if type(value) in (int, float, list) and value)
        changed = first | {key: 3 * first[key]}
        assert not _is_equal(changed, first)
        assert table(name, [changed, *others]) != table(name, rows)
        assert page(text, {name: others}) != text
    with pytest.raises(ValueError, match="0 places for 'incast'"):
        page("", {"incast": KEPT["incast"]})
