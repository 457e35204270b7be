# SPDX-License-Identifier: GPL-2.0-only
"""Kinds of the collectives that rows of other tables refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["UNFINISHED", "kinds_of"]

#: What stands for the kind of a collective that a run did not end: the table ``collectives`` lacks it.
UNFINISHED = "unfinished"


def kinds_of(result: Result, collectives: NDArray[np.int64]) -> NDArray[Any]:
    """Kinds, str[n], of ``collectives``, i64[n], as operations and messages have them; "" of local work, which is -1.

    A run that was stopped has operations and messages of collectives that have no row: they are :data:`UNFINISHED`.
    """
    table = result.columns("collectives")
    known = dict(zip(table["collective"].tolist(), table["kind"].tolist(), strict=True)) | {-1: ""}
    each, rows = np.unique(collectives, return_inverse=True)
    return np.array([known.get(number, UNFINISHED) for number in each.tolist()], dtype=object)[rows]
