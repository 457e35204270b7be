# SPDX-License-Identifier: GPL-2.0-only
"""What a PyTorch execution trace makes one rank do, and in which order.

The trace has the host's operators in order of execution. What waits for what on the accelerator is not in it; it
follows from how PyTorch issues work, as :mod:`astra_py.formats.issued_graph` has it:

- Compute of all threads goes to one stream: a backward pass runs on the stream of its forward pass. Each operator with
  a time is a node. Where there are kernels with times, as Chakra's linker puts them there, they are the compute, and
  operators are the host's work. What has no time makes no node.
- As a ``wait`` does, the first operator that reads a tensor into which a collective writes waits for it, by the
  tensor's storage, unless something else has been written there since; some versions of PyTorch record no ``wait``.
- What is recorded *within* another collective, such as a barrier's all-reduce, is part of it and is left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from astra_py.formats.execution_trace_comms import Communication, ProcessGroups, communication, exchange
from astra_py.formats.execution_trace_nodes import EtNode, tensors_of
from astra_py.formats.issued_graph import IssuedGraph
from astra_py.formats.rank_graph import RankGraph

__all__ = ["EtGraph", "execution_trace_graph"]

_PS_PER_US = 10**6

_COMMS = "record_param_comms"


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
    """The graph while nodes are gone through."""

    def __init__(self, path: Path, nodes: list[EtNode], rank: int) -> None:
        self.issued = IssuedGraph(path, rank)
        self.groups = ProcessGroups(nodes)
        self.has_kernels = any(node.category for node in nodes)
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
        is_host = self.has_kernels and not node.category
        self.issued.compute(node.id, node.name, round((node.duration_us or 0) * _PS_PER_US), is_host=is_host)

    def _follow_tensors(self, node: EtNode) -> None:
        """What reads a collective's result waits for it; what writes over it ends that."""
        if not self.written:
            return
        for tensor in tensors_of(node.inputs):
            if (row := self.written.pop(tensor.storage or tensor.id, None)) is not None:
                self.issued.wait(row)
        for tensor in tensors_of(node.outputs):
            self.written.pop(tensor.storage or tensor.id, None)

    def _communicate(self, said: Communication) -> None:
        if said.name == "init":
            self.ignored["set-ups of process groups"] += 1
        elif said.name == "wait":
            if said.sequence in self.by_sequence:
                self.issued.wait(self.by_sequence[said.sequence])
            else:
                self.ignored["waits for what began before the trace"] += 1
        else:
            self._exchange(said)

    def _exchange(self, said: Communication) -> None:
        node = said.node
        for tensor in tensors_of(node.inputs):
            if (row := self.written.get(tensor.storage or tensor.id)) is not None:
                self.issued.wait(row)
        row = self.issued.next_row
        self.issued.exchange(node.id, said.name, exchange(said, self.groups, row))
        self.by_sequence[said.sequence] = row
        for tensor in tensors_of(node.outputs):
            self.written[tensor.storage or tensor.id] = row

    def made(self) -> EtGraph:
        """The graph of all nodes."""
        return EtGraph(graph=self.issued.made(), operators=self.operators, timed=self.timed, ignored=self.ignored)
