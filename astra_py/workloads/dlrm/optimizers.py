# SPDX-License-Identifier: GPL-2.0-only
"""How many bytes of memory an optimiser's step moves: what makes its time, since it computes next to nothing.

Dense weights, one by one: gradient and weight are read and the weight is written, and each number of state (one in
Adagrad: Duchi et al., JMLR 2011; two in Adam: Kingma and Ba, ICLR 2015) is read and written in 4 bytes.

Rows of embedding tables, each as often as it is looked up: the row is read and written, and its state likewise: none,
one number a row (row-wise Adagrad, as Neo trains: Mudigere et al., ISCA 2022, section 4.1.4), or as many as the row
has elements, once or twice. ``"one_pass"`` is what MAD-Max (Hsia et al., ISCA 2024) counts: each row once.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Numbers = TypeVar("_Numbers", int, NDArray[np.int64])

__all__ = ["DENSE_OPTIMIZERS", "EMBEDDING_OPTIMIZERS", "dense_step_bytes", "row_update_bytes"]

#: Optimisers of dense weights: numbers of state a weight. ``"none"`` takes no time at all.
_STATES = {"none": 0, "sgd": 0, "adagrad": 1, "adam": 2}
DENSE_OPTIMIZERS = tuple(_STATES)
EMBEDDING_OPTIMIZERS = ("one_pass", "sgd", "row_wise_adagrad", "adagrad", "adam")

#: States are kept in FP32.
_STATE_BYTES = 4


def dense_step_bytes(optimizer: str, weights: _Numbers, element_bytes: _Numbers) -> _Numbers:
    """Bytes that a step on ``weights`` dense weights of ``element_bytes`` each moves."""
    if optimizer == "none":
        return 0 * weights
    return weights * (3 * element_bytes + 2 * _STATE_BYTES * _STATES[optimizer])


def row_update_bytes(optimizer: str, dims: NDArray[np.int64], element_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bytes that the update of one looked-up row of each shard moves; all i64[shards]."""
    row = dims * element_bytes
    if optimizer == "one_pass":
        return row
    if optimizer == "row_wise_adagrad":
        return 2 * row + 2 * _STATE_BYTES
    return 2 * row + 2 * _STATE_BYTES * _STATES[optimizer] * dims
