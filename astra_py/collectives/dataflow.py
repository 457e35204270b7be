# SPDX-License-Identifier: GPL-2.0-only
"""The data-flow check: whether a template's messages bring every rank what the collective promises, in any timing.

It needs no network. Operations are followed in order of dependency with, for each block of each rank, the set of ranks
whose contributions are in it. Nothing is taken from luck: a message carries a block only if every message that wrote
that block is an ancestor of it by its dependencies, and a block is written only if whoever sent it before is known to
have sent it.

Blocks by collective, of each chunk: for all_reduce block b is the b-th of equal parts (floor or ceil, the larger
first) of the buffer; for reduce_scatter and all_gather block i is the i-th of n such parts of the array, the segment of
rank i; for all_to_all and all_to_all_v block ``s * n + d`` is what rank s has for rank d; for sendrecv block 0 is the
message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.partition import chunk_payloads, equal_matrix, segment_bytes
from astra_py.collectives.registry import MATRIX_KINDS
from astra_py.collectives.schedule import EdgeOn, Template
from astra_py.errors import CheckError, ConfigError

__all__ = ["check_dataflow"]


@dataclass(frozen=True)
class _Promise:
    """What one chunk of a collective starts from and ends with; sets of ranks are bit masks, keys (rank, block)."""

    block_bytes: list[int]
    at_start: dict[tuple[int, int], int]
    at_end: dict[tuple[int, int], int]
    name: Callable[[int], str]


#: What a rank holds of a chunk: (chunk, rank, block).
_Place = tuple[int, int, int]


def check_dataflow(template: Template, payload: int | NDArray[np.int64]) -> None:
    """Check that a template does what its collective promises, whatever its messages' timing.

    Parameters
    ----------
    template : of all_reduce, reduce_scatter, all_gather, all_to_all, all_to_all_v or sendrecv, with blocks on its
        messages. Its chunks are as :func:`~astra_py.collectives.build_template` makes them.
    payload : the size in bytes, or the byte matrix.

    Raises
    ------
    CheckError : a rank lacks a block or a contribution, has one twice, sends what may not have arrived, or a message's
        size is not that of its blocks; the message names rank, block and operation.
    ConfigError : the promise of this collective is not known.

    Notes
    -----
    Work grows with the square of the number of messages where dependencies are deep. A message that is combined counts
    as added on arrival; an exchange in place, where two ranks add into the buffer that they are still sending from, is
    therefore refused.
    """
    flow = _Flow(template, _promises(template, payload))
    for op in range(len(template)):
        flow.follow(op)
    for chunk, promise in enumerate(flow.promises):
        for (rank, block), wanted in promise.at_end.items():
            held = flow.content.get((chunk, rank, block), 0)
            if not held:
                raise flow.error(f"rank {rank} ends without {flow.name(chunk, block)}")
            if held != wanted:
                lacking = _ranks(wanted & ~held)
                raise flow.error(
                    f"rank {rank} ends with {flow.name(chunk, block)} lacking the contribution of {lacking}"
                )


class _Flow:
    """Contents and history of every place while operations are followed."""

    def __init__(self, template: Template, promises: list[_Promise]) -> None:
        self.template = template
        self.promises = promises
        self.content: dict[_Place, int] = {
            (chunk, *key): mask for chunk, promise in enumerate(promises) for key, mask in promise.at_start.items()
        }
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
        block_bytes = self.promises[chunk].block_bytes
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
            self._write(op, (chunk, dst, block), mask, ended, started, what)
        for block in blocks:
            self.readers.setdefault((chunk, src, block), []).append(op)

    def _write(self, op: int, place: _Place, mask: int, ended: int, started: int, what: str) -> None:
        chunk, dst, block = place
        is_combined = self.combine[op]
        for reader in self.readers.get(place, ()):
            if not started >> reader & 1:
                raise self.error(
                    f"{what}: changes {self.name(chunk, block)} of rank {dst}, which operation {reader} may not have "
                    "sent yet"
                )
        writers = self.writers.setdefault(place, [])
        for writer in writers:
            if not (is_combined and self.combine[writer]) and not ended >> writer & 1:
                raise self.error(
                    f"{what}: writes {self.name(chunk, block)} of rank {dst} in no certain order with operation "
                    f"{writer}"
                )
        held = self.content.get(place, 0)
        if is_combined and held & mask:
            raise self.error(
                f"{what}: adds the contribution of {_ranks(held & mask)} to {self.name(chunk, block)} of rank {dst} "
                "twice"
            )
        self.content[place] = held | mask if is_combined else mask
        writers.append(op)


def _promises(template: Template, payload: int | NDArray[np.int64]) -> list[_Promise]:
    """The promise of each chunk, of as many as the template has; chunks of no bytes at the end make no difference."""
    n = template.ranks
    if template.collective in MATRIX_KINDS and isinstance(payload, int):
        payload = equal_matrix(payload, n)
    parts = [payload]
    chunks = int(template.chunk.max(initial=0)) + 1
    if chunks > 1:
        parts = [*chunk_payloads(payload, chunks, n)]
    if len(parts) < chunks:
        raise CheckError(
            f"{template.collective} {template.algorithm}, {n} ranks: {chunks} chunks, and its bytes make {len(parts)}"
        )
    return [_promise(template, part, template.chunk == chunk) for chunk, part in enumerate(parts)]


def _promise(template: Template, payload: int | NDArray[np.int64], is_in_chunk: NDArray[np.bool_]) -> _Promise:
    n = template.ranks
    everyone = (1 << n) - 1
    if template.collective == "all_reduce" and isinstance(payload, int):
        # Parts of a buffer smaller than the number of parts are 1 byte or none, however many parts there are.
        blocks = template.block[np.repeat(is_in_chunk, np.diff(template.block_ptr))]
        parts = max(int(blocks.max(initial=0)) + 1, 1)
        sizes = segment_bytes(payload, parts).tolist()
        return _Promise(
            block_bytes=sizes,
            at_start={(rank, part): 1 << rank for rank in range(n) for part in range(parts)},
            at_end={(rank, part): everyone for rank in range(n) for part in range(parts) if sizes[part]},
            name=lambda part: f"segment {part}",
        )
    if template.collective == "reduce_scatter" and isinstance(payload, int):
        sizes = segment_bytes(payload, n).tolist()
        return _Promise(
            block_bytes=sizes,
            at_start={(rank, part): 1 << rank for rank in range(n) for part in range(n)},
            at_end={(rank, rank): everyone for rank in range(n) if sizes[rank]},
            name=lambda part: f"segment {part}",
        )
    if template.collective == "all_gather" and isinstance(payload, int):
        sizes = segment_bytes(payload, n).tolist()
        return _Promise(
            block_bytes=sizes,
            at_start={(rank, rank): 1 << rank for rank in range(n)},
            at_end={(rank, part): 1 << part for rank in range(n) for part in range(n) if sizes[part]},
            name=lambda part: f"segment {part}",
        )
    if template.collective in MATRIX_KINDS and not isinstance(payload, int):
        matrix = payload
        pairs = [(s, d) for s in range(n) for d in range(n)]
        return _Promise(
            block_bytes=np.asarray(matrix, dtype=np.int64).ravel().tolist(),
            at_start={(s, s * n + d): 1 << s for s, d in pairs},
            at_end={(d, s * n + d): 1 << s for s, d in pairs if matrix[s, d]},
            name=lambda block: f"the block of rank {block // n} for rank {block % n}",
        )
    if template.collective == "sendrecv" and isinstance(payload, int):
        return _Promise(
            block_bytes=[payload],
            at_start={(0, 0): 1},
            at_end={(rank, 0): 1 for rank in range(n)},
            name=lambda block: "the message",
        )
    raise ConfigError(
        f"the data flow of {template.collective} with a {type(payload).__name__} is not known to the check; it knows "
        "all_reduce, reduce_scatter, all_gather and sendrecv with a size, all_to_all with a size or matrix, "
        "all_to_all_v with a matrix"
    )


def _split(ptr: NDArray[np.int64], values: NDArray[np.integer[Any]]) -> list[list[int]]:
    """Compressed rows as lists."""
    bounds, flat = ptr.tolist(), values.tolist()
    return [flat[a:b] for a, b in pairwise(bounds)]


def _ranks(mask: int) -> str:
    ranks: Iterable[int] = (rank for rank in range(mask.bit_length()) if mask >> rank & 1)
    return "rank " + ", ".join(map(str, ranks))
