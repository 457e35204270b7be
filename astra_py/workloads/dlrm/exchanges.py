# SPDX-License-Identifier: GPL-2.0-only
"""What the ranks of a sharded DLRM send each other for one batch, in bytes.

Row s, column d of a matrix is what rank s sends to rank d. With b samples a rank, and of each shard its lookups, dims
and the bytes of an element on the wire:

- *indices*: s has b samples and d has shards: the rows to look up in each, and how many there are of each sample. A
  table of k column shards is sent k times; of one divided by rows each shard gets the indices of its own rows, and
  lengths of all samples;
- *pooled*: s has whole rows (table-wise, column-wise) and d has b samples: ``b x sum of the dims on s x bytes``;
- *gradients*: the way back of the pooled vectors, the transpose in their own element type;
- *sums* and *sum gradients*: the same for tables divided by rows, from the ranks that add them up
  (:mod:`~astra_py.workloads.dlrm.row_groups`);
- data-parallel tables send nothing but their gradients, in an all-reduce of ``rows x dim x bytes``.

So each rank receives ``b x sum of all dims x bytes`` of vectors, its own tables' part included, which never travels;
what it sends depends on the shards that it holds. A rank without any sends indices and gradients, and receives
vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.calls import MOST_BYTES
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import DenseLayer, DlrmModel, EmbeddingTable
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.row_groups import RowGroup, row_groups
from astra_py.workloads.dlrm.sharding import Sharding

__all__ = ["VOLUMES", "Exchanges"]

I64 = NDArray[np.int64]

#: How the bytes of vectors are counted. MAD-Max's way is no exchange that a DLRM makes: all rows looked up for a rank's
#: samples, un-pooled, in 4 bytes an element, over the number of ranks, and as much from each rank to each. It meets the
#: published times of ZionEX on 8 and on 128 accelerators (Hsia et al., ISCA 2024).
VOLUMES = ("pooled", "mad_max")
_MAD_MAX_ELEMENT_BYTES = 4


@dataclass(frozen=True, eq=False)
class Exchanges:
    """The byte matrices of a plan, and the sizes of its other collectives.

    Parameters
    ----------
    plan : which rank holds which part of which table.
    scale : factor on all bytes, rounded to nearest; what has bytes keeps at least one.
    batch : i64[ranks], samples of each rank; the model's local batch where None.
    volumes : one of :data:`VOLUMES`.
    """

    plan: Plan
    scale: float = 1.0
    batch: I64 | None = None
    volumes: str = "pooled"

    @property
    def model(self) -> DlrmModel:
        """The plan's model."""
        return self.plan.model

    @cached_property
    def samples(self) -> I64:
        """i64[ranks]: samples of each rank."""
        return np.full(self.plan.ranks, self.model.local_batch) if self.batch is None else self.batch

    @cached_property
    def groups(self) -> tuple[RowGroup, ...]:
        """The ranks that hold rows of tables together; none in MAD-Max's volumes, which know one exchange."""
        return row_groups(self.plan) if self.volumes == "pooled" else ()

    @cached_property
    def replicated(self) -> tuple[EmbeddingTable, ...]:
        """Tables that every rank has whole."""
        pairs = zip(self.model.tables, self.plan.sharding, strict=True)
        return tuple(table for table, sharding in pairs if sharding == Sharding.DATA_PARALLEL)

    @cached_property
    def dims(self) -> I64:
        """i64[ranks]: elements of the vectors that a rank has whole for a sample of another."""
        plan = self.plan
        return plan.per_rank(np.where(plan.is_data_parallel | plan.is_by_rows, 0, plan.dims))

    def indices(self) -> I64:
        """i64[ranks, ranks]: bytes of indices and lengths."""
        batches, of_rank = np.unique(self.samples, return_inverse=True)
        return np.stack([self._asked(int(samples)) for samples in batches])[of_rank]

    def pooled(self) -> I64:
        """i64[ranks, ranks]: bytes of pooled vectors that one rank has whole."""
        if self.volumes == "mad_max":
            return np.tile(self._unpooled(), (self.plan.ranks, 1))
        return self._vectors(self.model.dtypes.forward_all_to_all)

    def gradients(self) -> I64:
        """i64[ranks, ranks]: bytes of the gradients of :meth:`pooled`."""
        if self.volumes == "mad_max":
            return np.tile(self._unpooled()[:, np.newaxis], (1, self.plan.ranks))
        return np.ascontiguousarray(self._vectors(self.model.dtypes.backward_all_to_all).T)

    def sums(self) -> I64:
        """i64[ranks, ranks]: bytes of vectors added up by a group's holders, for ranks outside it."""
        return self._passed_on(self.model.dtypes.forward_all_to_all)

    def sum_gradients(self) -> I64:
        """i64[ranks, ranks]: bytes of the gradients of :meth:`sums`."""
        return np.ascontiguousarray(self._passed_on(self.model.dtypes.backward_all_to_all).T)

    def scattered(self, group: RowGroup) -> int:
        """Bytes of the whole array that a group's holders reduce-scatter forward."""
        return self._array(group, self.model.dtypes.forward_all_to_all)

    def gathered(self, group: RowGroup) -> int:
        """Bytes of the whole array that a group's holders all-gather backward."""
        return self._array(group, self.model.dtypes.backward_all_to_all)

    def dense(self, layer: DenseLayer) -> int:
        """Bytes of a dense layer's weight gradient."""
        return self._scaled_size(layer.weights * DTYPE_BYTES[self.model.dtypes.weights])

    def replica(self, table: EmbeddingTable) -> int:
        """Bytes of a data-parallel table's gradient."""
        return self._scaled_size(table.memory_bytes)

    def _asked(self, samples: int) -> I64:
        """i64[ranks]: bytes of indices and lengths that a rank of some samples sends to each rank."""
        plan, dtypes = self.plan, self.model.dtypes
        asked = plan.lookups(samples) * DTYPE_BYTES[dtypes.indices] + samples * DTYPE_BYTES[dtypes.lengths]
        return self._scaled(plan.per_rank(np.where(plan.is_data_parallel, 0, asked)))

    def _vectors(self, dtype: str) -> I64:
        return self._scaled(np.multiply.outer(self.dims * DTYPE_BYTES[dtype], self.samples))

    def _unpooled(self) -> I64:
        """i64[ranks]: bytes of each rank's samples' looked-up rows, from each rank."""
        batches, of_rank = np.unique(self.samples, return_inverse=True)
        share = Fraction(_MAD_MAX_ELEMENT_BYTES, self.plan.ranks**2)
        elements = [sum(table.lookups(int(b)) * table.dim for table in self.model.tables) for b in batches]
        return self._scaled(np.array([round(count * share) for count in elements], dtype=np.int64))[of_rank]

    def _passed_on(self, dtype: str) -> I64:
        matrix = np.zeros((self.plan.ranks, self.plan.ranks), dtype=np.int64)
        for group in self.groups:
            if len(group.holders) < self.plan.ranks:
                self._require(group.array_bytes(self.samples, DTYPE_BYTES[dtype]))
                others, sent = group.passed_on(self.samples, DTYPE_BYTES[dtype])
                matrix[np.ix_(group.holders, others)] += sent
        return self._scaled(matrix)

    def _array(self, group: RowGroup, dtype: str) -> int:
        return self._scaled_size(self._require(group.array_bytes(self.samples, DTYPE_BYTES[dtype])))

    def _require(self, size_bytes: int) -> int:
        if size_bytes > MOST_BYTES:
            raise self.model.error(
                f"the vectors of tables divided by rows have {size_bytes} B together; allowed: up to 2^50 B (1 PiB)"
            )
        return size_bytes

    def _scaled_size(self, size_bytes: int) -> int:
        return max(round(size_bytes * Fraction(str(self.scale))), min(size_bytes, 1))

    def _scaled(self, size_bytes: I64) -> I64:
        if self.scale == 1:
            return size_bytes
        sizes, which = np.unique(size_bytes, return_inverse=True)
        scaled = np.array([self._scaled_size(int(size)) for size in sizes], dtype=np.int64)
        return scaled[which].reshape(size_bytes.shape)
