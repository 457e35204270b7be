# SPDX-License-Identifier: GPL-2.0-only
"""A comparison as text for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from string import ascii_uppercase
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.analysis.stretches import Part
from astra_py.analysis.times import LEVELS
from astra_py.analysis.why import legend, sentence, stacked_bar
from astra_py.results.text import WIDTH, figure, grid

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
    """The tables, then the parts of each collective of a packet run as a table, a sentence and a bar, then the gate.

    Where a table of columns side by side is wider than a terminal, variants are told by letters, which a list explains,
    the columns of times stand below each other, and further columns below the first ones.
    """
    letters = _letters(comparison)
    levels = _levels(comparison)
    is_wide = any(_width(cells) > WIDTH for cells in levels.values())
    marks = letters if is_wide else {}
    lines: list[str] = []
    if marks:
        listed = (f"  {letter}: {variant}" for variant, letter in marks.items())
        indent = " " * 5
        wrapped = (wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False) for line in listed)
        lines += ["variants:", *chain.from_iterable(wrapped), ""]
    for cells in (_stacked_levels(comparison, marks) if is_wide else levels).values():
        lines += [*_folded(*cells, left=2 if is_wide else 1), ""]
    if has_why and comparison.is_explained:
        rows = plain_rows(comparison.why)
        marked = [row | {"variant": marks.get(row["variant"], row["variant"])} for row in rows]
        lines += [*_folded(*_why_cells(comparison, marked)), ""]
        for row in marked:
            lines += [*wrap(_sentence(row), WIDTH, break_on_hyphens=False), f"  |{stacked_bar(row)}|"]
        lines += ["", legend(rows), ""]
        for title, cells in _gaps(comparison, marks).items():
            lines += [title, "", *_folded(*cells), ""]
    return "\n".join([*lines, *wrap(comparison.verdict, WIDTH, subsequent_indent="  ", break_on_hyphens=False)])


def _letters(comparison: Comparison) -> dict[str, str]:
    """A letter for each of several variants, or a number where there are too many, in their order."""
    names = list(dict.fromkeys(case.variant for case in comparison.cases if case.variant))
    return {
        name: ascii_uppercase[i] if len(names) <= len(ascii_uppercase) else str(i + 1) for i, name in enumerate(names)
    }


def _width(cells: _Cells) -> int:
    return max(map(len, grid(*cells)))


def _folded(header: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
    """Lines of a table; columns that have no room in a terminal stand below the others, beside the first one again."""
    if len(header) < 3 or _width((header, rows)) <= WIDTH:
        return grid(header, rows, left)
    taken = len(header) - 1
    while taken > 2 and _width((header[:taken], [row[:taken] for row in rows])) > WIDTH:
        taken -= 1
    first, rest = (
        (header[:taken], [row[:taken] for row in rows]),
        ([header[0], *header[taken:]], [[row[0], *row[taken:]] for row in rows]),
    )
    return [*grid(*first), "", *_folded(*rest)]


def _stacked_levels(comparison: Comparison, marks: Mapping[str, str]) -> dict[str, _Cells]:
    """The cells of :func:`_levels` with a row a column of times, each named shortly."""
    short = {
        case.label: " ".join(filter(None, (case.engine, marks.get(case.variant, "")))) for case in comparison.cases
    }
    stacked = {}
    for heading, (header, rows) in _levels(comparison).items():
        starts = [i for i, name in enumerate(header) if name.endswith(" us")]
        spans = list(pairwise([*starts, len(header)]))
        has_bottleneck = "bottleneck" in header
        cells = []
        for row in rows:
            for i, (start, end) in enumerate(spans):
                named = dict(zip(header[start + 1 : end], row[start + 1 : end], strict=True))
                label = header[start].removesuffix(" us")
                more = [named.get("bottleneck", "-")] if has_bottleneck else []
                cells.append(
                    [row[0] if i == 0 else "", short.get(label, label), row[start], named.get("difference", ""), *more]
                )
        stacked[heading] = (["what", "run", "us", "difference", *(["bottleneck"] if has_bottleneck else [])], cells)
    return stacked


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
        for title, cells in _gaps(comparison, {}).items():
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


def _gaps(comparison: Comparison, marks: Mapping[str, str]) -> dict[str, _Cells]:
    """By a title: the parts of a collective in the first variant and in another one, and what one has more."""
    if not len(comparison.gaps):
        return {}
    place = ("run", "job", "iteration", "name", "number")
    rows = plain_rows(comparison.why)
    found = {(row["variant"], *(row[key] for key in place)): row for row in rows}
    first_variant = rows[0]["variant"]
    first_mark = marks.get(first_variant, first_variant)
    tables: dict[str, _Cells] = {}
    for gap in plain_rows(comparison.gaps):
        first, other = (found[variant, *(gap[key] for key in place)] for variant in (first_variant, gap["variant"]))
        mark = marks.get(gap["variant"], gap["variant"])
        title = f"{_title(comparison, gap | {'phase': ''})}: {mark} against {first_mark}"
        parts = [part for part in Part if first[f"{part}_us"] or other[f"{part}_us"]]
        names = [("all", "packet_us"), *((part.replace("_", " "), f"{part}_us") for part in parts)]
        cells = [[name, *(_figure(row[column]) for row in (first, other, gap))] for name, column in names]
        tables[title] = (["part", f"{first_mark} us", f"{mark} us", "gap us"], cells)
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
