# SPDX-License-Identifier: GPL-2.0-only
"""What each collective promises: which blocks every rank begins with, and whose data it must end with.

Blocks by collective, of each chunk. all_reduce, broadcast and reduce: block b is the b-th of equal parts (floor or
ceil, the larger first) of the buffer, of as many as the messages name. reduce_scatter, all_gather, gather and scatter:
block i is the i-th of n such parts of the array, the segment of rank i; where the messages name more blocks than n, the
segments are cut in parts once more, and block j n + i is the j-th part of segment i. all_to_all and all_to_all_v: block
``s * n + d`` is what rank s has for rank d, of n * n that may be cut in the same way. barrier: block i is the news that
rank i has come, of 0 bytes. sendrecv: block 0 is the message. flows: block i is flow i. The root of broadcast, reduce,
gather and scatter is member 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.partition import chunk_payloads, equal_matrix, segment_bytes
from astra_py.collectives.registry import MATRIX_KINDS
from astra_py.collectives.schedule import Template
from astra_py.errors import CheckError, ConfigError
from astra_py.workloads.calls import Payload
from astra_py.workloads.flows import FlowList

__all__ = ["EVERYONE", "Promise", "promises_of"]

Column = NDArray[np.int64]
Ids = NDArray[np.int32]
Places = tuple[NDArray[Any], NDArray[Any]]

#: In ``Promise.end_from``: the contributions of all ranks.
EVERYONE = -1

#: Kinds whose buffer may be cut into any number of parts.
_ANY_PARTS = ("all_reduce", "broadcast", "reduce")
_BY_SEGMENT = ("reduce_scatter", "all_gather", "gather", "scatter")


@dataclass(frozen=True, eq=False)
class Promise:
    """One chunk of a collective; places are pairs of a rank and a block.

    Attributes
    ----------
    block_bytes : i64[blocks].
    start_rank, start_block : i32, what is there at the beginning, each place with the contribution of its own rank.
    end_rank, end_block : i32, what has to be there at the end.
    end_from : the rank whose contribution each of those has to have, or :data:`EVERYONE`.
    name : what an error calls a block.
    """

    block_bytes: Column
    start_rank: Ids
    start_block: Ids
    end_rank: Ids
    end_block: Ids
    end_from: Ids
    name: Callable[[int], str]


def promises_of(template: Template, payload: Payload) -> list[Promise]:
    """The promise of each chunk, of as many as the template has; chunks of no bytes at the end make no difference.

    Raises
    ------
    CheckError : the template has more chunks than its bytes make.
    ConfigError : the promise of this collective with such a payload is not known.
    """
    n = template.ranks
    if isinstance(payload, FlowList):
        return [_flows(payload)]
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
    return [_promise(template, part, chunk if chunks > 1 else None) for chunk, part in enumerate(parts)]


def _promise(template: Template, payload: int | NDArray[np.int64], chunk: int | None) -> Promise:
    n, kind = template.ranks, template.collective
    if kind in MATRIX_KINDS and not isinstance(payload, int):
        return _exchange(n, payload, _layers(template, chunk, n * n))
    if isinstance(payload, int):
        if kind in _ANY_PARTS:
            return _parts(template, payload, chunk)
        if kind in _BY_SEGMENT:
            return _segments(kind, segment_bytes(payload, n), _layers(template, chunk, n))
        if kind == "barrier":
            return _segments("all_gather", np.zeros(n, dtype=np.int64), is_news=True)
        if kind == "sendrecv":
            return _new(
                [payload], (_ids(0), _ids(0)), _everywhere(n, 1), np.zeros(n, np.int64), lambda block: "the message"
            )
    raise ConfigError(
        f"the data flow of {kind} with a {type(payload).__name__} is not known to the check; all_to_all_v takes a "
        "matrix, all_to_all a size or a matrix, and all others a size"
    )


def _parts(template: Template, size_bytes: int, chunk: int | None) -> Promise:
    """A buffer cut into as many parts as its messages name."""
    n, kind = template.ranks, template.collective
    # Parts of a buffer smaller than the number of parts are 1 byte or none, however many parts there are.
    parts = max(int(_blocks(template, chunk).max(initial=0)) + 1, 1)
    everywhere, at_root = _everywhere(n, parts), (np.zeros(parts, dtype=np.int64), np.arange(parts))
    start = at_root if kind == "broadcast" else everywhere
    end = at_root if kind == "reduce" else everywhere
    source = 0 if kind == "broadcast" else EVERYONE
    return _new(segment_bytes(size_bytes, parts), start, end, np.full(len(end[0]), source), _segment_namer(parts, 1))


def _layers(template: Template, chunk: int | None, whole: int) -> int:
    """Into how many parts the messages cut each of the ``whole`` blocks that there are at least."""
    return max(int(_blocks(template, chunk).max(initial=0)) // whole + 1, 1)


def _blocks(template: Template, chunk: int | None) -> NDArray[np.int32]:
    if chunk is None:
        return template.block
    of_chunk: NDArray[np.int32] = template.block[np.repeat(template.chunk == chunk, np.diff(template.block_ptr))]
    return of_chunk


def _segments(kind: str, sizes: Column, layers: int = 1, *, is_news: bool = False) -> Promise:
    """An array whose segment i is rank i's, and block j * n + i part j of it."""
    n = len(sizes)
    block, rank = np.arange(layers * n), np.tile(np.arange(n), layers)
    everywhere, own, at_root = _everywhere(n, layers * n), (rank, block), (np.zeros_like(block), block)
    start, end, source = {
        "reduce_scatter": (everywhere, own, np.full(layers * n, EVERYONE)),
        "all_gather": (own, everywhere, everywhere[1] % n),
        "gather": (own, at_root, rank),
        "scatter": (at_root, own, np.zeros_like(block)),
    }[kind]
    return _new(
        _cut(sizes, layers), start, end, source, _news_name if is_news else _segment_namer(n, layers), is_news=is_news
    )


