# SPDX-License-Identifier: GPL-2.0-only
"""How much a link, or a core, had to do by each moment, by the messages that were under way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["PS_PER_BYTE", "SharedWork", "Work"]

#: Of a link of one bit a second.
PS_PER_BYTE = 8 * 10**12


class Work:
    """How long a link has sent by each moment, where each message's time is spread evenly from its begin to its end.

    A core works for messages as a link sends them.

    Parameters
    ----------
    begin, end : i64[n], when each message was about, in ps.
    needs : f64[n], time that each needs of the link.
    """

    def __init__(self, begin: NDArray[np.int64], end: NDArray[np.int64], needs: NDArray[np.float64]) -> None:
        end = np.maximum(end, begin + 1)
        rate = needs / (end - begin)
        moment = np.concatenate([begin, end])
        order = np.argsort(moment, kind="stable")
        self._moment = moment[order].astype(np.float64)
        # a link sends one thing at a time: what is beyond is the spread
        sending = np.minimum(np.cumsum(np.concatenate([rate, -rate])[order]), 1.0)
        self._done = np.concatenate([[0.0], np.cumsum(sending[:-1] * np.diff(self._moment))])

    def during(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> int:
        """How long the link has sent in the intervals from ``start`` to ``end``, all together, in ps."""
        done = np.interp(end, self._moment, self._done) - np.interp(start, self._moment, self._done)
        return int(done.sum())


class SharedWork:
    """The :class:`Work` of many links or cores.

    Parameters
    ----------
    key : i64[n], the link or core of each row.
    begin, end, needs : [n] each, as :class:`Work` takes them.
    """

    def __init__(
        self, key: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64], needs: NDArray[np.float64]
    ) -> None:
        order = np.argsort(key, kind="stable")
        self._key, self._begin, self._end, self._needs = key[order], begin[order], end[order], needs[order]
        self._work: dict[int, Work] = {}

    def most(self, keys: NDArray[np.int64], start_ps: int, time_ps: int) -> tuple[int, float]:
        """Of ``keys`` the one that works longest from ``start_ps`` on, for ``time_ps``, and the share of that time."""
        window = np.array([start_ps]), np.array([start_ps + time_ps])
        done, worst = max((self._of(key).during(*window), -key) for key in keys.tolist())
        return -worst, done / time_ps

    def _of(self, key: int) -> Work:
        if key not in self._work:
            rows = slice(np.searchsorted(self._key, key), np.searchsorted(self._key, key, side="right"))
            self._work[key] = Work(self._begin[rows], self._end[rows], self._needs[rows])
        return self._work[key]
