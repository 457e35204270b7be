# SPDX-License-Identifier: GPL-2.0-only
"""Which parts are in the accelerators' memory and which in the hosts': those looked up most for their size are nearest.

Without a host tier everything is in the accelerators. With one, what is looked up least for each byte of memory goes to
the hosts, until the rest fits. A part that is too large for an accelerator is in the hosts in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.sharders.bins import NoRoomError
from astra_py.workloads.dlrm.sharders.parts import Parts, Placement
from astra_py.workloads.dlrm.sharding import Sharding
from astra_py.workloads.dlrm.text import rounded_size

__all__ = ["Costs", "Placer", "place_in_tiers"]

#: Puts parts somewhere: of parts, their costs, and which are in the hosts' memory; raises NoRoomError.
Placer = Callable[[Parts, Sequence[int], NDArray[np.bool_]], Placement]

#: Gives the cost of each part, of which some (bool[parts]) are in the hosts' memory.
Costs = Callable[[NDArray[np.bool_]], Sequence[int]]

#: Shares of the accelerators' memory that are filled, tried one after another: parts never fill it to the last byte.
_FILLS = (1.0, 0.99, 0.97, 0.94, 0.9, 0.8, 0.7, 0.5, 0.25, 0.0)


def place_in_tiers(parts: Parts, costs: Costs, placer: Placer) -> Placement:
    """Place parts, as many in the accelerators' memory as fit.

    Parameters
    ----------
    parts : what is placed.
    costs : of each part, given which are in the hosts' memory.
    placer : where each goes.

    Raises
    ------
    WorkloadError : they do not fit; says why and what would help.
    """
    require_possible(parts)
    refused: NoRoomError | None = None
    for is_host in _choices(parts):
        try:
            return placer(parts, costs(is_host), is_host)
        except NoRoomError as error:
            refused = refused or error
    raise parts.model.error(f"{refused}; allowed are {what_helps(parts)}")


def require_possible(parts: Parts) -> None:
    """Refuse at once what cannot fit: a part that is too large for any memory, or all of them together.

    Raises
    ------
    WorkloadError : as said.
    """
    memory, model = parts.memory, parts.model
    room = memory.room_bytes(model)
    if room <= 0:
        raise model.error(f"{memory.has(model)}: nothing is left for tables; allowed is a smaller local batch or model")
    most = max(room, memory.host_bytes)
    largest = int(parts.rank_bytes.argmax())
    if parts.rank_bytes[largest] > most:
        raise model.error(
            f"{parts.name(largest)} needs {rounded_size(int(parts.rank_bytes[largest]))} of one rank's memory, and "
            f"{memory.has(model)}; allowed are {what_helps(parts, is_one=True)}"
        )
    everything = memory.ranks * room + memory.machine_count * memory.host_bytes
    total = sum(parts.all_bytes.tolist())
    if total > everything:
        a_rank = room + memory.host_bytes * memory.machine_count // memory.ranks
        needed = "" if parts.is_replicated.any() else f"at least {-(-total // a_rank):,} ranks, "
        raise model.error(
            f"{len(model.tables)} tables need {rounded_size(total)} of memory on {memory.ranks} ranks, and "
            f"{memory.has(model)}; allowed are {needed}{what_helps(parts)}"
        )


def what_helps(parts: Parts, *, is_one: bool = False) -> str:
    """Write what a user may change so that the tables fit, or the one that is too large for a rank."""
    memory, ways = parts.memory, {division.sharding for division in parts.divisions}
    helps = []
    if ways & {Sharding.TABLE_WISE, Sharding.COLUMN_WISE, Sharding.DATA_PARALLEL}:
        helps.append("tables divided by rows (workload.sharding = 'row_wise', or workload.sharder = 'planner')")
    if not memory.host_bytes:
        helps.append("a host tier (workload.host_memory, such as '1.5TB' a machine)")
    if not is_one or ways <= {Sharding.ROW_WISE}:
        helps.append("more ranks")
    return ", ".join((*helps, "smaller tables", "accelerators with more memory"))


def _choices(parts: Parts) -> Iterator[NDArray[np.bool_]]:
    """Yield which parts are in the hosts' memory, fewer first."""
    memory = parts.memory
    room = memory.room_bytes(parts.model)
    too_large = parts.rank_bytes > room
    if not memory.host_bytes:
        yield np.zeros(len(parts), dtype=np.bool_)
        return
    size = parts.all_bytes.astype(np.float64)
    density = parts.lookups * parts.dims * parts.element_bytes / size
    order = np.lexsort((np.arange(len(parts)), -density, too_large))
    before: NDArray[np.bool_] | None = None
    for fill in _FILLS:
        is_host = too_large.copy()
        is_host[order] |= np.cumsum(size[order]) > fill * room * memory.ranks
        if before is None or not np.array_equal(is_host, before):
            yield is_host
        before = is_host
