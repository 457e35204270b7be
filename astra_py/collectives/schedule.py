# SPDX-License-Identifier: GPL-2.0-only
"""What the network sees: graphs of messages and local work, as plain columns.

A :class:`Template` is one collective in group coordinates: every message, every local reduction, and what waits for
what. A :class:`Schedule` is a whole run: computes and collective participations per rank, where a collective is an
*instance* that refers to a template and a group. Engines expand an instance when its first member joins and free it
when the last part is done, so that a run never holds all its messages at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.calls import FLOWS, MAX_PRIORITY, Payload

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FIRST_SHARED_POOL",
    "Combine",
    "EdgeOn",
    "OpKind",
    "OuterKind",
    "PoolOrder",
    "RankPool",
    "Schedule",
    "Template",
]

IntColumn = NDArray[np.int32]
LongColumn = NDArray[np.int64]
ByteColumn = NDArray[np.uint8]

#: A template's use of its first shared pool; that of the k-th is k less.
FIRST_SHARED_POOL = -2


def _ints() -> IntColumn:
    return np.zeros(0, dtype=np.int32)


def _longs() -> LongColumn:
    return np.zeros(0, dtype=np.int64)


class OpKind(IntEnum):
    """What an operation of a template is."""

    SEND = 0
    REDUCE = 1
    COMPUTE = 2


class OuterKind(IntEnum):
    """What an operation of a schedule is."""

    COMPUTE = 0
    COLLECTIVE = 1
    MEMORY = 2


class EdgeOn(IntEnum):
    """The moment of a message that a dependant waits for.

    ``SENT``: the last byte left the sender. ``DELIVERED``: the last byte is at the receiver. ``ACKED``: the last
    acknowledgement is back at the sender. A local operation has one moment only, its end.
    """

    SENT = 0
    DELIVERED = 1
    ACKED = 2


class Combine(IntEnum):
    """What a receiver does with the blocks of a message; known to the data-flow check only.

    ``KEEP``: they take the place of its own. ``ADD``: it adds them to its own on arrival. ``EXCHANGE``: they lie beside
    its own until that has been sent, and are added then, as where two ranks send each other the same blocks.
    """

    KEEP = 0
    ADD = 1
    EXCHANGE = 2


class PoolOrder(IntEnum):
    """In which order a pool grants its units to those who wait."""

    FIFO = 0
    LIFO = 1
    PRIORITY = 2


@dataclass(frozen=True)
class RankPool:
    """A pool that every rank has one of, for all collectives under way together to share.

    Attributes
    ----------
    name : what templates call it.
    capacity : how many units each rank has.
    order : in which order those who wait get them.
    """

    name: str
    capacity: int
    order: PoolOrder = PoolOrder.FIFO


@dataclass(frozen=True, kw_only=True, eq=False)
class Template:
    """One collective in group coordinates.

    Attributes
    ----------
    collective, algorithm : names, such as ``"all_reduce"`` and ``"ring"``.
    ranks : size of the group.
    kind : u8[m], :class:`OpKind`.
    src, dst : i32[m], group coordinates; a local operation has ``dst == src``. An operation belongs to ``src``.
    size_bytes : i64[m], payload of a message, or bytes worked on.
    duration_ps : i64[m], time of a local operation; of a message, the time between its start and its post.
    phase : i32[m], index into ``phase_names``.
    phase_names : what the phases are called, such as ``"reduce_scatter inside"``.
    chunk : i32[m], the chunk of the collective's data that the operation works on.
    dep_ptr, dep_op, dep_on : operation ``i`` waits for ``dep_op[dep_ptr[i]:dep_ptr[i + 1]]``, each at ``dep_on``
        (:class:`EdgeOn`). Every dependency precedes its dependant.
    pool_owner, pool_capacity, pool_order : counting semaphores of each instance; owner is a group coordinate.
    use_ptr, use_pool, release_on : operation ``i`` takes one unit of each of its pools, in order, before it starts, and
        returns it at ``release_on``. ``FIRST_SHARED_POOL - k`` is pool ``shared_pools[k]`` of the operation's own rank.
    block_ptr, block, combine : what a message carries, for the data-flow check only: its blocks of its chunk, and
        what the receiver does with them (:class:`Combine`).
    notify_on : the moment at which the receiver's part counts a message as received.
    payload : the size in bytes, the byte matrix, or the flows that it was made for; None where it was made by hand.
    protocol : the protocol of the collective library whose costs are in it, or nothing.
    shared_pools : names of the pools of each rank (:class:`RankPool`) that operations take units of.
    release_op : i32[u], the operation at whose moment each unit is returned, which waits for the one that takes it;
        empty where all return their own.
    control_bytes : i64[m], how many of a message's bytes are the protocol's and no data; empty where none are.
    alternative : i32[m], the alternative that an operation is of, -1 for those of none; empty without choices.
    choice_ptr : i64[c + 1], choice ``c`` is between alternatives ``choice_ptr[c]`` to ``choice_ptr[c + 1] - 1``. It is
        made when the first operation of any of them is ready, and those of the others are skipped.
    visit_ptr, visit_level, visit_load_ps : alternative ``a`` visits levels
        ``visit_level[visit_ptr[a]:visit_ptr[a + 1]]`` of the network in this order, for about that time each. Of the
        alternatives the one whose levels have the least load when visited in order is picked, the first of equal ones.
    """

    collective: str
    algorithm: str
    ranks: int
    kind: ByteColumn
    src: IntColumn
    dst: IntColumn
    size_bytes: LongColumn
    duration_ps: LongColumn
    phase: IntColumn
    chunk: IntColumn
    dep_ptr: LongColumn
    dep_op: IntColumn
    dep_on: ByteColumn
    pool_owner: IntColumn
    pool_capacity: IntColumn
    pool_order: ByteColumn
    use_ptr: LongColumn
    use_pool: IntColumn
    release_on: ByteColumn
    block_ptr: LongColumn
    block: IntColumn
    combine: ByteColumn
    phase_names: tuple[str, ...]
    notify_on: EdgeOn = EdgeOn.DELIVERED
    payload: Payload | None = None
    protocol: str = ""
    shared_pools: tuple[str, ...] = ()
    release_op: IntColumn = field(default_factory=_ints)
    control_bytes: LongColumn = field(default_factory=_longs)
    alternative: IntColumn = field(default_factory=_ints)
    choice_ptr: LongColumn = field(default_factory=_longs)
    visit_ptr: LongColumn = field(default_factory=_longs)
    visit_level: IntColumn = field(default_factory=_ints)
    visit_load_ps: LongColumn = field(default_factory=_longs)

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def is_send(self) -> NDArray[np.bool_]:
        """bool[m]: which operations are messages."""
        return np.equal(self.kind, OpKind.SEND)

    @property
    def is_flows(self) -> bool:
        """Whether it is a list of flows, and no collective."""
        return self.collective == FLOWS

    @property
    def data_bytes(self) -> LongColumn:
        """i64[m]: size of each operation without what is the protocol's."""
        return self.size_bytes - self.control_bytes if len(self.control_bytes) else self.size_bytes

    @property
    def is_control(self) -> NDArray[np.bool_]:
        """bool[m]: which operations are messages that carry no data, only what a protocol has to say."""
        is_without_data: NDArray[np.bool_] = (self.size_bytes > 0) & (self.data_bytes == 0)
        return self.is_send & is_without_data

    @property
    def choices(self) -> int:
        """How many choices there are."""
        return max(len(self.choice_ptr) - 1, 0)

    def is_picked(self, picks: IntColumn) -> NDArray[np.bool_]:
        """bool[m]: which operations are there when of choice ``c`` its alternative number ``picks[c]`` is picked."""
        if not self.choices:
            return np.ones(len(self), dtype=np.bool_)
        picked = np.zeros(int(self.choice_ptr[-1]) + 1, dtype=np.bool_)
        picked[self.choice_ptr[:-1] + picks] = True
        picked[-1] = True  # where alternative -1 points
        return picked[self.alternative]

    @property
    def is_counted(self) -> NDArray[np.bool_]:
        """bool[m]: the operations with the first alternative of each choice.

        All alternatives of a choice have as many messages, and each rank sends and receives as many bytes in them.
        """
        return self.is_picked(np.zeros(self.choices, dtype=np.int32))

    def to_pandas(self) -> pd.DataFrame:
        """One row per operation: kind, src, dst, size_bytes, duration_ps, phase, chunk, alternative, after.

        ``after`` has its predecessors. Of the alternatives of a choice, numbers from 0 on, only one is run; -1 is none.
        """
        import pandas as pd

        after = np.split(self.dep_op, self.dep_ptr[1:-1]) if len(self) else []
        return pd.DataFrame(
            {
                "kind": [OpKind(k).name.lower() for k in self.kind],
                "src": self.src,
                "dst": self.dst,
                "size_bytes": self.size_bytes,
                "duration_ps": self.duration_ps,
                "phase": [self.phase_names[i] for i in self.phase],
                "chunk": self.chunk,
                "alternative": self.alternative if self.choices else np.full(len(self), -1, dtype=np.int32),
                "after": [tuple(int(i) for i in ids) for ids in after],
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """A whole run: computes and participations of every rank, and the collectives they take part in.

    Attributes
    ----------
    ranks : number of ranks of the job.
    templates : the collectives' shapes, shared by instances.
    group_ptr, group_rank : group ``g`` is ``group_rank[group_ptr[g]:group_ptr[g + 1]]``; position = group coordinate.
    instance_template, instance_group, instance_priority, instance_call : one row per collective that is run;
        ``instance_call`` is the index of the Trace's call.
    kind : u8[ops], :class:`OuterKind`.
    rank, duration_ps : owner and, for a local operation, time.
    instance, member : for a participation, the instance and the owner's group coordinate; -1 else.
    priority : u8[ops], order of grants in pools of order PRIORITY; larger first.
    dep_ptr, dep_op : an operation starts when all of ``dep_op[dep_ptr[i]:dep_ptr[i + 1]]`` are done.
    pool_owner, pool_capacity, pool_order, use_ptr, use_pool : streams and limits; a unit is held from start to end.
    shared_pools, shared_first : pool ``shared_first[k] + r`` is rank ``r``'s of the name ``shared_pools[k]``, of which
        operations of templates take units.
    name, names : index into ``names`` per operation.
    iteration, phase, phases : labels for tables; ``phase`` indexes ``phases``.
    """

    ranks: int
    templates: tuple[Template, ...]
    group_ptr: LongColumn
    group_rank: IntColumn
    instance_template: IntColumn
    instance_group: IntColumn
    instance_priority: ByteColumn
    instance_call: IntColumn
    kind: ByteColumn
    rank: IntColumn
    duration_ps: LongColumn
    instance: IntColumn
    member: IntColumn
    priority: ByteColumn
    dep_ptr: LongColumn
    dep_op: IntColumn
    pool_owner: IntColumn
    pool_capacity: IntColumn
    pool_order: ByteColumn
    use_ptr: LongColumn
    use_pool: IntColumn
    name: IntColumn
    names: tuple[str, ...]
    iteration: IntColumn
    phase: IntColumn
    phases: tuple[str, ...]
    shared_pools: tuple[str, ...] = ()
    shared_first: IntColumn = field(default_factory=_ints)

    def _repr_html_(self) -> str:
        from astra_py.report.notebook import schedule_html

        return schedule_html(self)

    def __len__(self) -> int:
        return len(self.kind)

    def group(self, index: int) -> IntColumn:
        """The ranks of group ``index``, in group order."""
        return self.group_rank[self.group_ptr[index] : self.group_ptr[index + 1]]

    @property
    def priorities(self) -> set[int]:
        """Those that messages have: their collectives', and the highest where there are some that carry no data."""
        priorities = set(np.unique(self.instance_priority).tolist())
        return priorities | {MAX_PRIORITY} if any(each.is_control.any() for each in self.templates) else priorities

    @property
    def message_count(self) -> int:
        """How many messages the run will send."""
        per_template = np.array([int((t.is_send & t.is_counted).sum()) for t in self.templates], dtype=np.int64)
        return int(per_template[self.instance_template].sum()) if len(self.instance_template) else 0

    def to_pandas(self) -> pd.DataFrame:
        """One row per operation: name, kind, rank, duration_ps, collective, iteration, phase, after."""
        import pandas as pd

        after = np.split(self.dep_op, self.dep_ptr[1:-1]) if len(self) else []
        return pd.DataFrame(
            {
                "name": [self.names[i] for i in self.name],
                "kind": [OuterKind(k).name.lower() for k in self.kind],
                "rank": self.rank,
                "duration_ps": self.duration_ps,
                "collective": self.instance,
                "iteration": self.iteration,
                "phase": [self.phases[i] for i in self.phase],
                "after": [tuple(int(i) for i in ids) for ids in after],
            }
        )
