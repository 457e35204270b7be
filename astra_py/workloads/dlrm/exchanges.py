# SPDX-License-Identifier: GPL-2.0-only
"""What the ranks of a table-wise sharded DLRM send each other in an iteration, in bytes.

Row s, column d of a matrix is what rank s sends to rank d, b samples a rank:

- *indices*: s has b samples and d has tables: the rows to look up in each, and how many there are of each sample;
- *pooled*: s has tables and d has b samples: ``b x sum of the dims on s x bytes of an element``;
- *gradients*: the way back of the pooled vectors, the transpose in their own element type.

So in the forward exchange each rank receives ``b x sum of all dims x bytes``, its own tables' part included, which
never travels; what it sends depends on the tables it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import DenseLayer, DlrmModel
from astra_py.workloads.dlrm.plan import Plan

__all__ = ["Exchanges"]


@dataclass(frozen=True, eq=False)
class Exchanges:
    """The byte matrices of a plan, and the sizes of its dense all-reduces.

    Parameters
    ----------
    plan : which rank holds which table.
    scale : factor on all bytes, rounded to nearest; what has bytes keeps at least one.
    """

    plan: Plan
    scale: float = 1.0

    @property
    def model(self) -> DlrmModel:
        """The plan's model."""
        return self.plan.model

    def indices(self) -> NDArray[np.int64]:
        """i64[ranks, ranks]: bytes of indices and lengths."""
        plan, dtypes = self.plan, self.model.dtypes
        column = plan.rank_lookups * DTYPE_BYTES[dtypes.indices]
        column = column + self.model.local_batch * plan.rank_shards * DTYPE_BYTES[dtypes.lengths]
        return np.tile(self._scaled(column), (plan.ranks, 1))

    def pooled(self) -> NDArray[np.int64]:
        """i64[ranks, ranks]: bytes of pooled vectors."""
        row = self._vectors(self.model.dtypes.forward_all_to_all)
        return np.tile(row[:, np.newaxis], (1, self.plan.ranks))

    def gradients(self) -> NDArray[np.int64]:
        """i64[ranks, ranks]: bytes of the pooled vectors' gradients."""
        return np.tile(self._vectors(self.model.dtypes.backward_all_to_all), (self.plan.ranks, 1))

    def dense(self, layer: DenseLayer) -> int:
        """Bytes of a dense layer's weight gradient."""
        size = layer.weights * DTYPE_BYTES[self.model.dtypes.weights]
        return int(self._scaled(np.array([size], dtype=np.int64))[0])

    def _vectors(self, dtype: str) -> NDArray[np.int64]:
        """i64[ranks]: bytes of one rank's samples' vectors from each rank's tables."""
        return self._scaled(self.model.local_batch * self.plan.rank_dims * DTYPE_BYTES[dtype])

    def _scaled(self, size_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.scale == 1:
            return size_bytes
        exact = Fraction(str(self.scale))
        return np.array([max(round(int(size) * exact), min(int(size), 1)) for size in size_bytes], dtype=np.int64)
