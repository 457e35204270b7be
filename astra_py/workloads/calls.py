# SPDX-License-Identifier: GPL-2.0-only
"""One collective as a workload declares it: what is exchanged, among whom, before any algorithm is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.flows import FlowList

__all__ = ["CALL_KINDS", "COLLECTIVE_KINDS", "FLOWS", "MAX_PRIORITY", "MOST_BYTES", "CollectiveCall", "Payload"]

#: Every collective a workload can name, in the words of nccl-tests.
COLLECTIVE_KINDS = (
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "all_to_all_v",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "barrier",
    "sendrecv",
)

#: The kind of a call that has a :class:`~astra_py.workloads.FlowList` and no collective: no algorithm is chosen for it.
FLOWS = "flows"

#: Every kind of call.
CALL_KINDS = (*COLLECTIVE_KINDS, FLOWS)

#: What a call exchanges: a size in bytes, a byte matrix, or flows.
Payload = int | NDArray[np.int64] | FlowList

#: Priorities are 0 to 6, larger first; a NIC's eighth class is its own, for acknowledgements.
MAX_PRIORITY = 6

MAX_INT64 = 2**63 - 1

#: Most bytes of a rank's buffer in one collective, 1 PiB: what 1,000 ranks send in it still fits a 64-bit count.
MOST_BYTES = 2**50


@dataclass(frozen=True, kw_only=True, eq=False)
class CollectiveCall:
    """One collective operation of a group of ranks, or a list of flows among them.

    Attributes
    ----------
    name : what tables call it.
    kind : one of :data:`CALL_KINDS`.
    group : the member ranks in group order; position = group coordinate. The first one is the root of broadcast,
        reduce, gather and scatter, and the sender of sendrecv.
    size_bytes : each rank's buffer, at most :data:`MOST_BYTES`; the *whole array* for all_gather, reduce_scatter,
        gather and scatter. None for all_to_all_v and flows; a barrier has no bytes, 0 or None.
    matrix : i64[n, n] in bytes, row = sender, for all_to_all_v only; kept read-only. The diagonal never travels. Each
        row and column has at most :data:`MOST_BYTES` together.
    flows : the flows in group coordinates, for flows only. Each starts its ``start_ps`` after its sender does its part.
    dtype : element type, a label; sizes are in bytes.
    priority : 0 to 6, larger first.
    algorithm : overrides the run's choice for ``kind``, or None; flows have none.
    iteration : training iteration, a label.
    source : where it was declared, such as ``"model.txt, line 3"``; error messages begin with it.

    Raises
    ------
    WorkloadError : a value is not allowed, or size and kind do not fit.
    """

    name: str
    kind: str
    group: tuple[int, ...]
    size_bytes: int | None = None
    matrix: NDArray[np.int64] | None = field(default=None, repr=False)
    flows: FlowList | None = None
    dtype: str = ""
    priority: int = 0
    algorithm: str | None = None
    iteration: int = 0
    source: str = ""

    def __post_init__(self) -> None:
        if self.kind not in CALL_KINDS:
            raise self.error(f"unknown collective kind {self.kind!r}; known are {', '.join(CALL_KINDS)}")
        if not self.group or len(set(self.group)) != len(self.group) or min(self.group) < 0:
            raise self.error(f"a group is one or more different ranks, not {self.group}")
        if not 0 <= self.priority <= MAX_PRIORITY:
            raise self.error(f"priority {self.priority} is outside 0 to {MAX_PRIORITY}")
        if self.kind == "sendrecv" and len(self.group) != 2:
            raise self.error(f"sendrecv has a sender and a receiver, not {len(self.group)} ranks")
        if self.flows is not None and self.kind != FLOWS:
            raise self.error(f"{self.kind} takes no flows")
        if self.kind == FLOWS:
            self._check_flows()
        elif self.kind == "all_to_all_v":
            if self.size_bytes is not None or self.matrix is None:
                raise self.error("all_to_all_v takes a byte matrix and no size")
            object.__setattr__(self, "matrix", self._checked_matrix(self.matrix))
        else:
            if self.kind == "barrier" and self.matrix is None and self.size_bytes is None:
                object.__setattr__(self, "size_bytes", 0)
            if self.matrix is not None or self.size_bytes is None:
                raise self.error(f"{self.kind} takes a size and no byte matrix")
            if isinstance(self.size_bytes, bool) or not isinstance(self.size_bytes, int | np.integer):
                raise self.error(f"size_bytes = {self.size_bytes!r} is not a whole number of bytes")
            object.__setattr__(self, "size_bytes", int(self.size_bytes))
            if not 0 <= self.size_bytes <= MOST_BYTES:
                raise self.error(f"size_bytes = {self.size_bytes} is outside 0 to 2^50 (1 PiB)")
            if self.kind == "barrier" and self.size_bytes:
                raise self.error(f"a barrier has no bytes, not {self.size_bytes}")

    @property
    def payload(self) -> Payload:
        """The size in bytes, the byte matrix, or the flows: whichever the kind has."""
        if self.flows is not None:
            return self.flows
        if self.matrix is not None:
            return self.matrix
        assert self.size_bytes is not None
        return self.size_bytes

    @property
    def buffer_bytes(self) -> int:
        """Bytes in the buffers of all members together; of flows, what they carry."""
        if self.flows is not None:
            return self.flows.total_bytes
        return len(self.group) * (self.size_bytes or 0) if self.matrix is None else int(self.matrix.sum())

    def error(self, what: str) -> WorkloadError:
        """Make a WorkloadError that says where this call comes from and what it is called."""
        where = f"{self.source}: " if self.source else ""
        return WorkloadError(f"{where}collective {self.name!r}: {what}")

    def _check_flows(self) -> None:
        if self.flows is None or self.size_bytes is not None or self.matrix is not None:
            raise self.error("flows take a FlowList, and neither a size nor a byte matrix")
        if self.algorithm is not None:
            raise self.error(f"flows have no algorithm, not {self.algorithm!r}")
        if len(self.flows) and int(self.flows.ranks[-1]) >= len(self.group):
            raise self.error(f"a flow is of member {self.flows.ranks[-1]}, and its group has {len(self.group)}")

    def _checked_matrix(self, matrix: NDArray[np.int64]) -> NDArray[np.int64]:
        n = len(self.group)
        given = np.asarray(matrix)
        if given.shape != (n, n):
            raise self.error(f"the byte matrix of {n} ranks has shape ({n}, {n}), not {given.shape}")
        if not np.issubdtype(given.dtype, np.integer):
            raise self.error(f"the byte matrix holds integers, not {given.dtype}")
        if given.size and int(given.max()) > MOST_BYTES:
            raise self.error(f"an entry of the byte matrix is {int(given.max())} and above 2^50 (1 PiB)")
        # what nobody can change any more is shared, not copied: large jobs have few matrices in many calls
        is_frozen = given.base is None and not given.flags.writeable and given.dtype == np.int64
        checked = given if is_frozen else np.array(given, dtype=np.int64)
        if checked.size and int(checked.min()) < 0:
            src, dst = (int(i) for i in np.argwhere(checked < 0)[0])
            raise self.error(f"the byte matrix sends {int(checked[src, dst])} bytes from member {src} to member {dst}")
        # as floats the sums cannot overflow, and this near the limit they are exact enough
        largest = max(float(checked.sum(axis=axis, dtype=np.float64).max()) for axis in (0, 1))
        if largest > MOST_BYTES:
            raise self.error(f"a row or column of the byte matrix has {largest:.0f} bytes together, above 2^50 (1 PiB)")
        checked.flags.writeable = False
        return checked
