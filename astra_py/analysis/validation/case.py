# SPDX-License-Identifier: GPL-2.0-only
"""A case of the validation table: what is expected, who says so, and how far a result may be from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Case", "Figures", "Kind", "Relation", "Row", "measure"]


class Kind(StrEnum):
    """What an agreement is worth.

    EXACT: follows from the model, no figure is free. PREDICTED: measured elsewhere, nothing fitted to this case.
    CALIBRATED: rates of other measurements of the same machine are in it.
    FITTED: a parameter was fitted to the figures of this very case. REPORTED: no aim, shown beside what was published.
    """

    EXACT = "exact"
    PREDICTED = "predicted"
    CALIBRATED = "calibrated"
    FITTED = "fitted"
    REPORTED = "reported"


class Relation(StrEnum):
    """How a result relates to what is expected."""

    EQUAL = "="
    AT_MOST = "<="
    AT_LEAST = ">="


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What was expected and what each engine says, in the case's unit; None where an engine was not asked.

    ``point`` names the part of the case that these are of, such as ``"8 ranks"``.
    """

    expected: float
    packet: float | None = None
    flow: float | None = None
    analytic: float | None = None
    point: str = ""

    @classmethod
    def of(cls, expected: float, values: Mapping[str, float], point: str = "") -> Figures:
        """Figures of engines by name."""
        packet, flow, analytic = (values.get(name) for name in ("packet", "flow", "analytic"))
        return cls(expected=expected, packet=packet, flow=flow, analytic=analytic, point=point)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row to be.

    Attributes
    ----------
    id : unique, such as ``"astra_ns3.ring_8_1MiB"``.
    title : what is run, in a few words.
    source : who says what is expected: a publication, a program, a formula.
    kind : what an agreement is worth.
    unit : of all figures.
    measure : runs it; figures of one or more points, all of which have to agree.
    judged : the engine whose figure is held to what is expected.
    tolerance : largest relative difference; 0 for equality to the last digit.
    relation : whether the result is to be equal, or is bounded.
    is_must : whether the table fails where this row does.
    is_quick : whether it is in the quick table, too.
    note : what was fitted, or why it fails where it is known to.
    """

    id: str
    title: str
    source: str
    kind: Kind
    unit: str
    measure: Callable[[], Sequence[Figures]]
    judged: str = "packet"
    tolerance: float = 0.0
    relation: Relation = Relation.EQUAL
    is_must: bool = True
    is_quick: bool = True
    note: str = ""

    @property
    def section(self) -> str:
        """The part of the table that it belongs to: what comes before the first dot of its id."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A case that was run: its figures at the point that is furthest off, and the verdict over all points.

    ``error`` is relative to what is expected, None where that is 0 and the result is not. ``passes`` is None for a case
    that is only reported. ``cpu_s`` is what it cost.
    """

    case: Case
    figures: Figures
    points: int
    error: float | None
    passes: bool | None
    cpu_s: float

    @property
    def is_fatal(self) -> bool:
        """Whether it has to pass and does not."""
        return self.case.is_must and self.passes is False


def _error(figures: Figures, judged: str) -> float | None:
    value: float | None = getattr(figures, judged)
    if value is None:
        return None
    if figures.expected == 0:
        return 0.0 if value == 0 else None
    # whole numbers beyond 2^53 would be equal as floats before they are
    return 0.0 if value == figures.expected else (value - figures.expected) / figures.expected


def _agrees(figures: Figures, case: Case) -> bool:
    value: float | None = getattr(figures, case.judged)
    if value is None:
        return False
    if value == figures.expected:
        return True
    slack = case.tolerance * abs(figures.expected)
    match case.relation:
        case Relation.EQUAL:
            return case.tolerance > 0 and abs(value - figures.expected) <= slack
        case Relation.AT_MOST:
            return value <= figures.expected + slack
        case Relation.AT_LEAST:
            return value >= figures.expected - slack


def measure(case: Case) -> Row:
    """Run a case.

    Raises
    ------
    AstraPyError : it could not be run; what is expected of a result is no error but in the row.
    """
    before = time.process_time()
    points = list(case.measure())
    cpu_s = time.process_time() - before
    if not points:
        raise ValueError(f"case {case.id!r} has measured nothing")

    def badness(figures: Figures) -> tuple[bool, float, float]:
        error = _error(figures, case.judged)
        return (not _agrees(figures, case), float("inf") if error is None else abs(error), figures.expected)

    worst = max(points, key=badness)
    passes = None if case.kind == Kind.REPORTED else all(_agrees(figures, case) for figures in points)
    return Row(
        case=case,
        figures=worst,
        points=len(points),
        error=_error(worst, case.judged),
        passes=passes,
        cpu_s=cpu_s,
    )
