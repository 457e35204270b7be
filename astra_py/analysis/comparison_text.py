# SPDX-License-Identifier: GPL-2.0-only
"""A comparison as text for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.analysis.stretches import Part
from astra_py.analysis.times import LEVELS
from astra_py.analysis.why import legend, sentence, stacked_bar
from astra_py.results.text import figure, grid

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.analysis.comparison import Comparison

__all__ = ["markdown", "plain_rows", "report", "row_names"]

#: What the rows of each level are called together.
_HEADINGS = {
    "iteration": "iterations",
    "exposed": "exposed communication",
    "collective": "collectives",
    "phase": "phases",
}

_Cells = tuple[list[str], list[list[str]]]


def report(comparison: Comparison, *, has_why: bool) -> str:
    """The tables, then the parts of each collective of a packet run as a table, a sentence and a bar, then the gate."""
    lines: list[str] = []
    for cells in _levels(comparison).values():
        lines += [*grid(*cells), ""]
    if has_why and comparison.is_explained:
        rows = plain_rows(comparison.why)
        lines += [*grid(*_why_cells(comparison, rows)), ""]
        for row in rows:
            lines += [_sentence(row), f"  |{stacked_bar(row)}|"]
        lines += ["", legend(rows), ""]
        for title, cells in _gaps(comparison).items():
            lines += [title, "", *grid(*cells), ""]
    return "\n".join([*lines, comparison.verdict])


def markdown(comparison: Comparison, *, has_why: bool) -> str:
    """The same as tables of Markdown, with one of queueing by link, and a list of sentences and bars."""
    lines: list[str] = []
    for level, cells in _levels(comparison).items():
        lines += [f"### {level}", "", *_markdown_table(*cells), ""]
    if has_why and comparison.is_explained:
        rows = plain_rows(comparison.why)
        lines += ["### why", "", *_markdown_table(*_why_cells(comparison, rows)), ""]
        for row in rows:
            lines += [f"- {_sentence(row)}", f"  `|{stacked_bar(row)}|`"]
        lines += ["", f"`{legend(rows)}`", ""]
        if len(comparison.queueing):
            lines += ["### queueing by link", "", *_markdown_table(*_queueing_cells(comparison)), ""]
        for title, cells in _gaps(comparison).items():
            lines += [f"### {title}", "", *_markdown_table(*cells), ""]
    return "\n".join([*lines, comparison.verdict])


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of Python's own values, as JSON has them: None where there is no number."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and value != value else value


def _levels(comparison: Comparison) -> dict[str, _Cells]:
    """By the heading of each level that there is something of: its cells."""
    tables = {level: comparison.table[comparison.table["level"] == level] for level in LEVELS}
    return {_HEADINGS[level]: _cells(comparison, table) for level, table in tables.items() if len(table)}


def _cells(comparison: Comparison, table: pd.DataFrame) -> _Cells:
    others = comparison.labels[1:]
    header = ["what"]
    for label in comparison.labels:
        header += [f"{label} us", *(["difference"] if label in others else [])]
        header += ["bottleneck"] if _has_bottleneck(table, label) else []
    rows = []
    for row in plain_rows(table):
        cells = [_title(comparison, row)]
        for label in comparison.labels:
            cells.append(_figure(row[f"{label}_us"]))
            if label in others:
                difference = row[f"{label}_difference"]
                cells.append("-" if difference is None else f"{100 * difference:+.2f} %")
            if _has_bottleneck(table, label):
                cells.append(row[f"{label}_bottleneck"] or "-")
        rows.append(cells)
    return header, rows


def _has_bottleneck(table: pd.DataFrame, label: str) -> bool:
    """Whether any row of ``table`` says what the time of a column went into."""
    name = f"{label}_bottleneck"
    return name in table and bool((table[name] != "").any())


def row_names(comparison: Comparison) -> list[str]:
    """What each row of :attr:`Comparison.why` is of."""
    return [_who(comparison, row) for row in plain_rows(comparison.why)]


def _sentence(row: Mapping[str, Any]) -> str:
    return (f"[{row['variant']}] " if row["variant"] else "") + sentence(row)


def _why_cells(comparison: Comparison, rows: Sequence[Mapping[str, Any]]) -> _Cells:
    """The times of each collective: of the engines, then of the parts that occur, and of what is unexplained."""
    others = [name for name in rows[0] if name.endswith("_difference_us")] if rows else []
    engines = [name for other in others for name in (other.replace("_difference_us", "_us"), other)]
    parts = [part for part in Part if part == Part.UNEXPLAINED or any(row[f"{part}_us"] for row in rows)]
    times = ["packet_us", *engines, *(f"{part}_us" for part in parts)]
    header = ["collective", *(name.removesuffix("_us").replace("_", " ") + " us" for name in times)]
    has_queues = Part.QUEUEING in parts
    cells = []
    for row in rows:
        where = [row["longest_queue"]] if has_queues else []
        cells.append([_who(comparison, row), *(_figure(row[name]) for name in times), *where])
    return [*header, *(["longest queue"] if has_queues else [])], cells


def _queueing_cells(comparison: Comparison) -> _Cells:
    """What :attr:`Comparison.queueing` has."""
    cells = [
        [_who(comparison, row), row["link"], _figure(row["queueing_us"])] for row in plain_rows(comparison.queueing)
    ]
    return ["collective", "link", "queueing us"], cells


def _who(comparison: Comparison, row: Mapping[str, Any]) -> str:
    """Which collective of which variant a row of the parts is of."""
    return ", ".join(filter(None, (_title(comparison, {**row, "phase": ""}), row["variant"])))


def _gaps(comparison: Comparison) -> dict[str, _Cells]:
    """By a title: the parts of a collective in the first variant and in another one, and what one has more."""
    if not len(comparison.gaps):
        return {}
    place = ("run", "job", "iteration", "name", "number")
    rows = plain_rows(comparison.why)
    found = {(row["variant"], *(row[key] for key in place)): row for row in rows}
    first_variant = rows[0]["variant"]
    tables: dict[str, _Cells] = {}
    for gap in plain_rows(comparison.gaps):
        first, other = (found[variant, *(gap[key] for key in place)] for variant in (first_variant, gap["variant"]))
        title = f"{_title(comparison, gap | {'phase': ''})}: {gap['variant']} against {first_variant}"
        parts = [part for part in Part if first[f"{part}_us"] or other[f"{part}_us"]]
        names = [("all", "packet_us"), *((part.replace("_", " "), f"{part}_us") for part in parts)]
        cells = [[name, *(_figure(row[column]) for row in (first, other, gap))] for name, column in names]
        tables[title] = (["part", f"{first_variant} us", f"{gap['variant']} us", "gap us"], cells)
    return tables


def _title(comparison: Comparison, row: Mapping[str, Any]) -> str:
    """What a row is of, in a few words."""
    runs = comparison.cases[0].runs
    run = f"{runs[row['run']].title}: " if len(runs) > 1 else ""
    if not row["name"]:
        job = f"{row['job']}, " if row["job"] else ""
        what = "exposed in " if row.get("level") == "exposed" else ""
        return f"{run}{job}{what}iteration {row['iteration']}"
    number = f" #{row['number']}" if row["number"] else ""
    phase = f", {row['phase']}" if row["phase"] else ""
    return f"{run}{row['name']}{number}{phase}, iteration {row['iteration']}"


def _figure(time_us: float | None) -> str:
    return "-" if time_us is None else figure(time_us)


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---", *["---:"] * (len(header) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
