# SPDX-License-Identifier: GPL-2.0-only
"""Flow lists: transfers that start when they are told to, whatever else goes on.

A collective is a graph of messages that wait for one another; a flow list has none of that. It is what flow files of
network simulators hold, and what background traffic is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from astra_py.errors import WorkloadError

__all__ = ["LATEST_START_PS", "FlowList"]

#: Latest start of a flow, 10^18 ps: 11.6 days, of the 13 that simulated time lasts.
LATEST_START_PS = 10**18
#: Most bytes of one flow, 1 PiB, as of a rank's buffer in a collective.
_MOST_BYTES = 2**50


@dataclass(frozen=True, eq=False, init=False)
class FlowList:
    """Flows, one row each, in an order that decides between those that start at a rank at the same time.

    Parameters
    ----------
    src, dst : i32[f], sender and receiver, different; ranks of a job, or members of a group where a call has the list.
    size_bytes : i64[f], payload, 0 to 2^50 (1 PiB) each.
    start_ps : i64[f], when each starts after the list does, 0 to :data:`LATEST_START_PS`.
    source : where the flows come from, such as ``"flows.txt"``; error messages begin with it.

    Raises
    ------
    WorkloadError : columns of different lengths or without whole numbers, or a row that is not allowed.

    Notes
    -----
    The columns are kept read-only.

    Examples
    --------
    >>> flows = FlowList(src=[1, 2], dst=[0, 0], size_bytes=[4096, 8192], start_ps=[0, 1_000_000])
    >>> len(flows), flows.total_bytes
    (2, 12288)
    """

    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    size_bytes: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    source: str = ""

    def __init__(
        self, src: ArrayLike, dst: ArrayLike, size_bytes: ArrayLike, start_ps: ArrayLike, source: str = ""
    ) -> None:
        object.__setattr__(self, "source", source)
        given = {"src": src, "dst": dst, "size_bytes": size_bytes, "start_ps": start_ps}
        columns = {name: self._whole(name, column) for name, column in given.items()}
        if len({column.shape for column in columns.values()}) != 1 or columns["src"].ndim != 1:
            shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
            raise self.error(f"the columns of a flow list have one row a flow each, not {shapes}")
        self._require(columns["src"] >= 0, columns, "its sender is negative")
        self._require(columns["dst"] >= 0, columns, "its receiver is negative")
        for name in ("src", "dst"):
            self._require(columns[name] < 2**31, columns, "its ends leave 32 bits")
        self._require(columns["src"] != columns["dst"], columns, "it goes to its own sender")
        sizes, starts = columns["size_bytes"], columns["start_ps"]
        self._require((sizes >= 0) & (sizes <= _MOST_BYTES), columns, "its size is outside 0 to 2^50 B (1 PiB)")
        self._require((starts >= 0) & (starts <= LATEST_START_PS), columns, "its start is outside 0 to 10^18 ps")
        for name, column in columns.items():
            kept = column.astype(np.int32 if name in ("src", "dst") else np.int64)
            kept.flags.writeable = False
            object.__setattr__(self, name, kept)

    def __len__(self) -> int:
        return len(self.src)

    def __repr__(self) -> str:
        return f"<FlowList of {len(self):,} flows, {self.total_bytes:,} B>"

    @property
    def total_bytes(self) -> int:
        """Payload of all flows together; Python's own integer, which cannot overflow."""
        high, low = np.divmod(self.size_bytes, 2**32)
        return int(high.sum()) * 2**32 + int(low.sum())

    @property
    def ranks(self) -> NDArray[np.int32]:
        """Those that send or receive, ascending."""
        return np.unique(np.concatenate([self.src, self.dst])).astype(np.int32)

    def tobytes(self) -> bytes:
        """The columns as bytes, by which equal lists are known."""
        return b"".join(column.tobytes() for column in (self.src, self.dst, self.size_bytes, self.start_ps))

    def between(self, ranks: NDArray[np.int32]) -> FlowList:
        """The same flows with ``ranks`` in place of the numbers: number ``i`` becomes ``ranks[i]``; i32[n].

        Raises
        ------
        WorkloadError : a flow is of a number from n on.
        """
        for column in (self.src, self.dst):
            self._require(column < len(ranks), self._columns, f"there are ranks 0 to {len(ranks) - 1}")
        return FlowList(ranks[self.src], ranks[self.dst], self.size_bytes, self.start_ps, self.source)

    def compact(self) -> tuple[tuple[int, ...], FlowList]:
        """The ranks that take part, ascending, and the same flows in coordinates of that group."""
        ranks = self.ranks
        src, dst = (np.searchsorted(ranks, column) for column in (self.src, self.dst))
        return tuple(ranks.tolist()), FlowList(src, dst, self.size_bytes, self.start_ps, self.source)

    def scaled(self, size_bytes: NDArray[np.int64]) -> FlowList:
        """The same flows with other sizes; i64[f]."""
        return FlowList(self.src, self.dst, size_bytes, self.start_ps, self.source)

    def later(self, delay_ps: int) -> FlowList:
        """The same flows, each ``delay_ps`` later."""
        return FlowList(self.src, self.dst, self.size_bytes, self.start_ps + delay_ps, self.source)

    def error(self, what: str) -> WorkloadError:
        """Make a WorkloadError that says where this list comes from."""
        return WorkloadError(f"{self.source}: {what}" if self.source else what)

    @property
    def _columns(self) -> dict[str, NDArray[np.int64]]:
        return {name: getattr(self, name) for name in ("src", "dst", "size_bytes", "start_ps")}

    def _whole(self, name: str, given: ArrayLike) -> NDArray[np.int64]:
        column = np.asarray(given)
        if column.size == 0 and not np.issubdtype(column.dtype, np.integer):
            column = column.astype(np.int64)
        if not np.issubdtype(column.dtype, np.integer):
            raise self.error(f"column {name} of a flow list holds whole numbers, not {column.dtype}")
        if column.size and int(column.max()) > np.iinfo(np.int64).max:
            raise self.error(f"column {name} of a flow list has {int(column.max())}, above 2^63 - 1")
        return column.astype(np.int64)

    def _require(self, holds: NDArray[np.bool_], columns: dict[str, NDArray[np.int64]], what: str) -> None:
        if not holds.all():
            i = int(np.argmin(holds))
            src, dst, size, start = (int(columns[name][i]) for name in ("src", "dst", "size_bytes", "start_ps"))
            raise self.error(f"flow {i}, {src} to {dst}, {size} B from {start} ps: {what}")
