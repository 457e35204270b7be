# SPDX-License-Identifier: GPL-2.0-only
"""The collectives of a DLRM's training loop, as calls of a Trace.

Calls of equal batches share their byte matrices, over micro-batches and iterations.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.astra_text import PASSES
from astra_py.workloads.calls import MAX_PRIORITY, CollectiveCall
from astra_py.workloads.dlrm.buckets import Bucket
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.trace_builder import Ids, TraceBuilder

__all__ = ["Communication", "VectorExchange"]

FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT = PASSES

#: Indices go after vectors and gradients, which are waited for, and before all-reduces, which have until the next
#: iteration.
INDEX_PRIORITY = MAX_PRIORITY - 1


class Communication:
    """Issues collectives into a Trace.

    Parameters
    ----------
    build : the Trace, of as many ranks as the plan.
    source : where the model comes from, as error messages begin.
    stream : stream of a rank in which all its collectives go one after another, as they are issued; None for none. The
        order is that of the calls on every rank: one of readiness would differ where ranks take part in different
        collectives, and ranks that wait for each other in different orders wait for ever.
    """

    def __init__(self, build: TraceBuilder, source: str, stream: str | None) -> None:
        self.build = build
        self.all_ranks = tuple(range(build.ranks))
        self._source = source
        self._stream = stream
        self._previous = np.full(build.ranks, -1, dtype=np.int64)

    def reduce(self, bucket: Bucket, iteration: int, after: Ids | None) -> Ids:
        """Issue the all-reduce of a bucket of gradients; its end on each rank."""
        call = self._call(
            f"{bucket.name}.weight_gradient",
            "all_reduce",
            iteration,
            dtype=bucket.dtype,
            size_bytes=bucket.size_bytes,
        )
        return self._issue(call, WEIGHT_GRADIENT, [after])

    def send_indices(self, matrix: NDArray[np.int64], dtype: str, iteration: int, after: Ids | None) -> list[Ids]:
        """Issue the all-to-all-v of an iteration's indices and lengths; its end, or nothing where none are sent."""
        return self.exchange("embedding.indices", matrix, dtype, iteration, FORWARD, [after], priority=INDEX_PRIORITY)

    def exchange(
        self,
        name: str,
        matrix: NDArray[np.int64],
        dtype: str,
        iteration: int,
        phase: str,
        after: list[Ids | None],
        priority: int = MAX_PRIORITY,
    ) -> list[Ids]:
        """Issue an all-to-all-v of all ranks; its end, or nothing where its matrix is empty."""
        if not matrix.any():
            return []
        call = self._call(name, "all_to_all_v", iteration, dtype=dtype, matrix=matrix, priority=priority)
        return [self._issue(call, phase, after)]

    def among(
        self,
        holders: NDArray[np.int64],
        name: str,
        kind: str,
        size_bytes: int,
        dtype: str,
        iteration: int,
        phase: str,
        after: list[Ids | None],
    ) -> list[Ids]:
        """Issue a collective of some ranks; its end, -1 on the others, or nothing where one rank has it all."""
        if len(holders) == 1:
            return []
        group = tuple(holders.tolist())
        call = self._call(name, kind, iteration, group=group, dtype=dtype, size_bytes=size_bytes, priority=MAX_PRIORITY)
        end = np.full(len(self.all_ranks), -1, dtype=np.int64)
        end[holders] = self._issue(call, phase, [None if ids is None else ids[holders] for ids in after])
        return [end]

    def _call(
        self,
        name: str,
        kind: str,
        iteration: int,
        *,
        dtype: str,
        group: tuple[int, ...] | None = None,
        size_bytes: int | None = None,
        matrix: NDArray[np.int64] | None = None,
        priority: int = 0,
    ) -> CollectiveCall:
        return CollectiveCall(
            name=name,
            kind=kind,
            group=self.all_ranks if group is None else group,
            size_bytes=size_bytes,
            matrix=matrix,
            dtype=dtype,
            priority=priority,
            iteration=iteration,
            source=self._source,
        )

    def _issue(self, call: CollectiveCall, phase: str, after: list[Ids | None]) -> Ids:
        if self._stream is None:
            return self.build.collective(call, after=after, phase=phase)
        members = np.array(call.group)
        after = [*after, self._previous[members]]
        end = self.build.collective(call, after=after, phase=phase, stream=self._stream)
        self._previous[members] = end
        return end


class VectorExchange:
    """The exchanges of pooled vectors and of their gradients, of one batch.

    Parameters
    ----------
    exchanges : their bytes.
    """

    def __init__(self, exchanges: Exchanges) -> None:
        self._exchanges = exchanges
        self._dtypes = exchanges.model.dtypes

    def forward(self, way: Communication, suffix: str, iteration: int, after: Ids) -> list[Ids]:
        """Issue what brings each rank the vectors of its samples; the ends that it waits for."""
        dtype = self._dtypes.forward_all_to_all
        ends = way.exchange(f"embedding.pooled{suffix}", self._pooled, dtype, iteration, FORWARD, [after])
        scattered: list[Ids] = []
        for group, size_bytes in self._scattered:
            name = f"embedding.partial_sums{suffix}"
            scattered += way.among(group, name, "reduce_scatter", size_bytes, dtype, iteration, FORWARD, [after])
        name = f"embedding.sums{suffix}"
        passed_on = way.exchange(name, self._sums, dtype, iteration, FORWARD, [after, *scattered])
        return [*ends, *scattered, *passed_on]

    def backward(self, way: Communication, suffix: str, iteration: int, after: Ids) -> list[Ids]:
        """Issue what brings each shard the gradients of its vectors; the ends that its update waits for."""
        dtype = self._dtypes.backward_all_to_all
        phase = INPUT_GRADIENT
        ends = way.exchange(f"embedding.gradients{suffix}", self._gradients, dtype, iteration, phase, [after])
        name = f"embedding.sum_gradients{suffix}"
        returned = way.exchange(name, self._sum_gradients, dtype, iteration, phase, [after])
        for group, size_bytes in self._gathered:
            name = f"embedding.gathered_gradients{suffix}"
            ends += way.among(group, name, "all_gather", size_bytes, dtype, iteration, phase, [after, *returned])
        return [*ends, *returned]

    @cached_property
    def _pooled(self) -> NDArray[np.int64]:
        return _kept(self._exchanges.pooled())

    @cached_property
    def _gradients(self) -> NDArray[np.int64]:
        return _kept(self._exchanges.gradients())

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        return _kept(self._exchanges.sums())

    @cached_property
    def _sum_gradients(self) -> NDArray[np.int64]:
        return _kept(self._exchanges.sum_gradients())

    @cached_property
    def _scattered(self) -> list[tuple[NDArray[np.int64], int]]:
        return [(group.holders, self._exchanges.scattered(group)) for group in self._exchanges.groups]

    @cached_property
    def _gathered(self) -> list[tuple[NDArray[np.int64], int]]:
        return [(group.holders, self._exchanges.gathered(group)) for group in self._exchanges.groups]


def _kept(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make a matrix read-only, so that calls share it."""
    matrix.flags.writeable = False
    return matrix
