# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a sweep, made from its outcomes alone: the same outcomes are the same bytes, whoever ran them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astra_py.batch.outcome import Outcome
from astra_py.batch.point import Point
from astra_py.config.params import rule_at
from astra_py.config.rules import QuantityRule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SweepTable", "best_outcomes", "results_table", "runs_table"]

#: End of the name of the column that has a key's quantity as a number, by the unit it is held in.
_UNITS = {"B": "bytes", "bit/s": "bps", "ps": "ps"}

#: What ends a line as it is written first: text with either character in it is put between quotes then.
_LINE_END = "\r\n"


@dataclass(frozen=True)
class SweepTable:
    """A table: the names of its columns and its rows; what a row does not have is None.

    Attributes
    ----------
    columns : names, in order.
    rows : values by column.
    """

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    def to_csv(self) -> str:
        """The table as CSV: numbers exact, what a row does not have empty."""
        lines = _Lines()
        writer = csv.writer(lines, lineterminator=_LINE_END)
        writer.writerow(self.columns)
        writer.writerows([row.get(column) for column in self.columns] for row in self.rows)
        return "".join(f"{line.removesuffix(_LINE_END)}\n" for line in lines)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a DataFrame.

        Whole numbers are ``int64`` (``Int64`` where a row has none), other numbers ``float64``, and texts ``str``, of
        which those that a row does not have are empty. A key's values are numbers where all of them are.
        """
        import pandas as pd

        return pd.DataFrame({column: _series([row.get(column) for row in self.rows]) for column in self.columns})


class _Lines(list[str]):
    """Lines as a file takes them."""

    def write(self, line: str) -> None:
        self.append(line)


def _series(values: list[Any]) -> pd.Series[Any]:
    import pandas as pd

    there = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in there) or not there:
        return pd.Series(["" if value is None else str(value) for value in values], dtype="str")
    if all(isinstance(value, int) for value in there):
        return pd.Series(values, dtype="int64" if len(there) == len(values) else "Int64")
    return pd.Series(values, dtype="float64")


def best_outcomes(outcomes: Iterable[Outcome]) -> dict[str, Outcome]:
    """One outcome a digest: one that is ok before one that is not, else the one that ended last."""
    best: dict[str, Outcome] = {}
    for outcome in outcomes:
        other = best.get(outcome.digest)
        if other is None or (outcome.is_ok, outcome.ended_s) > (other.is_ok, other.ended_s):
            best[outcome.digest] = outcome
    return best


def results_table(keys: Sequence[str], points: Iterable[Point], outcomes: Iterable[Outcome]) -> SweepTable:
    """One row a point that has an outcome, in order of points.

    Columns: ``point``; each key of ``keys`` as it was given, and, where it is a quantity, as a number in ``_bytes``,
    ``_bps`` or ``_ps``; ``status`` and ``reason``; the figures of :func:`astra_py.batch.row.point_row`; ``digest``.
    """
    best = best_outcomes(outcomes)
    done = [(point, best[point.digest]) for point in points if point.digest in best]
    heads = [_key_values(keys, point) for point, _ in done]
    figures = _names(outcome.row for _, outcome in done)
    rows = tuple(
        {
            "point": point.index,
            **head,
            "status": outcome.status.value,
            "reason": outcome.reason,
            **outcome.row,
            "digest": point.digest,
        }
        for (point, outcome), head in zip(done, heads, strict=True)
    )
    head_names = _names(heads) or list(keys)
    return SweepTable(("point", *head_names, "status", "reason", *figures, "digest"), rows)


def runs_table(points: Iterable[Point], outcomes: Iterable[Outcome]) -> SweepTable:
    """One row an outcome, in order of start: who ran what when, and what it cost.

    Columns: ``point`` (the first of its digest), ``digest``, ``status``, ``attempts``, ``started_s`` and ``ended_s`` in
    seconds since 1970 UTC, ``time_s``, ``worker``, and what it cost in CPU seconds and bytes of memory.
    """
    first: dict[str, int] = {}
    for point in points:
        first.setdefault(point.digest, point.index)
    ordered = sorted(outcomes, key=lambda outcome: (outcome.started_s, outcome.digest))
    rows = tuple(
        {
            "point": first.get(outcome.digest),
            "digest": outcome.digest,
            "status": outcome.status.value,
            "attempts": outcome.attempts,
            "started_s": outcome.started_s,
            "ended_s": outcome.ended_s,
            "time_s": outcome.ended_s - outcome.started_s,
            "worker": outcome.worker,
            **outcome.cost,
        }
        for outcome in ordered
    )
    head = ("point", "digest", "status", "attempts", "started_s", "ended_s", "time_s", "worker")
    return SweepTable((*head, *_names(outcome.cost for outcome in ordered)), rows)


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys of all rows, in order of first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _key_values(keys: Sequence[str], point: Point) -> dict[str, Any]:
    """The point's values: as given, or as the number that it is, and a quantity in its unit beside it."""
    values: dict[str, Any] = {}
    for key in keys:
        text = point.values[key]
        values[key] = _number(text)
        rule = rule_at(key)
        if isinstance(rule, QuantityRule):
            values[f"{key}_{_UNITS[rule.unit]}"] = _quantity(rule, text)
    return values


def _quantity(rule: QuantityRule, text: str) -> int | None:
    """The quantity in its unit; None of a word such as "none"."""
    try:
        return None if text in rule.words else rule.read_ordinary(text)
    except ValueError:  # a text that is quoted once more
        return None


def _number(text: str) -> str | int | float:
    """The number that ``text`` is as it is written here, or the text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if repr(number) == text and math.isfinite(number):
            return number
    return text
