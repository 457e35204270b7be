# SPDX-License-Identifier: GPL-2.0-only
"""What a PyTorch execution trace makes one rank do, and in which order.

The trace has the host's operators in order of execution. What waits for what on the accelerator is not in it; it
follows from how PyTorch issues work:

- **Compute** of all threads goes to one stream, in order of execution: a backward pass runs on the stream of its
  forward pass. Each operator with a time is a node that waits for the one before. Where there are kernels with times,
  as Chakra's linker puts them there, they are the compute; operators then are the host's work, in a stream of its own,
  and a kernel waits for the operators before it. What has no time makes no node.
- A **collective** waits for the compute issued before it, and for the collective before it in its group: a communicator
  has one stream. Compute goes on beside it. A message waits for compute alone.
- A ``wait`` makes all later compute and collectives wait for its collective (the host goes on). So does the first
  operator that reads a tensor into which a collective writes, by the tensor's storage, unless something else has been
  written there since; some versions of PyTorch record no ``wait``. A barrier holds up all that follows.
- What is recorded *within* another collective, such as a barrier's all-reduce, is part of it and is left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from astra_py.formats.execution_trace_comms import Communication, ProcessGroups, communication, exchange
from astra_py.formats.execution_trace_nodes import EtNode, tensors_of
from astra_py.formats.rank_graph import Exchange, Group, RankGraph
from astra_py.workloads import NodeKind

__all__ = ["EtGraph", "execution_trace_graph"]

_PS_PER_US = 10**6

_COMMS = "record_param_comms"

_COMPUTE, _HOST = 0, 1
_STREAMS = ("compute", "cpu")


@dataclass(frozen=True, kw_only=True)
class EtGraph:
    """One file, understood as far as it can be without the platform.

    Attributes
    ----------
    graph : its nodes.
    operators, timed : operators in the file, and nodes of it that have a time.
    ignored : what was not taken, by what it is to how often it comes.
    """

    graph: RankGraph
    operators: int
    timed: int
    ignored: Counter[str]


def execution_trace_graph(path: Path, nodes: list[EtNode], rank: int) -> EtGraph:
    """Understand one rank's nodes.

    Parameters
    ----------
    path : the file.
    nodes : in order of execution.
    rank : whose they are.

    Raises
    ------
    WorkloadError : a collective is not understood, with file and node.
    """
    builder = _Builder(path, nodes, rank)
    for node in nodes:
        builder.add(node)
    return builder.made()


class _Builder:
    """The graph while nodes are issued.

    ``ahead[s]`` is what the next node of stream s waits for. A node that waits for another one stands for it there.
    """

    def __init__(self, path: Path, nodes: list[EtNode], rank: int) -> None:
        self.path = path
        self.rank = rank
        self.groups = ProcessGroups(nodes)
        self.has_kernels = any(node.category for node in nodes)
        self.id: list[int] = []
        self.kind: list[NodeKind] = []
        self.names: dict[str, int] = {}
        self.name: list[int] = []
        self.duration_ps: list[int] = []
        self.stream: list[int] = []
        self.deps: list[tuple[int, ...]] = []
        self.exchanges: list[Exchange] = []
        self.ahead: tuple[set[int], set[int]] = (set(), set())
        self.last_of_group: dict[Group, int] = {}
        self.by_sequence: dict[str, int] = {}
        self.written: dict[int, int] = {}
        self.within: set[int] = set()
        self.operators = self.timed = 0
        self.ignored: Counter[str] = Counter()
        if self.groups.is_broken:
            self.ignored["a list of process groups that is cut off"] += 1

    def add(self, node: EtNode) -> None:
        """Issue one node."""
        if node.parent in self.within:
            self.within.add(node.id)
            if node.name == _COMMS:
                self.ignored["collectives within another one"] += 1
            return
        if node.name == _COMMS:
            self.within.add(node.id)
            self._communicate(communication(node))
            return
        if node.is_operator:
            self.operators += 1
            self._follow_tensors(node)
        if node.duration_us:
            self._compute(node)

    def _compute(self, node: EtNode) -> None:
        if node.category and "nccl" in node.name.lower():
            self.ignored["kernels of collectives: what they take is simulated"] += 1
            return
        self.timed += 1
        stream = _HOST if self.has_kernels and not node.category else _COMPUTE
        after = self.ahead[_HOST] | (set() if stream == _HOST else self.ahead[_COMPUTE])
        row = self._append(node, NodeKind.COMPUTE, after, stream, round((node.duration_us or 0) * _PS_PER_US))
        self.ahead[stream].clear()
        self.ahead[stream].add(row)

    def _follow_tensors(self, node: EtNode) -> None:
        """What reads a collective's result waits for it; what writes over it ends that."""
        if not self.written:
            return
        for tensor in tensors_of(node.inputs):
            if (row := self.written.pop(tensor.storage or tensor.id, None)) is not None:
                self._wait(row)
        for tensor in tensors_of(node.outputs):
            self.written.pop(tensor.storage or tensor.id, None)

    def _communicate(self, said: Communication) -> None:
        if said.name == "init":
            self.ignored["set-ups of process groups"] += 1
        elif said.name == "wait":
            if said.sequence in self.by_sequence:
                self._wait(self.by_sequence[said.sequence])
            else:
                self.ignored["waits for what began before the trace"] += 1
        else:
            self._exchange(said)

    def _exchange(self, said: Communication) -> None:
        for tensor in tensors_of(said.node.inputs):
            if (row := self.written.get(tensor.storage or tensor.id)) is not None:
                self._wait(row)
        row = len(self.id)
        part = exchange(said, self.groups, row)
        after = self.ahead[_COMPUTE] | self.ahead[_HOST]
        if part.kind != "sendrecv":
            if part.group in self.last_of_group:
                after.add(self.last_of_group[part.group])
            self.last_of_group[part.group] = row
        self._append(said.node, NodeKind.COLLECTIVE, after, -1, 0, name=said.name)
        self.exchanges.append(part)
        self.by_sequence[said.sequence] = row
        for tensor in tensors_of(said.node.outputs):
            self.written[tensor.storage or tensor.id] = row
        if part.kind == "barrier":
            for ahead in self.ahead:
                ahead.clear()
                ahead.add(row)

    def _wait(self, row: int) -> None:
        ahead = self.ahead[_COMPUTE]
        ahead.difference_update(self.deps[row])
        ahead.add(row)

    def _append(
        self, node: EtNode, kind: NodeKind, after: set[int], stream: int, duration_ps: int, name: str = ""
    ) -> int:
        self.id.append(node.id)
        self.kind.append(kind)
        self.name.append(self.names.setdefault(name or node.name, len(self.names)))
        self.duration_ps.append(duration_ps)
        self.stream.append(stream)
        self.deps.append(tuple(sorted(after)))
        return len(self.id) - 1

    def made(self) -> EtGraph:
        """The graph of all that was issued."""
        dep_ptr = np.zeros(len(self.id) + 1, dtype=np.int64)
        np.cumsum([len(rows) for rows in self.deps], out=dep_ptr[1:])
        count = len(self.id)
        graph = RankGraph(
            path=self.path,
            rank=self.rank,
            id=np.array(self.id, dtype=np.uint64),
            kind=np.array(self.kind, dtype=np.uint8),
            name=np.array(self.name, dtype=np.int32),
            names=tuple(self.names),
            duration_ps=np.array(self.duration_ps, dtype=np.int64),
            iteration=np.zeros(count, dtype=np.int32),
            phase=np.zeros(count, dtype=np.int32),
            phases=("",),
            stream=np.array(self.stream, dtype=np.int32),
            streams=_STREAMS,
            dep_ptr=dep_ptr,
            dep_row=np.array([row for rows in self.deps for row in rows], dtype=np.int64),
            exchanges=tuple(self.exchanges),
        )
        return EtGraph(graph=graph, operators=self.operators, timed=self.timed, ignored=self.ignored)
