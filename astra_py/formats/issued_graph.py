# SPDX-License-Identifier: GPL-2.0-only
"""What one rank does, from the order in which its host issues work, as PyTorch does it.

- **Compute** goes to one stream, in order of issue; the host's own work, where it has times, to another one, and
  compute waits for the host's work before it.
- A **collective** waits for the work issued before it, and for the collective before it in its group: a communicator
  has one stream. Compute goes on beside it. A message waits for the work before it alone.
- A **wait** makes all later compute and exchanges wait for its collective; the host goes on. A barrier holds up all
  that follows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from astra_py.formats.rank_graph import Exchange, Group, RankGraph
from astra_py.workloads import NodeKind

__all__ = ["IssuedGraph"]

_COMPUTE, _HOST = 0, 1
_STREAMS = ("compute", "cpu")


class IssuedGraph:
    """A :class:`RankGraph` in the making.

    Parameters
    ----------
    path : the file that says what is issued.
    rank : whose it is.
    """

    def __init__(self, path: Path, rank: int) -> None:
        self._path = path
        self._rank = rank
        self._id: list[int] = []
        self._kind: list[NodeKind] = []
        self._names: dict[str, int] = {}
        self._name: list[int] = []
        self._duration_ps: list[int] = []
        self._stream: list[int] = []
        self._deps: list[tuple[int, ...]] = []
        self._exchanges: list[Exchange] = []
        # what the next node of each stream waits for; a node that waits for another one stands for it there
        self._ahead: tuple[set[int], set[int]] = (set(), set())
        self._last_of_group: dict[Group, int] = {}

    @property
    def next_row(self) -> int:
        """Row of the node that is issued next."""
        return len(self._id)

    def compute(self, id: int, name: str, duration_ps: int, *, is_host: bool = False) -> None:
        """Issue compute, or work of the host's."""
        stream = _HOST if is_host else _COMPUTE
        after = self._ahead[_HOST] | (set() if is_host else self._ahead[_COMPUTE])
        row = self._append(id, name, NodeKind.COMPUTE, after, stream, duration_ps)
        self._ahead[stream].clear()
        self._ahead[stream].add(row)

    def exchange(self, id: int, name: str, exchange: Exchange) -> None:
        """Issue a collective or an end of a message; its row is :attr:`next_row`."""
        row = self.next_row
        after = self._ahead[_COMPUTE] | self._ahead[_HOST]
        if exchange.kind != "sendrecv":
            if exchange.group in self._last_of_group:
                after.add(self._last_of_group[exchange.group])
            self._last_of_group[exchange.group] = row
        self._append(id, name, NodeKind.COLLECTIVE, after, -1, 0)
        self._exchanges.append(exchange)
        if exchange.kind == "barrier":
            for ahead in self._ahead:
                ahead.clear()
                ahead.add(row)

    def wait(self, row: int) -> None:
        """Let what is issued from now on wait for an exchange."""
        ahead = self._ahead[_COMPUTE]
        ahead.difference_update(self._deps[row])
        ahead.add(row)

    def _append(self, id: int, name: str, kind: NodeKind, after: set[int], stream: int, duration_ps: int) -> int:
        self._id.append(id)
        self._kind.append(kind)
        self._name.append(self._names.setdefault(name, len(self._names)))
        self._duration_ps.append(duration_ps)
        self._stream.append(stream)
        self._deps.append(tuple(sorted(after)))
        return len(self._id) - 1

    def made(self) -> RankGraph:
        """The graph of all that was issued."""
        count = len(self._id)
        dep_ptr = np.zeros(count + 1, dtype=np.int64)
        np.cumsum([len(rows) for rows in self._deps], out=dep_ptr[1:])
        return RankGraph(
            path=self._path,
            rank=self._rank,
            id=np.array(self._id, dtype=np.uint64),
            kind=np.array(self._kind, dtype=np.uint8),
            name=np.array(self._name, dtype=np.int32),
            names=tuple(self._names),
            duration_ps=np.array(self._duration_ps, dtype=np.int64),
            iteration=np.zeros(count, dtype=np.int32),
            phase=np.zeros(count, dtype=np.int32),
            phases=("",),
            stream=np.array(self._stream, dtype=np.int32),
            streams=_STREAMS,
            dep_ptr=dep_ptr,
            dep_row=np.array([row for rows in self._deps for row in rows], dtype=np.int64),
            exchanges=tuple(self._exchanges),
        )
