# SPDX-License-Identifier: GPL-2.0-only
"""The longest way to each operation of a template, over its dependencies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import Template

__all__ = ["longest_ways"]


def longest_ways(template: Template, weight: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest sum of weights of the operations on a way to each one, its own not counted; i64[m].

    Parameters
    ----------
    template : any template.
    weight : i64[m], of each operation, 0 or more.
    """
    way = np.zeros(len(template), dtype=np.int64)
    waits = np.diff(template.dep_ptr)
    waiting = np.flatnonzero(waits)
    if not len(waiting):
        return way
    last = np.full(len(template), -1, dtype=np.int64)
    last[waiting] = np.maximum.reduceat(template.dep_op, template.dep_ptr[waiting])
    last = np.maximum.accumulate(last)
    first = 0
    while first < len(template):
        # as many operations at once as wait for none among themselves
        end = int(np.searchsorted(last, first))
        rows = np.arange(first, end)[waits[first:end] > 0]
        if len(rows):
            before = template.dep_op[template.dep_ptr[first] : template.dep_ptr[end]]
            way[rows] = np.maximum.reduceat(
                way[before] + weight[before], template.dep_ptr[rows] - template.dep_ptr[first]
            )
        first = end
    return way
