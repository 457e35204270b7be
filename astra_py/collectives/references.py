# SPDX-License-Identifier: GPL-2.0-only
"""How new operations name what they wait for and hold: operation numbers with a moment, pool numbers with a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import EdgeOn

__all__ = ["After", "AfterT", "Dep", "Hold", "Ids", "Numbers", "Pools", "References", "as_rows"]

Ids = NDArray[np.int64]
Numbers = NDArray[Any] | int


@dataclass(frozen=True)
class Dep:
    """Predecessors and the moment to wait for.

    Attributes
    ----------
    ids : operation numbers, of shape [n] (one for each new operation), [n, k] (several for each), or a single one for
        all; -1 is none.
    on : the moment of a message, or None for the one at which a receiver is told of it (``SystemModel.notify_on``). To
        wait for a message of one's own, name a moment: ``SENT`` or ``ACKED``.
    """

    ids: Numbers
    on: EdgeOn | None = None


@dataclass(frozen=True)
class Hold:
    """Pools of which each operation takes a unit before it starts.

    Attributes
    ----------
    pools : pool numbers, of shape [n], [n, k] or a single one; -1 is none.
    release_on : the moment at which a message gives its unit back; local work gives it back at its end.
    """

    pools: Numbers
    release_on: EdgeOn = EdgeOn.ACKED


#: What new operations wait for: nothing, an array of operation numbers, a :class:`Dep`, or a list of these.
After = Numbers | Dep | Sequence[Numbers | Dep] | None
AfterT = TypeVar("AfterT", bound=After)

#: The pools that new operations hold: pool numbers, a :class:`Hold`, or a list of these.
Pools = Numbers | Hold | Sequence[Numbers | Hold]

References = Numbers | Dep | Hold | Sequence[Numbers | Dep | Hold] | None


def as_rows(
    given: References, n: int, limit: int | None, what: str, moment: EdgeOn, least: int = -1
) -> tuple[Ids, Ids]:
    """Numbers [n, k] and their moments [k] of what was given as dependencies, pools or blocks of ``n`` operations.

    Parameters
    ----------
    limit : numbers are below it; None for any.
    what : the argument, for the message.
    moment : that of numbers which say none.
    least : numbers are not below it; -1 is none.

    Raises
    ------
    ValueError : not integers, shapes that do not fit, numbers out of range.
    """
    numbers: list[Ids] = []
    moments: list[EdgeOn] = []
    for part in given if isinstance(given, Sequence) else [] if given is None else [given]:
        on, wanted = moment, part
        if isinstance(part, Dep):
            on, wanted = moment if part.on is None else part.on, part.ids
        elif isinstance(part, Hold):
            on, wanted = part.release_on, part.pools
        array = as_integers(wanted, what)
        array = array[:, np.newaxis] if array.ndim == 1 else np.atleast_2d(array)
        if array.ndim != 2 or array.shape[0] not in (1, n):
            raise ValueError(
                f"{what} is of shape {np.asarray(wanted).shape}; {n} operations take [{n}], [{n}, k] or one number"
            )
        if array.size and (int(array.min()) < least or (limit is not None and int(array.max()) >= limit)):
            raise ValueError(f"{what} has a number outside the {limit} that were added before; -1 is none")
        numbers.append(array if array.shape[0] == n else np.broadcast_to(array, (n, array.shape[1])))
        moments += [on] * array.shape[1]
    if not numbers:
        return np.empty((n, 0), dtype=np.int64), np.empty(0, dtype=np.int64)
    joined = numbers[0] if len(numbers) == 1 else np.concatenate(numbers, axis=1)
    return joined, np.array(moments, dtype=np.int64)


def as_integers(value: Any, what: str) -> Ids:
    """``value`` as i64, without taking a fraction for an integer.

    Raises
    ------
    ValueError : it is not made of integers.
    """
    array = np.asarray(value)
    if array.dtype.kind not in "iub" and array.size:
        raise ValueError(f"{what} is of {array.dtype}, and a schedule is made of integers (divide with //)")
    return array.astype(np.int64, copy=False)