def _exchange(n: int, matrix: NDArray[np.int64], layers: int) -> Promise:
    src, dst = (np.tile(column, layers) for column in _everywhere(n, n))
    block = np.arange(layers * n * n, dtype=np.int32)

    def name(block: int) -> str:
        part, pair = divmod(block, n * n)
        whole = f"the block of rank {pair // n} for rank {pair % n}"
        return whole if layers == 1 else f"part {part} of {whole}"

    return _new(_cut(np.asarray(matrix, dtype=np.int64).ravel(), layers), (src, block), (dst, block), src, name)


def _flows(flows: FlowList) -> Promise:
    block = np.arange(len(flows))
    return _new(flows.size_bytes, (flows.src, block), (flows.dst, block), flows.src, lambda block: f"flow {block}")


def _cut(sizes: Column, layers: int) -> Column:
    """Sizes of all parts, those of one layer after the other, each floor or ceil of its whole, the larger first."""
    floor, larger = np.divmod(sizes, layers)
    parts: Column = (floor + (np.arange(layers)[:, np.newaxis] < larger)).ravel()
    return parts


def _new(
    block_bytes: Column | list[int],
    start: Places,
    end: Places,
    source: NDArray[Any],
    name: Callable[[int], str],
    *,
    is_news: bool = False,
) -> Promise:
    """A promise of integers; blocks of 0 bytes are promised to nobody, unless they are news."""
    sizes = np.asarray(block_bytes, dtype=np.int64)
    end_rank, end_block, end_from = (np.asarray(column, dtype=np.int32) for column in (*end, source))
    if not is_news and not sizes.all():
        is_due = sizes[end_block] > 0
        end_rank, end_block, end_from = end_rank[is_due], end_block[is_due], end_from[is_due]
    start_rank, start_block = (np.asarray(column, dtype=np.int32) for column in start)
    return Promise(sizes, start_rank, start_block, end_rank, end_block, end_from, name)


def _everywhere(ranks: int, blocks: int) -> Places:
    return np.repeat(np.arange(ranks, dtype=np.int32), blocks), np.tile(np.arange(blocks, dtype=np.int32), ranks)


def _ids(*values: int) -> Column:
    return np.array(values, dtype=np.int64)


def _segment_namer(segments: int, layers: int) -> Callable[[int], str]:
    if layers == 1:
        return lambda block: f"segment {block}"
    return lambda block: f"part {block // segments} of segment {block % segments}"


def _news_name(block: int) -> str:
    return f"the news of rank {block}"
