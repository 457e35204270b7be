# SPDX-License-Identifier: GPL-2.0-only
"""What a part costs the rank that holds it, without any rate: shares of bytes on the wire and of bytes looked up.

A part's cost is its share of all bytes that owners put on or take from the wire, plus its share of all bytes that they
look up: ``wire / sum(wire) + lookup / sum(lookup)``. Both weigh the same and neither depends on the platform's rates,
so that a sweep over rates trains the same plan. What is balanced is the sum, so neither is even by itself.
"""

from __future__ import annotations

from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.sharders.parts import Parts

__all__ = ["share_costs"]


def share_costs(parts: Parts) -> list[int]:
    """Cost of each part, as exact integers: the module's sum of shares times the product of the two sums."""
    dtypes, batch = parts.model.dtypes, parts.model.local_batch
    vectors = DTYPE_BYTES[dtypes.forward_all_to_all] + DTYPE_BYTES[dtypes.backward_all_to_all]
    lookups, dims = parts.lookups, parts.dims
    # between an owner and one rank in an iteration: indices, lengths, pooled vectors, gradients
    wire = batch * dims * vectors + lookups * DTYPE_BYTES[dtypes.indices] + batch * DTYPE_BYTES[dtypes.lengths]
    looked_up = lookups * dims * parts.element_bytes
    all_wire, all_looked_up = sum(wire.tolist()), sum(looked_up.tolist())
    return [w * all_looked_up + r * all_wire for w, r in zip(wire.tolist(), looked_up.tolist(), strict=True)]
