# SPDX-License-Identifier: GPL-2.0-only
"""A drawing of what overlaps what on one rank, as text, from the table of operations of a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError
from astra_py.results.intervals import IntervalSet

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["draw_timeline"]

#: Marks of a cell that an operation covers by half and more, by its kind; one that it covers by less is a point.
_MARKS = {"compute": "#", "collective": "=", "memory": "+"}
_PARTLY = "."
_EXPOSED = "!"


def draw_timeline(result: Result, rank: int, iteration: int, width: int = 72) -> str:
    """Draw one iteration of one rank: a line for each kind of operation, time from left to right.

    Operations whose names differ in numbers alone, such as those of a MLP's layers, share a line, in order of the first
    start. The window is from the rank's first compute of the iteration to that of the next one, or to the rank's end;
    all that runs in it is drawn, whichever iteration it belongs to. The last line marks where nothing is computed:
    exposed communication, and waiting.

    Parameters
    ----------
    result : of a run.
    rank : whose operations.
    iteration : which one.
    width : cells of a line.

    Raises
    ------
    ConfigError : the run has no compute of such a rank and iteration.
    """
    table = result.columns("operations")
    of_rank = table["rank"] == rank
    starts = [
        table["start_ps"][of_rank & (table["kind"] == "compute") & (table["iteration"] == which)]
        for which in (iteration, iteration + 1)
    ]
    if not len(starts[0]):
        raise ConfigError(f"the run has no compute of rank {rank} in iteration {iteration}")
    begin = int(starts[0].min())
    end = int(starts[1].min()) if len(starts[1]) else int(table["end_ps"][of_rank].max())
    edges = begin + (end - begin) * np.arange(width + 1) // width
    seen = np.flatnonzero(of_rank & (table["start_ps"] < end) & (table["end_ps"] > begin))
    lines: dict[tuple[str, str], list[int]] = {}
    for operation in seen[np.argsort(np.maximum(table["start_ps"][seen], begin), kind="stable")].tolist():
        name = re.sub(r"_[0-9]+", "", str(table["name"][operation]))
        lines.setdefault((name, str(table["kind"][operation])), []).append(operation)
    label = max(len(f"{name}  {kind}") for name, kind in lines)
    time_us, cell_us = (end - begin) / 1e6, (end - begin) / width / 1e6
    drawn = [f"rank {rank}, iteration {iteration}: {time_us:,.1f} us, {cell_us:,.1f} us a cell"]
    for (name, kind), operations in lines.items():
        covered = _shares(table["start_ps"][operations], table["end_ps"][operations], edges)
        drawn.append(f"{name}{kind:>{label - len(name)}} |{_cells(covered, _MARKS[kind])}|")
    is_compute = seen[table["kind"][seen] == "compute"]
    idle = 1 - _shares(table["start_ps"][is_compute], table["end_ps"][is_compute], edges)
    drawn.append(f"{'nothing is computed':{label}} |{_cells(idle, _EXPOSED)}|")
    return "\n".join(drawn)


def _shares(start: NDArray[np.int64], end: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of each cell between two edges that some intervals cover; 0 for a cell of no width."""
    covered = IntervalSet(start, end).covered(edges[:-1], edges[1:])
    return covered / np.maximum(np.diff(edges), 1)


def _cells(shares: NDArray[np.float64], mark: str) -> str:
    return "".join(mark if share >= 0.5 else _PARTLY if share > 0 else " " for share in shares)
