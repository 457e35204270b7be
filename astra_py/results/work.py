# SPDX-License-Identifier: GPL-2.0-only
"""How much a link had to send by each moment, by the messages that were under way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["PS_PER_BYTE", "Work"]

#: Of a link of one bit a second.
PS_PER_BYTE = 8 * 10**12


class Work:
    """How long a link has sent by each moment, where each message's time is spread evenly from its begin to its end.

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
