# SPDX-License-Identifier: GPL-2.0-only
"""The data-flow check: whether a template's messages bring every rank what the collective promises, in any timing.

It needs no network. Operations are followed in order of dependency with, for each block of each rank, the set of ranks
whose contributions are in it. Nothing is taken from luck: a message carries a block only if every message that wrote
that block is an ancestor of it by its dependencies, and a block is written only if whoever sent it before is known to
have sent it.

What a block is in each collective, :mod:`astra_py.collectives.promises` says. Templates of a million messages are first
tried by :mod:`astra_py.collectives.flow_proof`, which knows whole arrays of them to be right; what it does not know is
followed here, one operation after another, and what is wrong is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.flow_proof import is_proven
from astra_py.collectives.promises import EVERYONE, Promise, promises_of
from astra_py.collectives.schedule import Combine, EdgeOn, Template
from astra_py.collectives.views import data_views
from astra_py.errors import CheckError, ConfigError
from astra_py.workloads.calls import Payload

__all__ = ["check_dataflow"]


#: What a rank holds of a chunk: (chunk, rank, block).
_Place = tuple[int, int, int]


def check_dataflow(template: Template, payload: Payload | None = None) -> None:
    """Check that a template does what its collective promises, whatever its messages' timing.

    Parameters
    ----------
    template : with blocks on its messages. Its chunks are as :func:`~astra_py.collectives.build_template` makes them.
    payload : the size in bytes, the byte matrix, or the flows; what it was made for where None.

    Raises
    ------
    CheckError : a rank lacks a block or a contribution, has one twice, sends what may not have arrived, or a message's
        size is not that of its blocks; the message names rank, block and operation.
    ConfigError : the promise of this collective is not known, or the template was made by hand and no payload is given.

    Notes
    -----
    A message that is added (``Combine.ADD``) counts as added on arrival, so that nothing may be sent from there at the
    same time. In an exchange (``Combine.EXCHANGE``) it lies beside, and is added for whoever waits for it and for all
    that its rank has sent from there before. Of a message with control bytes only the others are looked at, and of a
    template with choices every alternative.
    """
    payload = template.payload if payload is None else payload
    if payload is None:
        raise ConfigError(f"{template.collective} {template.algorithm}: give the payload that this template is for")
    for view in data_views(template):
        promises = promises_of(view, payload)
        if is_proven(view, promises):
            continue
        flow = _Flow(view, promises)
        for op in range(len(view)):
            flow.follow(op)
        flow.require_promises()


class _Flow:
    """Contents and history of every place while operations are followed."""

    def __init__(self, template: Template, promises: list[Promise]) -> None:
        self.template = template
        self.promises = promises
        self.block_bytes = [promise.block_bytes.tolist() for promise in promises]
        self.content: dict[_Place, int] = {
            (chunk, rank, block): 1 << rank
            for chunk, promise in enumerate(promises)
            for rank, block in zip(promise.start_rank.tolist(), promise.start_block.tolist(), strict=True)
        }
        self.beside: dict[_Place, list[tuple[int, int]]] = {}
        self.writers: dict[_Place, list[int]] = {}
        self.readers: dict[_Place, list[int]] = {}
        # Ancestors as bit masks over operations: those that have ended (their data is there), and those that have
        # started. A mask is dropped after its last dependant, which keeps memory to the operations in flight.
        self.ended: dict[int, int] = {}
        self.started: dict[int, int] = {}
        last_use = np.full(len(template), -1, dtype=np.int64)
        op = np.repeat(np.arange(len(template)), np.diff(template.dep_ptr))
        np.maximum.at(last_use, template.dep_op, op)
        self.last_use: list[int] = last_use.tolist()
        # Single elements are read one by one below, which is several times faster from lists.
        self.is_send: list[bool] = template.is_send.tolist()
        self.deps = _split(template.dep_ptr, template.dep_op)
        self.moments = _split(template.dep_ptr, template.dep_on)
        self.blocks = _split(template.block_ptr, template.block)
        self.combine: list[int] = template.combine.tolist()
        self.chunks: list[int] = template.chunk.tolist()

    def error(self, what: str) -> CheckError:
        return CheckError(f"{self.template.collective} {self.template.algorithm}, {self.template.ranks} ranks: {what}")

    def name(self, chunk: int, block: int) -> str:
        name = self.promises[chunk].name(block)
        return name if len(self.promises) == 1 else f"{name} in chunk {chunk}"

    def require_promises(self) -> None:
        """Compare what every rank ends with to what it was promised."""
        everyone = (1 << self.template.ranks) - 1
        for chunk, promise in enumerate(self.promises):
            columns = (promise.end_rank, promise.end_block, promise.end_from)
            for rank, block, source in zip(*(column.tolist() for column in columns), strict=True):
                place = (chunk, rank, block)
                held = self._added(place, self.content.get(place, 0), self.beside.get(place, ()), "the end")
                wanted = everyone if source == EVERYONE else 1 << source
                if not held:
                    raise self.error(f"rank {rank} ends without {self.name(chunk, block)}")
                if held != wanted:
                    lacking = _ranks(wanted & ~held)
                    raise self.error(
                        f"rank {rank} ends with {self.name(chunk, block)} lacking the contribution of {lacking}"
                    )

    def follow(self, op: int) -> None:
        """Follow one operation, all of whose predecessors have been followed."""
        ended, started = self._ancestors(op)
        if self.is_send[op]:
            self._send(op, ended, started)

    def _ancestors(self, op: int) -> tuple[int, int]:
        ended = started = 0
        for before, moment in zip(self.deps[op], self.moments[op], strict=True):
            ended |= self.ended[before]
            started |= self.started[before] | 1 << before
            if not self.is_send[before] or moment != EdgeOn.SENT:
                ended |= 1 << before
        for before in self.deps[op]:
            if self.last_use[before] == op:
                self.ended.pop(before, None)
                self.started.pop(before, None)
        if self.last_use[op] >= 0:
            self.ended[op], self.started[op] = ended, started
        return ended, started

    def _send(self, op: int, ended: int, started: int) -> None:
        chunk, blocks = self.chunks[op], self.blocks[op]
        block_bytes = self.block_bytes[chunk]
        src, dst = int(self.template.src[op]), int(self.template.dst[op])
        size_bytes = int(self.template.size_bytes[op])
        what = f"operation {op}, rank {src} to {dst}"
        if not blocks and size_bytes:
            raise self.error(
                f"{what}: {size_bytes} bytes, and it is not said which blocks of the data it carries: name them, "
                "send(..., blocks=...), with combine=True where the receiver adds them to its own"
            )
        if any(not 0 <= block < len(block_bytes) for block in blocks):
            raise self.error(f"{what}: blocks {blocks}, of which there are {len(block_bytes)}")
        carried = sum(block_bytes[block] for block in blocks)
        if carried != size_bytes:
            raise self.error(f"{what}: {size_bytes} bytes, and its blocks have {carried}")
        for block in blocks:
            mask = self.content.get((chunk, src, block), 0)
            if not mask:
                raise self.error(f"{what}: rank {src} sends {self.name(chunk, block)}, which it does not hold")
            for writer in self.writers.get((chunk, src, block), ()):
                if not ended >> writer & 1:
                    raise self.error(
                        f"{what}: rank {src} sends {self.name(chunk, block)} and may not have got operation {writer} "
                        "yet"
                    )
            mask = self._with_exchanged(op, (chunk, src, block), mask, ended, started, what)
            self._write(op, (chunk, dst, block), mask, ended, started, what)
        for block in blocks:
            self.readers.setdefault((chunk, src, block), []).append(op)

    def _with_exchanged(self, op: int, place: _Place, mask: int, ended: int, started: int, what: str) -> int:
        """Add to what a rank sends from a place what lies beside it and has arrived; all sent before must be away."""
        arrived = [(writer, brought) for writer, brought in self.beside.get(place, ()) if ended >> writer & 1]
        if arrived:
            for reader in self.readers.get(place, ()):
                if not started >> reader & 1:
                    raise self.error(
                        f"{what}: sends {self.name(place[0], place[2])} with what operation {arrived[0][0]} brought, "
                        f"and may not have sent its own in operation {reader} yet"
                    )
        return self._added(place, mask, arrived, what)

    def _added(self, place: _Place, mask: int, brought: Iterable[tuple[int, int]], what: str) -> int:
        for _, more in brought:
            if mask & more:
                raise self._twice(what, place, mask & more)
            mask |= more
        return mask

    def _twice(self, what: str, place: _Place, ranks: int) -> CheckError:
        chunk, rank, block = place
        return self.error(
            f"{what}: adds the contribution of {_ranks(ranks)} to {self.name(chunk, block)} of rank {rank} twice"
        )

    def _write(self, op: int, place: _Place, mask: int, ended: int, started: int, what: str) -> None:
        chunk, dst, block = place
        combine = self.combine[op]
        if combine != Combine.EXCHANGE:
            for reader in self.readers.get(place, ()):
                if not started >> reader & 1:
                    raise self.error(
                        f"{what}: changes {self.name(chunk, block)} of rank {dst}, which operation {reader} may not "
                        "have sent yet"
                    )
        writers = self.writers.setdefault(place, [])
        beside = self.beside.setdefault(place, []) if combine == Combine.EXCHANGE else self.beside.get(place, [])
        for writer in [*writers, *(writer for writer, _ in beside)]:
            if not (combine and self.combine[writer]) and not ended >> writer & 1:
                raise self.error(
                    f"{what}: writes {self.name(chunk, block)} of rank {dst} in no certain order with operation "
                    f"{writer}"
                )
        held = self.content.get(place, 0)
        if combine == Combine.EXCHANGE:
            beside.append((op, mask))
            return
        if combine and held & mask:
            raise self._twice(what, place, held & mask)
        if not combine:
            beside.clear()
        self.content[place] = held | mask if combine else mask
        writers.append(op)


def _split(ptr: NDArray[np.int64], values: NDArray[np.integer[Any]]) -> list[list[int]]:
    """Compressed rows as lists."""
    bounds, flat = ptr.tolist(), values.tolist()
    return [flat[a:b] for a, b in pairwise(bounds)]


def _ranks(mask: int) -> str:
    ranks: Iterable[int] = (rank for rank in range(mask.bit_length()) if mask >> rank & 1)
    return "rank " + ", ".join(map(str, ranks))
