# SPDX-License-Identifier: GPL-2.0-only
"""What every rank does: a graph of computes, collectives and memory work, as plain columns.

Every workload, generated or read from a file, ends as a :class:`Trace` and nothing else. It says what is exchanged and
what waits for what; how a collective is done, and what that costs, is decided below it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.calls import CollectiveCall

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NodeKind", "PlacedJob", "Trace"]

#: Most bytes of all ranks' buffers in all collectives of a trace: what they send, summed over the links that it
#: crosses, still fits a 64-bit count.
_MOST_TRACE_BYTES = 2**58


class NodeKind(IntEnum):
    """What a node of a trace is."""

    COMPUTE = 0
    COLLECTIVE = 1
    MEMORY = 2


@dataclass(frozen=True)
class PlacedJob:
    """One of several jobs that share a network.

    Attributes
    ----------
    name : what tables call it; names of its nodes and calls begin with it.
    ranks : the platform's ranks that it runs on; its own rank ``i`` is ``ranks[i]``.
    start_ps : when it starts.
    """

    name: str
    ranks: tuple[int, ...]
    start_ps: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """What every rank does. One row a node; nodes are in an order where every dependency precedes its dependant.

    Attributes
    ----------
    ranks : number of ranks of the job.
    kind : u8[m], :class:`NodeKind`.
    rank : i32[m], the owner.
    name, names : i32[m] and the names it indexes.
    duration_ps : i64[m], time of a compute or memory node; 0 for a collective.
    call : i32[m], index into ``calls`` for a collective node, -1 else. A call has one node per member rank: that rank's
        participation, which starts when the node's dependencies are done and ends when that rank's part is.
    iteration : i32[m], training iteration.
    phase, phases : i32[m] and the labels it indexes, such as ``"forward"``.
    stream, streams : i32[m] and the names it indexes; a rank runs one node of a stream at a time. -1 for none.
    dep_ptr, dep_node : i64[m + 1], i64[k]; node ``i`` starts when ``dep_node[dep_ptr[i]:dep_ptr[i + 1]]`` are done. A
        node waits for nodes of its own rank only: what crosses ranks is a collective.
    calls : the collectives.
    jobs : the jobs that share the network; empty where there is one, which has no name.
    job : i32[m], index into ``jobs``; empty where there are none.

    Raises
    ------
    WorkloadError : the columns contradict one another; the message names the node.
    """

    ranks: int
    kind: NDArray[np.uint8]
    rank: NDArray[np.int32]
    name: NDArray[np.int32]
    names: tuple[str, ...]
    duration_ps: NDArray[np.int64]
    call: NDArray[np.int32]
    iteration: NDArray[np.int32]
    phase: NDArray[np.int32]
    phases: tuple[str, ...]
    stream: NDArray[np.int32]
    streams: tuple[str, ...]
    dep_ptr: NDArray[np.int64]
    dep_node: NDArray[np.int64]
    calls: tuple[CollectiveCall, ...]
    jobs: tuple[PlacedJob, ...] = ()
    job: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def __post_init__(self) -> None:
        self._check_columns()
        self._check_dependencies()
        self._check_calls()

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def iterations(self) -> int:
        """Number of training iterations."""
        return int(self.iteration.max()) + 1 if len(self) else 0

    @property
    def is_collective(self) -> NDArray[np.bool_]:
        """bool[m]: the nodes that take part in a collective; those of flows are none."""
        is_one = np.array([call.flows is None for call in self.calls] + [False], dtype=np.bool_)
        taking_part: NDArray[np.bool_] = is_one[self.call]
        return taking_part

    @property
    def is_of_flows(self) -> NDArray[np.bool_]:
        """bool[m]: the nodes that are a rank's part in a list of flows."""
        return np.equal(self.kind, NodeKind.COLLECTIVE) & ~self.is_collective

    @property
    def job_of_call(self) -> NDArray[np.int32]:
        """i32[calls]: the job of each call, by its nodes; zeros where there are no jobs."""
        job = np.zeros(len(self.calls), dtype=np.int32)
        if self.jobs:
            nodes = np.flatnonzero(self.call >= 0)
            job[self.call[nodes]] = self.job[nodes]
        return job

    def compute_ps(self, phase: str | None = None) -> NDArray[np.int64]:
        """i64[ranks]: compute time of each rank in ps, over all iterations; of one phase where it is named.

        Raises
        ------
        WorkloadError : there is no such phase.
        """
        wanted = self.kind == NodeKind.COMPUTE
        if phase is not None:
            if phase not in self.phases:
                raise WorkloadError(f"the trace has no phase {phase!r}; it has {', '.join(self.phases)}")
            wanted = wanted & (self.phase == self.phases.index(phase))
        total = np.zeros(self.ranks, dtype=np.int64)
        np.add.at(total, self.rank[wanted], self.duration_ps[wanted])
        return total

    def to_pandas(self) -> pd.DataFrame:
        """One row per node: name, kind, rank, duration_ps, collective, iteration, phase, stream, after.

        ``after`` is the tuple of node numbers waited for; ``collective`` indexes ``calls``, -1 for none.
        """
        import pandas as pd

        after = np.split(self.dep_node, self.dep_ptr[1:-1]) if len(self) else []
        return pd.DataFrame(
            {
                "name": [self.names[i] for i in self.name],
                "kind": [NodeKind(k).name.lower() for k in self.kind],
                "rank": self.rank,
                "duration_ps": self.duration_ps,
                "collective": self.call,
                "iteration": self.iteration,
                "phase": [self.phases[i] for i in self.phase],
                "stream": [self.streams[i] if i >= 0 else "" for i in self.stream],
                "after": [tuple(int(i) for i in nodes) for nodes in after],
            }
        )

    def _require(self, holds: NDArray[np.bool_], what: str) -> None:
        """Raise for the first node for which ``holds`` is false."""
        if not holds.all():
            node = int(np.argmin(holds))
            raise WorkloadError(f"trace node {node} ({self.names[self.name[node]]!r}, rank {self.rank[node]}): {what}")

    def _check_columns(self) -> None:
        columns = ["rank", "name", "duration_ps", "call", "iteration", "phase", "stream"]
        columns += ["job"] if self.jobs else []
        for column in columns:
            if len(getattr(self, column)) != len(self):
                raise WorkloadError(
                    f"trace column {column} has {len(getattr(self, column))} rows, kind has {len(self)}"
                )
        if len(self.name) and not 0 <= int(self.name.min()) <= int(self.name.max()) < len(self.names):
            raise WorkloadError(f"trace column name indexes {len(self.names)} names and leaves that range")
        self._require(self.kind <= max(NodeKind), "unknown kind")
        self._require((self.rank >= 0) & (self.rank < self.ranks), f"its rank is outside 0 to {self.ranks - 1}")
        self._require(self.duration_ps >= 0, "its duration is negative")
        self._require(self.iteration >= 0, "its iteration is negative")
        self._require((self.phase >= 0) & (self.phase < len(self.phases)), "its phase has no label")
        self._require((self.stream >= -1) & (self.stream < len(self.streams)), "its stream has no name")
        if self.jobs:
            self._require((self.job >= 0) & (self.job < len(self.jobs)), f"its job is none of the {len(self.jobs)}")
        elif len(self.job):
            raise WorkloadError("trace column job has rows, and the trace has no jobs")
        is_collective = self.kind == NodeKind.COLLECTIVE
        self._require(is_collective == (self.call >= 0), "a collective node, and no other, refers to a call")
        self._require(self.call < len(self.calls), f"its call is outside the {len(self.calls)} calls")
        self._require(~is_collective | (self.duration_ps == 0), "a collective's time is not given, it is simulated")

    def _check_dependencies(self) -> None:
        waits = np.diff(self.dep_ptr)
        if len(self.dep_ptr) != len(self) + 1 or self.dep_ptr[0] != 0 or self.dep_ptr[-1] != len(self.dep_node):
            raise WorkloadError("trace column dep_ptr does not frame dep_node")
        self._require(waits >= 0, "its dependencies have a negative count")
        node = np.repeat(np.arange(len(self)), waits)
        for holds, what in (
            ((self.dep_node >= 0) & (self.dep_node < node), "it waits for a node that does not precede it"),
            (self.rank[np.clip(self.dep_node, 0, None)] == self.rank[node], "it waits for a node of another rank"),
        ):
            if not holds.all():
                at = np.ones(len(self), dtype=np.bool_)
                at[node[~holds]] = False
                self._require(at, what)

    def _check_calls(self) -> None:
        nodes = np.flatnonzero(self.call >= 0)
        nodes = nodes[np.lexsort((self.rank[nodes], self.call[nodes]))]
        bounds = np.searchsorted(self.call[nodes], np.arange(len(self.calls) + 1))
        total = 0
        for index, call in enumerate(self.calls):
            total += call.buffer_bytes
            if total > _MOST_TRACE_BYTES:
                raise call.error(
                    f"with it the trace's collectives have {total} B in the buffers of all ranks together; "
                    "at most 2^58 B (256 PiB)"
                )
            if max(call.group) >= self.ranks:
                raise call.error(f"its group has rank {max(call.group)}, and the job has ranks 0 to {self.ranks - 1}")
            present = self.rank[nodes[bounds[index] : bounds[index + 1]]]
            if not np.array_equal(present, np.sort(call.group)):
                raise call.error(f"its group is {call.group}, and nodes of ranks {present.tolist()} take part")
