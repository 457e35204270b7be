# SPDX-License-Identifier: GPL-2.0-only
"""The times of several runs of one scenario in one table: by iteration, by collective, by phase of a collective.

Of an iteration there is a second row where its ranks compute: how much of its time is exposed communication.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astra_py.analysis.why import to_frame

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.results.result import Result

__all__ = ["LEVELS", "times_table"]

#: What is compared, from the whole to its parts.
LEVELS = ("iteration", "exposed", "collective", "phase")


@dataclass(frozen=True)
class _Place:
    """What a time is of, by which the times of different runs are put side by side."""

    level: str
    run: int
    job: str
    iteration: int
    name: str = ""
    number: int = 0
    phase: str = ""


def times_table(
    columns: Sequence[tuple[str, Sequence[Result]]], reference: tuple[str, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """One row an iteration, a collective, and a phase of one: its time in each column, and the differences.

    A collective has ``<label>_bottleneck`` beside, what its time went into for the most part,
    or "".

    Parameters
    ----------
    columns : label and results of each; the results of one run stand at one place in all.
    reference : label and table of a log, which then is the first column: ``size_bytes`` and ``time_us``.
    """
    rows: dict[_Place, dict[str, Any]] = {}
    for label, results in columns:
        for run, result in enumerate(results):
            for place, size_bytes, time_us, bottleneck in _times(run, result):
                row = rows.setdefault(place, vars(place) | {"size_bytes": size_bytes})
                row[f"{label}_us"] = time_us
                row[f"{label}_bottleneck"] = bottleneck
    labels = [label for label, _ in columns]
    if reference is not None:
        labels.insert(0, reference[0])
        measured = dict(zip(reference[1]["size_bytes"].tolist(), reference[1]["time_us"].tolist(), strict=True))
        for place, row in rows.items():
            if place.level == "collective" and row["size_bytes"] in measured:
                row[f"{labels[0]}_us"] = float(measured[row["size_bytes"]])
    ordered = sorted(rows.values(), key=lambda row: LEVELS.index(row["level"]))
    for row in ordered:
        for label, _ in columns:
            row.setdefault(f"{label}_bottleneck", "")
        first = row.setdefault(f"{labels[0]}_us", float("nan"))
        for label in labels[1:]:
            time_us = row.setdefault(f"{label}_us", float("nan"))
            row[f"{label}_difference"] = _difference(time_us, first)
    return to_frame(ordered)


def _difference(time_us: float, first_us: float) -> float:
    """As a share of the first; NaN where one of them is missing, or where there is nothing to have a share of."""
    if time_us == first_us:
        return 0.0
    return (time_us - first_us) / first_us if first_us else float("nan")


def _times(run: int, result: Result) -> Iterator[tuple[_Place, int, float, str]]:
    """Place, size in bytes, time in us, and what most of it went into, of all that a result has times of."""
    table = result.columns("iterations")
    names = ("job", "iteration", "time_us", "exposed_us", "compute_us")
    for job, iteration, time_us, exposed_us, compute_us in zip(*(table[each].tolist() for each in names), strict=True):
        yield _Place("iteration", run, job, iteration), 0, time_us, ""
        if compute_us > 0:
            yield _Place("exposed", run, job, iteration), 0, exposed_us, ""
    table = result.columns("collectives")
    number: dict[int, int] = {}
    jobs: dict[int, str] = {}
    seen: dict[tuple[str, int, str], int] = {}
    of_collective = ("collective", "job", "iteration", "name", "size_bytes", "time_us", "bottleneck")
    for collective, job, iteration, name, size, time_us, bottleneck in zip(
        *(table[each].tolist() for each in of_collective), strict=True
    ):
        jobs[collective], number[collective] = job, seen.get((job, iteration, name), 0)
        seen[job, iteration, name] = number[collective] + 1
        yield _Place("collective", run, job, iteration, name, number[collective]), size, time_us, bottleneck
    table = result.columns("phases")
    of_phase = ("collective", "iteration", "name", "phase", "level", "size_bytes", "time_us")
    for collective, iteration, name, phase, level, size, time_us in zip(
        *(table[each].tolist() for each in of_phase), strict=True
    ):
        part = f"{phase}, {level}"
        yield _Place("phase", run, jobs[collective], iteration, name, number[collective], part), size, time_us, ""
