# SPDX-License-Identifier: GPL-2.0-only
"""Builds a Template from whole arrays of messages and local work: a collective algorithm is a few calls, not a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from astra_py.collectives.choices import Choices
from astra_py.collectives.columns import Rows, joined
from astra_py.collectives.references import (
    After,
    AfterT,
    Dep,
    Hold,
    Ids,
    Numbers,
    Pools,
    References,
    as_integers,
    as_rows,
)
from astra_py.collectives.schedule import FIRST_SHARED_POOL, Combine, EdgeOn, OpKind, PoolOrder, Template
from astra_py.collectives.sections import Section, Sections, rows_by_rank
from astra_py.collectives.system import SystemModel
from astra_py.errors import ConfigError

__all__ = ["After", "Dep", "Hold", "Pools", "ScheduleBuilder"]

_COLUMNS: dict[str, Any] = {
    "kind": np.uint8,
    "src": np.int32,
    "dst": np.int32,
    "size_bytes": np.int64,
    "duration_ps": np.int64,
    "combine": np.uint8,
    "phase": np.int32,
    "chunk": np.int32,
}


class ScheduleBuilder:
    """Fills one :class:`Template`.

    Every method takes arrays or scalars, which broadcast to one length n, adds n operations and returns their numbers,
    i64[n]. Operations of a rank that are ready at the same time are posted in the order in which they were added.

    A collective may be cut into chunks (``collective.chunks``), and an algorithm parts its work into phases with
    :meth:`begin_phase`. A rank begins a phase of a chunk when its part of two others is done: of the phase before in
    the same chunk, and of the same phase in the chunk before. A part is done when the rank's messages are sent, those
    to it have arrived and its local work has ended. So the chunks of an algorithm of one phase go one after another,
    and those of several phases overlap as in a pipeline.

    Parameters
    ----------
    collective, algorithm : names for the template.
    ranks : size of the group; all ranks here are group coordinates, 0 to ranks - 1.
    system : the endpoint's figures.

    Examples
    --------
    >>> build = ScheduleBuilder("sendrecv", "relay", ranks=3)
    >>> first = build.send(0, 1, 4096, blocks=0)
    >>> second = build.send(1, 2, 4096, after=first, blocks=0)
    >>> len(build.build())
    2
    """

    def __init__(self, collective: str, algorithm: str, ranks: int, system: SystemModel | None = None) -> None:
        if ranks < 1:
            raise ConfigError(f"{collective} {algorithm}: a group has at least one rank, not {ranks}")
        self.collective = collective
        self.algorithm = algorithm
        self.ranks = ranks
        self.system = system if system is not None else SystemModel()
        self._count = 0
        self._columns: dict[str, list[Any]] = {column: [] for column in _COLUMNS}
        self._deps = Rows()
        self._uses = Rows()
        self._blocks = Rows()
        self._pools: dict[str, list[Ids]] = {"owner": [], "capacity": [], "order": []}
        self._pool_count = 0
        self._shared_pools: dict[str, int] = {}
        self._given_back: list[tuple[Ids, Ids, EdgeOn]] = []
        self._choices = Choices()
        self._chunk_gates: Ids | None = None
        self._phase_names: dict[str, int] = {}
        self._chunk = 0
        self._sections = Sections(self.system.active_chunks)
        self._phase = collective
        self._gates: Ids | None = None
        self._opened = 0

    def begin_chunk(self, *, is_waiting: bool = True) -> None:
        """Let all that is added from here on belong to the next chunk, and to its first phase.

        A rank begins it an endpoint delay after its part of that phase of the chunk ``collective.active_chunks``
        before, as it begins a collective; or at once where the chunk is not waiting, or there is none so far before.
        :func:`~astra_py.collectives.build_template` calls an algorithm once per chunk, with this in between.
        """
        self._chunk += 1
        self._phase = self.collective
        before = self._sections.begin_chunk(self._count, len(self._columns["kind"]), is_waiting=is_waiting)
        self._choices.end()
        self._open(before, self.system.endpoint_delay_ps, self._first_phase)
        self._chunk_gates = self._gates

    def begin_alternative(self, visits: Sequence[tuple[int, int]]) -> None:
        """Let all that is added from here on, to the chunk's end or the next call, be one way of doing its work.

        Of a chunk's alternatives one is picked when its work is issued, by the load of the levels of the network that
        they visit (see ``Template.visit_level``); the others are skipped. They begin at the chunk's first phase.

        Parameters
        ----------
        visits : levels in the order in which this alternative visits them, with the time in ps that it is likely to
            take on each: 0 is the network inside machines, 1 that between them.
        """
        self._choices.begin_alternative(visits)
        self._sections.begin_alternative(self._count, len(self._columns["kind"]))
        self._gates = self._chunk_gates
        self._opened = self._count

    def begin_phase(self, phase: str) -> None:
        """Let all that is added from here on belong to the next phase of this chunk, called ``phase`` where not given.

        The first phase is there from the beginning, by the collective's name; where nothing was added yet, it gets
        this one.
        """
        self._phase = phase
        if self._count == self._opened:
            return
        self._open(self._sections.begin_phase(self._count, len(self._columns["kind"])), 0, phase)

    def send(
        self,
        src: ArrayLike,
        dst: ArrayLike,
        size_bytes: ArrayLike,
        after: After = None,
        *,
        phase: str | None = None,
        blocks: Numbers | None = None,
        combine: bool | Combine = Combine.KEEP,
        pools: Pools = (),
        delay_ps: ArrayLike = 0,
    ) -> Ids:
        """Add messages.

        Parameters
        ----------
        src, dst : sender and receiver; different.
        size_bytes : payload.
        after : what each message waits for before it is posted.
        phase : what tables call this part of the work; the phase begun last where None.
        blocks : which blocks of the chunk's data each message carries, of shape [n], [n, k] (-1: none) or a single
            one, for :func:`~astra_py.collectives.check_dataflow`; what a block is, that function says for each
            collective.
        combine : whether the receiver adds the blocks to its own, or keeps them as they are; a :class:`Combine`.
        pools : pools to take a unit of, in order; released when the message is acknowledged unless a :class:`Hold` says
            otherwise.
        delay_ps : time between a message's start, when all that it waits for is there, and its post.

        Raises
        ------
        ConfigError : ranks out of range, a message to oneself, a negative size, shapes that do not fit.
        """
        ids = self._add(OpKind.SEND, src, dst, size_bytes, delay_ps, combine, phase, after, blocks, pools)
        src_column, dst_column = self._columns["src"][-1], self._columns["dst"][-1]
        if (src_column == dst_column).any():
            raise self._error(f"rank {int(src_column[src_column == dst_column][0])} sends to itself")
        return ids

    def reduce(
        self, rank: ArrayLike, size_bytes: ArrayLike, after: AfterT, *, phase: str | None = None
    ) -> AfterT | Ids:
        """Add local reductions of ``size_bytes``; returns what a dependant has to wait for.

        The time is :meth:`SystemModel.reduction_ps`. Where reductions take no time, none is added, and a dependant
        waits for ``after`` itself: pass on what is returned.
        """
        if self.system.local_memory_bandwidth_bps is None:
            return after
        duration_ps = self.system.reduction_ps(np.asarray(size_bytes, dtype=np.int64))
        return self._add(OpKind.REDUCE, rank, rank, size_bytes, duration_ps, Combine.KEEP, phase, after, None, ())

    def compute(
        self,
        rank: ArrayLike,
        duration_ps: ArrayLike,
        after: After = None,
        *,
        phase: str | None = None,
    ) -> Ids:
        """Add local work of ``duration_ps``; one of 0 ps is a point that any number of others may wait for."""
        return self._add(OpKind.COMPUTE, rank, rank, 0, duration_ps, Combine.KEEP, phase, after, None, ())

    def pool(self, owner: ArrayLike, capacity: ArrayLike, order: PoolOrder = PoolOrder.FIFO) -> Ids:
        """Add one pool, a counting semaphore of each run of this collective, per ``owner``; returns their numbers.

        Raises
        ------
        ConfigError : an owner outside the group, or a capacity below 1.
        """
        owners, capacities = np.broadcast_arrays(
            np.atleast_1d(self._integers(owner, "a pool's owner")), self._integers(capacity, "a pool's capacity")
        )
        if owners.size and not 0 <= int(owners.min()) <= int(owners.max()) < self.ranks:
            raise self._error(f"a pool's owner is outside 0 to {self.ranks - 1}")
        if capacities.size and int(capacities.min()) < 1:
            raise self._error("a pool has a capacity of at least 1")
        self._pools["owner"].append(owners)
        self._pools["capacity"].append(capacities)
        self._pools["order"].append(np.full(len(owners), order, dtype=np.int64))
        self._pool_count += len(owners)
        return np.arange(self._pool_count - len(owners), self._pool_count, dtype=np.int64)

    def shared_pool(self, name: str) -> int:
        """Return the number of the pool ``name`` that each rank has one of, for ``pools=`` as that of :meth:`pool`.

        All collectives under way together take their units from it, an operation from that of its own rank. The run
        says how large it is: ``rank_pools`` of :func:`~astra_py.collectives.lower`.
        """
        return FIRST_SHARED_POOL - self._shared_pools.setdefault(name, len(self._shared_pools))

    def give_back(self, ids: ArrayLike, by: ArrayLike, on: EdgeOn = EdgeOn.DELIVERED) -> None:
        """Let the units that each of ``ids`` takes be given back at moment ``on`` of the operation in ``by``.

        Parameters
        ----------
        ids, by : operation numbers, one ``by`` for each of ``ids``. Each ``by`` waits for its ``ids`` itself.

        Raises
        ------
        ConfigError : numbers that were not added, or (from :meth:`build`) a ``by`` that does not wait.
        """
        takers, givers = np.broadcast_arrays(
            np.atleast_1d(self._integers(ids, "ids")), np.atleast_1d(self._integers(by, "by"))
        )
        for numbers in (takers, givers):
            if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < self._count:
                raise self._error(f"give_back has a number outside the {self._count} that were added before")
        self._given_back.append((takers, givers, on))

    def build(self) -> Template:
        """Return the Template of all that was added.

        Raises
        ------
        ConfigError : an operation waits for a message that its rank neither sends nor receives, or for another rank's
            local work: nobody would tell it.
        """
        dep_ptr, dep_op, dep_on = self._deps.joined()
        use_ptr, use_pool, release_on = self._uses.joined()
        sizes = [len(batch) for batch in self._columns["kind"]]
        release_op = self._release_ops(use_ptr, release_on, dep_ptr, dep_op)
        block_ptr, block, _ = self._blocks.joined()
        columns: dict[str, Any] = {name: joined(self._columns[name], dtype) for name, dtype in _COLUMNS.items()}
        template = Template(
            collective=self.collective,
            algorithm=self.algorithm,
            ranks=self.ranks,
            **columns,
            dep_ptr=dep_ptr,
            dep_op=dep_op,
            dep_on=dep_on,
            pool_owner=joined(self._pools["owner"], np.int32),
            pool_capacity=joined(self._pools["capacity"], np.int32),
            pool_order=joined(self._pools["order"], np.uint8),
            use_ptr=use_ptr,
            use_pool=use_pool,
            release_on=release_on,
            block_ptr=block_ptr,
            block=block,
            phase_names=tuple(self._phase_names),
            notify_on=self.system.notify_on,
            shared_pools=tuple(self._shared_pools),
            release_op=release_op,
            **self._choices.columns(sizes),
        )
        self._choices.check(template, self._error)
        self._check_dependencies(template)
        return template

    def _add(
        self,
        kind: OpKind,
        src: ArrayLike,
        dst: ArrayLike,
        size_bytes: ArrayLike,
        duration_ps: ArrayLike,
        combine: bool | Combine,
        phase: str | None,
        after: After,
        blocks: Numbers | None,
        pools: Pools,
    ) -> Ids:
        name = self._phase if phase is None else phase
        if not isinstance(name, str):
            raise self._error(f"a phase is a name, not {name!r}")
        label = self._phase_names.setdefault(name, len(self._phase_names))
        given = (kind, src, dst, size_bytes, duration_ps, combine, label, self._chunk)
        arrays = [np.atleast_1d(self._integers(value, column)) for column, value in zip(_COLUMNS, given, strict=True)]
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError as error:
            raise self._error(f"{kind.name.lower()}: arrays of different lengths: {error}") from None
        if len(shape) != 1:
            raise self._error(f"{kind.name.lower()}: operations are a list, not an array of shape {shape}")
        (n,) = shape
        if self._count + n >= 2**31:
            raise self._error("more than 2^31 operations")
        for (column, dtype), array in zip(_COLUMNS.items(), arrays, strict=True):
            if column in ("src", "dst") and n and not 0 <= int(array.min()) <= int(array.max()) < self.ranks:
                raise self._error(f"{column} is outside the group's coordinates, 0 to {self.ranks - 1}")
            if column in ("size_bytes", "duration_ps") and n and int(array.min()) < 0:
                raise self._error(f"{column} is negative: {int(array.min())}")
            narrow = array.astype(dtype)
            self._columns[column].append(narrow if narrow.shape == shape else np.broadcast_to(narrow, shape))
        numbers, moments = self._rows(after, n, self._count, "after")
        if self._gates is not None:
            numbers = np.column_stack([numbers, self._gates[self._columns["src"][-1]]])
            moments = np.append(moments, self.system.notify_on)
        self._deps.append(numbers, moments)
        self._uses.append(*self._rows(pools, n, self._pool_count, "pools"))
        self._blocks.append(*self._rows(blocks, n, None, "blocks"))
        self._choices.add()
        self._count += n
        return np.arange(self._count - n, self._count, dtype=np.int64)

    def _rows(self, given: References, n: int, limit: int | None, what: str) -> tuple[Ids, Ids]:
        moment = EdgeOn.ACKED if what == "pools" else self.system.notify_on
        try:
            return as_rows(given, n, limit, what, moment, -1 - len(self._shared_pools) if what == "pools" else -1)
        except ValueError as error:
            raise self._error(str(error)) from None

    def _release_ops(
        self, use_ptr: Ids, release_on: NDArray[np.uint8], dep_ptr: Ids, dep_op: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Who gives each unit back, with the moment of those in ``release_on``; empty where all give back their own."""
        if not self._given_back:
            return np.zeros(0, dtype=np.int32)
        by = np.arange(self._count, dtype=np.int32)
        for takers, givers, on in self._given_back:
            for taker, giver in zip(takers.tolist(), givers.tolist(), strict=True):
                if taker not in dep_op[dep_ptr[giver] : dep_ptr[giver + 1]]:
                    raise self._error(
                        f"operation {giver} is to give back what operation {taker} takes, and does not wait for it"
                    )
                release_on[use_ptr[taker] : use_ptr[taker + 1]] = on
            by[takers] = givers
        return np.repeat(by, np.diff(use_ptr))

    @property
    def _first_phase(self) -> str | None:
        """The name of what was added first."""
        return next(iter(self._phase_names), None)

    def _open(self, before: Sequence[Section], duration_ps: int, phase: str | None) -> None:
        """Open a section: all its operations wait for their rank's gate, which waits for the sections ``before``."""
        self._gates = None
        if before:
            after = [dep for section in before for dep in self._parts(section)]
            self._gates = self.compute(np.arange(self.ranks), duration_ps, after, phase=phase)
        self._opened = self._count

    def _parts(self, section: Section) -> list[Dep]:
        """What each rank's part of a section ends with: local work, messages sent, messages that have arrived."""
        kind, src, dst = (
            np.concatenate([np.empty(0, np.int64), *self._columns[name][section.first_batch : section.last_batch]])
            for name in ("kind", "src", "dst")
        )
        ids = section.first_op + np.arange(len(kind))
        is_send = kind == OpKind.SEND
        return [
            Dep(rows_by_rank(src[~is_send], ids[~is_send], self.ranks)),
            Dep(rows_by_rank(src[is_send], ids[is_send], self.ranks), on=EdgeOn.SENT),
            Dep(rows_by_rank(dst[is_send], ids[is_send], self.ranks)),
        ]

    def _check_dependencies(self, template: Template) -> None:
        owner = np.repeat(template.src, np.diff(template.dep_ptr))
        is_known = (template.src[template.dep_op] == owner) | (template.dst[template.dep_op] == owner)
        if not is_known.all():
            edge = int(np.argmin(is_known))
            op = int(np.searchsorted(template.dep_ptr, edge, side="right")) - 1
            before = int(template.dep_op[edge])
            raise self._error(
                f"operation {op} waits for operation {before}, rank {int(template.src[before])} to "
                f"{int(template.dst[before])}, of which its own rank {int(owner[edge])} is not told"
            )

    def _integers(self, value: ArrayLike, what: str) -> Ids:
        try:
            return as_integers(value, what)
        except ValueError as error:
            raise self._error(str(error)) from None

    def _error(self, what: str) -> ConfigError:
        return ConfigError(f"{self.collective} algorithm {self.algorithm!r}: {what}")
