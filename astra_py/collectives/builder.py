# SPDX-License-Identifier: GPL-2.0-only
"""Builds a Template from whole arrays of messages and local work: a collective algorithm is a few calls, not a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from astra_py.collectives.schedule import EdgeOn, OpKind, PoolOrder, Template
from astra_py.collectives.sections import Section, Sections, rows_by_rank
from astra_py.collectives.system import SystemModel
from astra_py.errors import ConfigError

__all__ = ["After", "Dep", "Hold", "ScheduleBuilder"]

Ids = NDArray[np.int64]
Numbers = NDArray[Any] | int
Number = TypeVar("Number", np.int64, np.int32, np.uint8)


@dataclass(frozen=True)
class Dep:
    """Predecessors and the moment to wait for.

    Attributes
    ----------
    ids : operation numbers, of shape [n] (one for each new operation), [n, k] (several for each), or a single one for
        all; -1 is none.
    on : the moment of a message, or None for the one at which a receiver is told of it (``SystemModel.notify_on``). To
        wait for a message of one's own, name a moment: ``SENT`` or ``ACKED``.
    """

    ids: Numbers
    on: EdgeOn | None = None


@dataclass(frozen=True)
class Hold:
    """Pools of which each operation takes a unit before it starts.

    Attributes
    ----------
    pools : pool numbers, of shape [n], [n, k] or a single one; -1 is none.
    release_on : the moment at which a message gives its unit back; local work gives it back at its end.
    """

    pools: Numbers
    release_on: EdgeOn = EdgeOn.ACKED


#: What new operations wait for: nothing, an array of operation numbers, a :class:`Dep`, or a list of these.
After = Numbers | Dep | Sequence[Numbers | Dep] | None
AfterT = TypeVar("AfterT", bound=After)

#: The pools that new operations hold: pool numbers, a :class:`Hold`, or a list of these.
Pools = Numbers | Hold | Sequence[Numbers | Hold]

References = Numbers | Dep | Hold | Sequence[Numbers | Dep | Hold] | None


_COLUMNS = ("kind", "src", "dst", "size_bytes", "duration_ps", "combine", "phase", "chunk")


@dataclass
class _Ragged:
    """Columns of compressed rows that grow by whole batches: per row a count, per entry a number and a moment."""

    counts: list[Ids] = field(default_factory=list)
    numbers: list[Ids] = field(default_factory=list)
    moments: list[Ids] = field(default_factory=list)

    def append(self, numbers: Ids, moments: Ids) -> None:
        """Add a batch of rows; ``numbers`` is [n, k] with -1 where a row has fewer, ``moments`` broadcasts to it."""
        if numbers.shape[1] == 0:
            self.counts.append(np.zeros(len(numbers), dtype=np.int64))
            return
        is_used = numbers >= 0
        self.counts.append(is_used.sum(axis=1))
        self.numbers.append(numbers[is_used])
        self.moments.append(np.broadcast_to(moments, numbers.shape)[is_used])

    def rows(self) -> tuple[Ids, NDArray[np.int32], NDArray[np.uint8]]:
        """Row pointers, numbers and moments."""
        counts = _joined(self.counts, np.int64)
        ptr = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=ptr[1:])
        return ptr, _joined(self.numbers, np.int32), _joined(self.moments, np.uint8)


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
        self._columns: dict[str, list[Ids]] = {column: [] for column in _COLUMNS}
        self._deps = _Ragged()
        self._uses = _Ragged()
        self._blocks = _Ragged()
        self._pools: dict[str, list[Ids]] = {"owner": [], "capacity": [], "order": []}
        self._pool_count = 0
        self._phase_names: dict[str, int] = {}
        self._chunk = 0
        self._sections = Sections()
        self._phase = collective
        self._gates: Ids | None = None

    def begin_chunk(self) -> None:
        """Let all that is added from here on belong to the next chunk, and to its first phase.

        A rank begins it an endpoint delay after its part of that phase of the chunk before, as it begins a collective.
        :func:`~astra_py.collectives.build_template` calls an algorithm once per chunk, with this in between.
        """
        self._chunk += 1
        self._phase = self.collective
        before = self._sections.begin_chunk(self._count, len(self._columns["kind"]))
        self._open(before, self.system.endpoint_delay_ps, self._first_phase)

    def begin_phase(self, phase: str) -> None:
        """Let all that is added from here on belong to the next phase of this chunk, called ``phase`` where not given.

        The first phase is there from the beginning, by the collective's name.
        """
        self._phase = phase
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
        combine: bool = False,
        pools: Pools = (),
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
        combine : whether the receiver adds the blocks to its own, or keeps them as they are.
        pools : pools to take a unit of, in order; released when the message is acknowledged unless a :class:`Hold` says
            otherwise.

        Raises
        ------
        ConfigError : ranks out of range, a message to oneself, a negative size, shapes that do not fit.
        """
        ids = self._add(OpKind.SEND, src, dst, size_bytes, 0, combine, phase, after, blocks, pools)
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
        return self._add(OpKind.REDUCE, rank, rank, size_bytes, duration_ps, False, phase, after, None, ())

    def compute(
        self,
        rank: ArrayLike,
        duration_ps: ArrayLike,
        after: After = None,
        *,
        phase: str | None = None,
    ) -> Ids:
        """Add local work of ``duration_ps``; one of 0 ps is a point that any number of others may wait for."""
        return self._add(OpKind.COMPUTE, rank, rank, 0, duration_ps, False, phase, after, None, ())

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

    def build(self) -> Template:
        """Return the Template of all that was added.

        Raises
        ------
        ConfigError : an operation waits for a message that its rank neither sends nor receives, or for another rank's
            local work: nobody would tell it.
        """
        dep_ptr, dep_op, dep_on = self._deps.rows()
        use_ptr, use_pool, release_on = self._uses.rows()
        block_ptr, block, _ = self._blocks.rows()
        template = Template(
            collective=self.collective,
            algorithm=self.algorithm,
            ranks=self.ranks,
            kind=_joined(self._columns["kind"], np.uint8),
            src=_joined(self._columns["src"], np.int32),
            dst=_joined(self._columns["dst"], np.int32),
            size_bytes=_joined(self._columns["size_bytes"], np.int64),
            duration_ps=_joined(self._columns["duration_ps"], np.int64),
            phase=_joined(self._columns["phase"], np.int32),
            chunk=_joined(self._columns["chunk"], np.int32),
            dep_ptr=dep_ptr,
            dep_op=dep_op,
            dep_on=dep_on,
            pool_owner=_joined(self._pools["owner"], np.int32),
            pool_capacity=_joined(self._pools["capacity"], np.int32),
            pool_order=_joined(self._pools["order"], np.uint8),
            use_ptr=use_ptr,
            use_pool=use_pool,
            release_on=release_on,
            block_ptr=block_ptr,
            block=block,
            combine=_joined(self._columns["combine"], np.uint8),
            phase_names=tuple(self._phase_names),
            notify_on=self.system.notify_on,
        )
        self._check_dependencies(template)
        return template

    def _add(
        self,
        kind: OpKind,
        src: ArrayLike,
        dst: ArrayLike,
        size_bytes: ArrayLike,
        duration_ps: ArrayLike,
        combine: bool,
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
        try:
            arrays = [
                np.atleast_1d(self._integers(value, column)) for column, value in zip(_COLUMNS, given, strict=True)
            ]
            values = np.broadcast_arrays(*arrays)
        except ValueError as error:
            raise self._error(f"{kind.name.lower()}: arrays of different lengths: {error}") from None
        if values[0].ndim != 1:
            raise self._error(f"{kind.name.lower()}: operations are a list, not an array of shape {values[0].shape}")
        n = len(values[0])
        if self._count + n >= 2**31:
            raise self._error("more than 2^31 operations")
        for column, value in zip(_COLUMNS, values, strict=True):
            if column in ("src", "dst") and n and not 0 <= int(value.min()) <= int(value.max()) < self.ranks:
                raise self._error(f"{column} is outside the group's coordinates, 0 to {self.ranks - 1}")
            if column in ("size_bytes", "duration_ps") and n and int(value.min()) < 0:
                raise self._error(f"{column} is negative: {int(value.min())}")
            self._columns[column].append(value)
        numbers, moments = self._rows(after, n, self._count, "after")
        if self._gates is not None:
            numbers = np.column_stack([numbers, self._gates[values[1]]])
            moments = np.append(moments, self.system.notify_on)
        self._deps.append(numbers, moments)
        self._uses.append(*self._rows(pools, n, self._pool_count, "pools"))
        self._blocks.append(*self._rows(blocks, n, None, "blocks"))
        self._count += n
        return np.arange(self._count - n, self._count, dtype=np.int64)

    def _rows(self, given: References, n: int, limit: int | None, what: str) -> tuple[Ids, Ids]:
        """Numbers [n, k] and their moments [k] of what was given as dependencies, pools or blocks."""
        numbers: list[Ids] = []
        moments: list[EdgeOn] = []
        for part in given if isinstance(given, Sequence) else [] if given is None else [given]:
            moment = EdgeOn.ACKED if what == "pools" else self.system.notify_on
            if isinstance(part, Dep):
                moment, wanted = moment if part.on is None else part.on, part.ids
            elif isinstance(part, Hold):
                moment, wanted = part.release_on, part.pools
            else:
                wanted = part
            array = self._integers(wanted, what)
            array = array[:, np.newaxis] if array.ndim == 1 else np.atleast_2d(array)
            if array.ndim != 2 or array.shape[0] not in (1, n):
                raise self._error(
                    f"{what} is of shape {np.shape(wanted)}; {n} operations take [{n}], [{n}, k] or one number"
                )
            if array.size and (int(array.min()) < -1 or (limit is not None and int(array.max()) >= limit)):
                raise self._error(f"{what} has a number outside the {limit} that were added before; -1 is none")
            numbers.append(np.broadcast_to(array, (n, array.shape[1])))
            moments += [moment] * array.shape[1]
        joined = np.concatenate(numbers, axis=1) if numbers else np.empty((n, 0), dtype=np.int64)
        return joined, np.array(moments, dtype=np.int64)

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
        op = np.repeat(np.arange(len(template)), np.diff(template.dep_ptr))
        owner = template.src[op]
        is_known = (template.src[template.dep_op] == owner) | (template.dst[template.dep_op] == owner)
        if not is_known.all():
            edge = int(np.argmin(is_known))
            before = int(template.dep_op[edge])
            raise self._error(
                f"operation {int(op[edge])} waits for operation {before}, rank {int(template.src[before])} to "
                f"{int(template.dst[before])}, of which its own rank {int(owner[edge])} is not told"
            )

    def _integers(self, value: ArrayLike, what: str) -> Ids:
        """``value`` as i64, without taking a fraction for an integer."""
        array = np.asarray(value)
        if array.dtype.kind not in "iub" and array.size:
            raise self._error(f"{what} is of {array.dtype}, and a schedule is made of integers (divide with //)")
        return array.astype(np.int64)

    def _error(self, what: str) -> ConfigError:
        return ConfigError(f"{self.collective} algorithm {self.algorithm!r}: {what}")


def _joined(parts: list[Ids], dtype: type[Number]) -> NDArray[Number]:
    """All parts in one column of ``dtype``; ranges were checked when they came in."""
    return np.concatenate(parts, dtype=dtype, casting="unsafe") if parts else np.empty(0, dtype=dtype)
