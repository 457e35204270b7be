# SPDX-License-Identifier: GPL-2.0-only
"""Builds a Trace for many ranks at once: a call adds one node for each of its ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.calls import CollectiveCall
from astra_py.workloads.trace import NodeKind, Trace

__all__ = ["After", "TraceBuilder"]

Ids = NDArray[np.int64]

#: Predecessors of a batch of nodes: none, one array (element i is node i's predecessor, -1 for none), or several such.
After = Ids | Sequence[Ids | None] | None


_COLUMNS = ("kind", "rank", "name", "duration_ps", "call", "iteration", "phase", "stream")
_NONE: Ids = np.empty(0, dtype=np.int64)


@dataclass
class _Labels:
    """Names in order of first use."""

    index: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, label: str) -> int:
        return self.index.setdefault(label, len(self.index))


class TraceBuilder:
    """Collects nodes, for many ranks a call, into a :class:`Trace`.

    Each method adds one node per rank and returns their numbers, i64[len(ranks)], in the order of ``ranks``. ``after``
    names what those nodes wait for: None, an array with one node number per rank (-1: none), or a list of such arrays.

    Parameters
    ----------
    ranks : number of ranks of the job.

    Examples
    --------
    >>> build = TraceBuilder(2)
    >>> forward = build.compute([0, 1], 5_000_000, name="forward")
    >>> call = CollectiveCall(name="gradients", kind="all_reduce", group=(0, 1), size_bytes=1024)
    >>> done = build.collective(call, after=forward)
    >>> len(build.build())
    4
    """

    def __init__(self, ranks: int) -> None:
        if ranks < 1:
            raise WorkloadError(f"a trace has at least one rank, not {ranks}")
        self.ranks = ranks
        self._count = 0
        self._names = _Labels()
        self._phases = _Labels()
        self._streams = _Labels()
        self._calls: list[CollectiveCall] = []
        self._columns: dict[str, list[Ids]] = {column: [] for column in _COLUMNS}
        self._dep_counts: list[Ids] = []
        self._dep_nodes: list[Ids] = []

    def compute(
        self,
        ranks: ArrayLike,
        duration_ps: ArrayLike,
        *,
        name: str,
        after: After = None,
        iteration: int = 0,
        phase: str = "",
        stream: str = "compute",
    ) -> Ids:
        """Add a compute of ``duration_ps`` (one, or one per rank) to each of ``ranks``; a stream runs one at a time."""
        return self._add(NodeKind.COMPUTE, ranks, duration_ps, name, after, iteration, phase, self._streams[stream])

    def memory(
        self,
        ranks: ArrayLike,
        duration_ps: ArrayLike,
        *,
        name: str,
        after: After = None,
        iteration: int = 0,
        phase: str = "",
    ) -> Ids:
        """Add memory work of ``duration_ps`` to each of ``ranks``; it holds no stream, so it overlaps with compute."""
        return self._add(NodeKind.MEMORY, ranks, duration_ps, name, after, iteration, phase, -1)

    def collective(
        self, call: CollectiveCall, *, after: After = None, phase: str = "", stream: str | None = None
    ) -> Ids:
        """Add each member's part in ``call``, in group order.

        A rank's parts in one ``stream`` go one after another, in the order in which they are ready, as on a stream of
        its accelerator; without one they are under way together.
        """
        self._calls.append(call)
        number = -1 if stream is None else self._streams[stream]
        return self._add(
            NodeKind.COLLECTIVE, call.group, 0, call.name, after, call.iteration, phase, number, len(self._calls) - 1
        )

    def build(self) -> Trace:
        """Return the Trace of all that was added.

        Raises
        ------
        WorkloadError : a node or call is not allowed; see :class:`Trace`.
        """
        columns = {name: np.concatenate(parts) if parts else _NONE for name, parts in self._columns.items()}
        dep_ptr = np.zeros(self._count + 1, dtype=np.int64)
        if self._dep_counts:
            np.cumsum(np.concatenate(self._dep_counts), out=dep_ptr[1:])
        return Trace(
            ranks=self.ranks,
            kind=columns["kind"].astype(np.uint8),
            rank=columns["rank"].astype(np.int32),
            name=columns["name"].astype(np.int32),
            names=tuple(self._names.index),
            duration_ps=columns["duration_ps"],
            call=columns["call"].astype(np.int32),
            iteration=columns["iteration"].astype(np.int32),
            phase=columns["phase"].astype(np.int32),
            phases=tuple(self._phases.index),
            stream=columns["stream"].astype(np.int32),
            streams=tuple(self._streams.index),
            dep_ptr=dep_ptr,
            dep_node=np.concatenate(self._dep_nodes) if self._dep_nodes else _NONE,
            calls=tuple(self._calls),
        )

    def _add(
        self,
        kind: NodeKind,
        ranks: ArrayLike,
        duration_ps: ArrayLike,
        name: str,
        after: After,
        iteration: int,
        phase: str,
        stream: int,
        call: int = -1,
    ) -> Ids:
        rank = np.asarray(ranks, dtype=np.int64)
        if rank.ndim != 1:
            raise WorkloadError(f"{name!r}: ranks are a list, one node each, not an array of shape {rank.shape}")
        values = (kind, rank, self._names[name], duration_ps, call, iteration, self._phases[phase], stream)
        for column, value in zip(_COLUMNS, values, strict=True):
            self._columns[column].append(np.broadcast_to(np.asarray(value, dtype=np.int64), rank.shape))
        self._add_dependencies(name, len(rank), after)
        ids = np.arange(self._count, self._count + len(rank), dtype=np.int64)
        self._count += len(rank)
        return ids

    def _add_dependencies(self, name: str, count: int, after: After) -> None:
        given = [after] if after is None or isinstance(after, np.ndarray) else after
        arrays = [np.asarray(ids, dtype=np.int64) for ids in given if ids is not None]
        for ids in arrays:
            if ids.shape != (count,):
                raise WorkloadError(
                    f"{name!r}: {count} nodes wait for an array of shape {ids.shape}; one each is needed"
                )
            if count and not -1 <= int(ids.min()) <= int(ids.max()) < self._count:
                raise WorkloadError(f"{name!r}: waits for a node outside the {self._count} that were added before")
        nodes = np.stack(arrays, axis=1) if arrays else np.empty((count, 0), dtype=np.int64)
        self._dep_counts.append((nodes >= 0).sum(axis=1))
        self._dep_nodes.append(nodes[nodes >= 0])
