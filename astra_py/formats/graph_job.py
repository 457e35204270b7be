# SPDX-License-Identifier: GPL-2.0-only
"""The job of a trace of one file a rank: files that are missing, iterations, scales."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from astra_py.config.input_files import input_files
from astra_py.errors import ConfigError, WorkloadError
from astra_py.formats.joined_ranks import joined
from astra_py.formats.rank_graph import RankGraph
from astra_py.workloads import Job, repeated, scaled

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["complete", "counted", "graph_job", "rank_files", "span"]

#: The number that a file of a rank has in its name, before its suffixes.
_RANK = re.compile(r"([0-9]{1,7})(?:\.[A-Za-z][A-Za-z0-9]*)+$")


def rank_files(path: Path) -> dict[int, Path]:
    """Return the files that ``path`` names, by rank.

    One whole name is that file alone, of the rank that the last number in the name says, or of rank 0. Otherwise it is
    what the names of one file a rank begin with.

    Raises
    ------
    WorkloadError : there is none, or there are two of one rank.
    """
    if path.is_file():
        number = _RANK.search(path.name)
        return {int(number[1]) if number else 0: path}
    try:
        found = input_files(path)
    except ConfigError as error:
        raise WorkloadError(str(error)) from None
    if not found:
        raise WorkloadError(f"{path}: cannot be read: no file has this name or one that begins so")
    return found


def complete(ranks: Collection[int]) -> int | None:
    """How many ranks there are, where there are files of several and no gap; one file alone may be one of many."""
    return len(ranks) if len(ranks) > 1 and max(ranks) == len(ranks) - 1 else None


def counted(count: int, what: str) -> str:
    """``"1 file"``, ``"2 files"``."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else many}"


def span(sizes: Iterable[int]) -> str:
    """The least and the most of some sizes in bytes, ``"8 to 64 B"``, or one where they are the same."""
    least, *_, most = sorted({*sizes}) * 2
    return f"{least} B" if least == most else f"{least} to {most} B"


def graph_job(path: Path, graphs: Mapping[int, RankGraph], scenario: Scenario, ranks: int) -> Job:
    """Make the job of all ranks.

    Parameters
    ----------
    path : what the scenario names.
    graphs : by rank, of the files that there are.
    scenario : its ``[workload]`` says what becomes of ranks without a file, how often the nodes are done, and scales.
    ranks : number of ranks of the platform.

    Raises
    ------
    WorkloadError : ranks have no file, files no rank, or they do not go together; see
        :func:`~astra_py.formats.joined_ranks.joined`.
    """
    config = scenario.require_workload()
    beyond = [rank for rank in graphs if rank >= ranks]
    if beyond:
        raise WorkloadError(
            f"{graphs[beyond[0]].path}: is of rank {beyond[0]}, and the platform has ranks 0 to {ranks - 1}"
        )
    notes = []
    missing = [rank for rank in range(ranks) if rank not in graphs]
    every = dict(graphs)
    if missing:
        model = graphs[min(graphs)]
        if config.missing_ranks == "error":
            raise WorkloadError(
                f"{path}: {counted(len(graphs), 'file')} for the platform's {ranks} ranks; missing is that of rank "
                f"{missing[0]}; allowed: one file a rank, or workload.missing_ranks = 'same'"
            )
        every |= {rank: model.of_rank(rank) for rank in missing}
        who = "1 rank has no file and does" if len(missing) == 1 else f"{len(missing)} ranks have no file and do"
        notes.append(f"{who} the same as rank {model.rank} ({model.path})")
    trace = joined([every[rank] for rank in range(ranks)], ranks)
    if config.iterations > 1:
        notes.append(f"the nodes of the files are done {config.iterations} times, an iteration each")
        trace = repeated(trace, config.iterations)
    return Job(scaled(trace, compute=config.compute_scale, comm=config.comm_scale), tuple(notes))
