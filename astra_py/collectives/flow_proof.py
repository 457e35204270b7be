# SPDX-License-Identifier: GPL-2.0-only
"""A quick proof that a template does what it promises, for templates of a million messages.

It works on whole arrays and is sound, not complete: True means that the check of
:mod:`astra_py.collectives.dataflow` would pass, False that nothing is known and that check has to decide. Two questions
are parted.

*What arrives*: the set of ranks whose contributions are in a block is kept as the sum of random 64-bit numbers, one a
rank (so a contribution that is there twice shows as well). Another set has the same sum with a probability of 2^-64.

*In which order*: of the reads (a message leaves with the block) and writes (one arrives) of each place, in order of
their numbers, neighbours have to be known to follow one another; the rest follows from that. A message is known to
follow another one if it waits for it, waits for local work that does, or both lie on one path of dependencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.promises import Promise
from astra_py.collectives.schedule import Combine, EdgeOn, Template

__all__ = ["is_proven"]

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Fewest messages for which the proof is worth its set-up.
_FEWEST_MESSAGES = 256
#: Rows that are worked on together, and how many questions about its order one of them may lead to.
_AT_ONCE = 2**18
_MOST_QUESTIONS = 64
#: Dependencies of one operation that are looked at one by one; more are searched for in a sorted list.
_FEW_DEPENDENCIES = 4
_SEED = 20260101


class _Entries(NamedTuple):
    """One row for each block of each message, in order of messages; blocks are numbered through all chunks."""

    op: NDArray[np.int32]
    block: NDArray[np.int32]


def is_proven(template: Template, promises: list[Promise]) -> bool:
    """Whether ``template`` is known to keep ``promises``, which are those of ``promises_of``."""
    is_send = template.is_send
    if is_send.sum() < _FEWEST_MESSAGES or (template.combine == Combine.EXCHANGE).any():
        return False
    blocks_of = np.array([len(promise.block_bytes) for promise in promises])
    first_block = np.cumsum(blocks_of) - blocks_of
    entries = _entries(template, blocks_of, first_block)
    if entries is None:
        return False
    sizes = np.concatenate([promise.block_bytes for promise in promises])
    return (
        _have_their_size(template, entries, sizes)
        and _arrives(template, entries, promises, first_block, len(sizes))
        and _Order(template).holds(entries, len(sizes))
    )


def _entries(template: Template, blocks_of: Ids, first_block: Ids) -> _Entries | None:
    """The blocks of all messages; None where one does not exist."""
    op = np.repeat(np.arange(len(template), dtype=np.int32), np.diff(template.block_ptr))
    block = template.block
    if len(blocks_of) > 1:
        chunk = template.chunk[op]
        if (block >= blocks_of[chunk]).any():
            return None
        block = (block + first_block[chunk]).astype(np.int32)
    is_known = not len(block) or (int(template.block.min()) >= 0 and int(block.max()) < blocks_of.sum())
    return _Entries(op, block) if is_known else None


def _have_their_size(template: Template, entries: _Entries, sizes: Ids) -> bool:
    """Whether each message is of the bytes of its blocks."""
    is_send = template.is_send
    for ops in _slices(len(template)):
        ptr = template.block_ptr[ops.start : ops.stop + 1]
        running = np.append(0, np.cumsum(sizes[entries.block[ptr[0] : ptr[-1]]]))
        carried = running[ptr[1:] - ptr[0]] - running[ptr[:-1] - ptr[0]]
        is_right = np.where(is_send[ops], carried == template.size_bytes[ops], np.diff(ptr) == 0)
        if not is_right.all():
            return False
    return True


def _slices(length: int) -> Iterator[slice]:
    """Parts of columns that long, so that what is made of them on the way stays small."""
    return (slice(at, min(at + _AT_ONCE, length)) for at in range(0, length, _AT_ONCE))


def _arrives(template: Template, entries: _Entries, promises: list[Promise], first_block: Ids, blocks: int) -> bool:
    """Whether every rank ends with what it was promised, and no message carries what its sender does not hold."""
    weight = np.random.default_rng(_SEED).integers(1, 2**64, template.ranks, dtype=np.uint64)
    begins = _promised_places(promises, "start_rank", "start_block", first_block, blocks)
    places = _places(template, entries, begins, blocks)
    held = np.zeros(places.many, dtype=np.uint64)
    held[places.number(begins)] = weight[np.concatenate([promise.start_rank for promise in promises])]
    del begins
    for first, last in _batches(template):
        rows = slice(int(template.block_ptr[first]), int(template.block_ptr[last]))
        op, block = entries.op[rows], entries.block[rows]
        carried = held[places.number(template.src[op].astype(np.int64) * blocks + block)]
        if not carried.all():
            return False
        is_added = template.combine[op] != Combine.KEEP
        target = places.number(template.dst[op].astype(np.int64) * blocks + block)
        held[target[~is_added]] = carried[~is_added]
        np.add.at(held, target[is_added], carried[is_added])
    weight = np.append(weight, weight.sum())  # EVERYONE is the last one
    source = np.concatenate([promise.end_from for promise in promises])
    ends = places.number(_promised_places(promises, "end_rank", "end_block", first_block, blocks))
    return np.array_equal(held[ends], weight[source])


class _Places(NamedTuple):
    """Places, numbered; ``known`` has those that anything could come to where each rank sees few of all blocks."""

    many: int
    known: Ids | None

    def number(self, place: Ids) -> Ids:
        """Numbers of places; the last one, which is empty, of those that nothing comes to."""
        if self.known is None:
            return place
        number = np.searchsorted(self.known, place)
        number[self.known[np.minimum(number, self.many - 2)] != place] = self.many - 1
        return number


def _places(template: Template, entries: _Entries, begins: Ids, blocks: int) -> _Places:
    everywhere = template.ranks * blocks
    if everywhere <= 4 * (len(entries.op) + len(begins)):
        return _Places(everywhere, None)
    known = np.concatenate([template.dst[entries.op].astype(np.int64) * blocks + entries.block, begins])
    known.sort()
    return _Places(len(known) + 1, known)


def _promised_places(promises: list[Promise], rank: str, block: str, first_block: Ids, blocks: int) -> Ids:
    each = [
        getattr(promise, rank).astype(np.int64) * blocks + getattr(promise, block) + first
        for promise, first in zip(promises, first_block.tolist(), strict=True)
    ]
    return np.concatenate(each) if len(each) > 1 else each[0]


def _batches(template: Template) -> Iterator[tuple[int, int]]:
    """Ranges (first, last) of operations none of which waits for another one of its range."""
    ops = len(template)
    last_dep = _last_dependency(template)
    first, reach = 0, 1024
    while first < ops:
        last = first + 1
        while last < ops:
            waits = last_dep[last : last + reach] >= first
            if waits.any():
                last += int(np.argmax(waits))
                break
            last = min(last + reach, ops)
        yield first, last
        first = last


def _last_dependency(template: Template) -> NDArray[np.int32]:
    """The largest number that each operation waits for; -1 for nothing."""
    has_any = np.diff(template.dep_ptr) > 0
    last = np.full(len(template), -1, dtype=np.int32)
    if has_any.any():
        last[has_any] = np.maximum.reduceat(template.dep_op, template.dep_ptr[:-1][has_any])
    return last


class _Order:
    """What is known of the order of operations."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.is_send = template.is_send
        self.counts = counts = np.diff(template.dep_ptr).astype(np.int32)
        # The operations with many dependencies are few: joins of a phase or an exchange.
        is_wide = counts > _FEW_DEPENDENCIES
        edge = np.flatnonzero(np.repeat(is_wide, counts))
        op = np.repeat(np.flatnonzero(is_wide), counts[is_wide])
        self.wide = np.sort(self._edges(op, template.dep_op[edge], template.dep_on[edge] == EdgeOn.SENT))
        self.path = self._paths()

    def holds(self, entries: _Entries, blocks: int) -> bool:
        """Whether neighbouring reads and writes of every place follow one another."""
        template = self.template
        op_bits = len(template).bit_length()
        ranks_at_once = max(template.ranks * _AT_ONCE // (2 * len(entries.op) + 1), 1)
        src, dst = template.src[entries.op], template.dst[entries.op]
        for first in range(0, template.ranks, ranks_at_once):
            keys = []
            for is_write, rank in enumerate((src, dst)):
                rows = np.flatnonzero((rank >= first) & (rank < first + ranks_at_once))
                place = rank[rows].astype(np.int64) * blocks + entries.block[rows]
                keys.append((place << op_bits | entries.op[rows]) << 1 | is_write)
            key = np.concatenate(keys)
            key.sort()
            place, op = key >> (op_bits + 1), (key >> 1) & ((1 << op_bits) - 1)
            if not self._places_hold(place, op, (key & 1).astype(np.bool_)):
                return False
        return True

    def _places_hold(self, place: Ids, op: Ids, is_write: Flags) -> bool:
        """The same for reads and writes in order of place and number."""
        is_added = is_write & (self.template.combine[op] != Combine.KEEP)
        is_replaced = is_write & ~is_added
        # Runs of reads and runs of additions need no order in themselves; what replaces stands alone.
        begins = np.ones(len(op), dtype=np.bool_)
        begins[1:] = (place[1:] != place[:-1]) | (is_write[1:] != is_write[:-1]) | is_replaced[1:] | is_replaced[:-1]
        run = np.cumsum(begins) - 1
        start = np.append(np.flatnonzero(begins), len(op))
        has_before = np.zeros(len(start) - 1, dtype=np.bool_)
        has_before[1:] = place[start[1:-1]] == place[start[:-2]]
        after = np.flatnonzero(has_before[run])
        if not len(after):
            return True
        later, before = self._joins(op[after]), run[after] - 1
        if (later != op[after]).any():
            # Several that follow one run and wait for one local operation ask the same question.
            asked = np.sort(before * len(self.template) + later)
            asked = asked[np.append(True, asked[1:] != asked[:-1])]
            before, later = np.divmod(asked, len(self.template))
        width = start[before + 1] - start[before]
        if width.sum() > _MOST_QUESTIONS * len(op):
            return False
        each = np.repeat(np.arange(len(before)), width)
        member = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width) + start[before][each]
        return bool(self._follows(op[member], later[each], is_write[member]).all())

    def _joins(self, op: Ids) -> Ids:
        """The local operation that is all an operation waits for, or else the operation itself."""
        template = self.template
        only = op.copy()
        waits = np.flatnonzero(self.counts[op] == 1)
        only[waits] = template.dep_op[template.dep_ptr[op[waits]]]
        return np.where(self.is_send[only], op, only)

    def _follows(self, earlier: Ids, later: Ids, is_arrival: Flags) -> Flags:
        """Whether each ``later`` is known to begin after ``earlier`` was sent, or has arrived where so asked."""
        known: Flags = (self.path[earlier] == self.path[later]) & (earlier < later)
        known |= self._waits_for(later, earlier, is_arrival)
        for slot in range(_FEW_DEPENDENCIES):
            open_ = np.flatnonzero(~known & (self.counts[later] > slot))
            if not len(open_):
                break
            between = self.template.dep_op[self.template.dep_ptr[later[open_]] + slot].astype(np.int64)
            is_local = ~self.is_send[between]
            open_, between = open_[is_local], between[is_local]
            known[open_] |= self._waits_for(between, earlier[open_], is_arrival[open_])
        return known

    def _waits_for(self, later: Ids, earlier: Ids, is_arrival: Flags) -> Flags:
        """Whether each ``later`` has ``earlier`` among its dependencies, at a moment that is enough."""
        template = self.template
        known = np.zeros(len(later), dtype=np.bool_)
        for slot in range(_FEW_DEPENDENCIES):
            rows = np.flatnonzero(self.counts[later] > slot)
            if not len(rows):
                return known
            edge = template.dep_ptr[later[rows]] + slot
            is_it = template.dep_op[edge] == earlier[rows]
            known[rows] |= is_it & (~is_arrival[rows] | (template.dep_on[edge] != EdgeOn.SENT))
        if len(self.wide):
            rows = np.flatnonzero(~known & (self.counts[later] > _FEW_DEPENDENCIES))
            for is_sent_only in (False, True):
                keys = self._edges(later[rows], earlier[rows], np.full(len(rows), is_sent_only))
                at = np.minimum(np.searchsorted(self.wide, keys), len(self.wide) - 1)
                known[rows] |= (self.wide[at] == keys) & ~(is_sent_only & is_arrival[rows])
        return known

    def _edges(self, later: Ids, earlier: NDArray[Any], is_sent_only: Flags) -> Ids:
        return (later.astype(np.int64) << 32) | (earlier.astype(np.int64) << 1) | is_sent_only

    def _paths(self) -> NDArray[np.int32]:
        """The first operation of each one's path: each goes on from what it waits for first, if none did before it."""
        template, ops = self.template, len(self.template)
        before = np.full(ops, -1, dtype=np.int32)
        following = np.full(ops, -1, dtype=np.int32)
        for part in reversed([*_slices(ops)]):
            waits = np.flatnonzero(self.counts[part] > 0) + part.start
            edge = template.dep_ptr[waits]
            is_whole = template.dep_on[edge] != EdgeOn.SENT
            waits, first = waits[is_whole], template.dep_op[edge[is_whole]]
            before[waits] = first
            following[first[::-1]] = waits[::-1]
        path = np.arange(ops, dtype=np.int32)
        goes_on = (before >= 0) & (following[before] == path)
        path[goes_on] = before[goes_on]
        while True:
            further = path[path]
            if np.array_equal(further, path):
                return path
            path = further
