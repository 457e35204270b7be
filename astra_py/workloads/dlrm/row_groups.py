# SPDX-License-Identifier: GPL-2.0-only
"""Tables that are divided by rows, by the ranks that hold them: who adds up whose vectors, and who passes them on.

Each of n holders pools, for the samples of all m ranks, the rows that it has; a vector is the sum of the n parts.

- The holders reduce-scatter their parts: an array of m x b vectors, b samples a rank, of which each holder ends with an
  n-th. That is all where every rank holds a part (row-wise; TorchRec's ``RwPooledEmbeddingDist``).
- Otherwise a holder's n-th is the vectors of its own samples, and those of an n-th of the other ranks' samples, which
  it then sends there. The others are dealt out like cards, so that with tables divided inside a node of n a holder
  serves its peers of the same position in all other nodes (table-row-wise: reduce-scatter inside, then an all-to-all
  across; TorchRec's ``TwRwPooledEmbeddingDist``).

Backward is the mirror: gradients go to the holder that the vectors came from, and the holders all-gather them. Ranks
that hold nothing take no part in reduce-scatter and all-gather: contributions of zeros would cost them the whole
array.

Where ranks have different numbers of samples, the array's n-ths are padded to the largest, as a reduce-scatter of equal
segments needs it; what is passed on is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.plan import Plan

__all__ = ["RowGroup", "row_groups"]


@dataclass(frozen=True, eq=False)
class RowGroup:
    """Ranks that hold the rows of some tables together.

    Attributes
    ----------
    holders : i64[n], ascending.
    ranks : number of ranks of the job, m.
    dims : sum of the tables' dims.
    """

    holders: NDArray[np.int64]
    ranks: int
    dims: int

    def array_bytes(self, batch: NDArray[np.int64], element_bytes: int) -> int:
        """Bytes of the whole array that the holders reduce-scatter, and of the one that they all-gather.

        Parameters
        ----------
        batch : i64[ranks], samples of each rank.
        element_bytes : bytes of an element on the wire.
        """
        return self.ranks * int(batch.max()) * self.dims * element_bytes

    def passed_on(self, batch: NDArray[np.int64], element_bytes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return who else gets vectors, i64[m - n], and the bytes from each holder to each of them, i64[n, m - n].

        Parameters are those of :meth:`array_bytes`.
        """
        n = len(self.holders)
        others = np.setdiff1d(np.arange(self.ranks), self.holders)
        others = others[np.argsort(np.arange(len(others)) % n, kind="stable")]
        padded = int(batch.max()) * self.dims * element_bytes
        begin = padded * np.arange(len(others))
        end = begin + batch[others] * self.dims * element_bytes
        # a holder's segment of the array, less the vectors of its own samples
        floor, larger = divmod(self.ranks * padded, n)
        segment = floor - padded + (np.arange(n) < larger)
        last = np.cumsum(segment)[:, np.newaxis]
        first = last - segment[:, np.newaxis]
        return others, np.maximum(np.minimum(last, end) - np.maximum(first, begin), 0)


def row_groups(plan: Plan) -> tuple[RowGroup, ...]:
    """Return the groups of a plan, one for each set of ranks, in order of the tables that first need them."""
    shards = np.flatnonzero(plan.is_by_rows)
    shards = shards[np.lexsort((plan.rank[shards], plan.table[shards]))]
    if not len(shards):
        return ()
    dims: dict[bytes, int] = {}
    for part in np.split(shards, np.flatnonzero(np.diff(plan.table[shards])) + 1):
        holders = plan.rank[part].tobytes()
        dims[holders] = dims.get(holders, 0) + int(plan.dims[part[0]])
    return tuple(
        RowGroup(np.frombuffer(holders, dtype=np.int32).astype(np.int64), plan.ranks, together)
        for holders, together in dims.items()
    )
