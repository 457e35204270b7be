# SPDX-License-Identifier: GPL-2.0-only
"""Links of a timeline: how busy each direction of a link is over time, and how much waited there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.trace_events import counter_text

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["MOST_VALUES", "link_events", "shown_channels"]

#: Values of counters that are drawn: at some 110 B each, 11 MB.
MOST_VALUES = 100_000
#: Counters of a channel, each of a column of ``link_bins``.
_COUNTERS = {"utilisation (%)": "utilisation_percent", "longest queue (B)": "max_queue_bytes"}
#: Digits after the point that are written of a utilisation.
_DIGITS = 3


def shown_channels(result: Result, most: int) -> NDArray[np.int64]:
    """The channels of ``link_bins`` that have counters, in order: the busiest ones, as many as have ``most`` values.

    Of equals the first ones are taken; one there is always, where the run has any.
    """
    channels, bins = _shape(result)
    if not len(channels):
        return channels
    # so far that what was carried in other bins counts as the same
    carried = np.round((_matrix(result, "utilisation_percent") * _matrix(result, "time_us")).sum(axis=1), 3)
    # a counter has a value a bin, and one at the end
    fit = max(most // (len(_COUNTERS) * (bins + 1)), 1)
    return np.sort(channels[np.argsort(-carried, kind="stable")[:fit]])


def link_events(result: Result, pid: int) -> Iterator[str]:
    """Two counters a channel: its utilisation, and its longest queue, from the begin of each bin; both end at 0.

    A value that is that of the bin before is not written again.

    Parameters
    ----------
    result : of a run that has ``link_bins``.
    pid : the process of the counters.
    """
    channels, _ = _shape(result)
    shown = np.searchsorted(channels, shown_channels(result, MOST_VALUES))
    start_us, time_us = _matrix(result, "start_us")[0], _matrix(result, "time_us")[0]
    moments = np.round(np.append(start_us, start_us[-1] + time_us[-1]) * 1e6).astype(np.int64).tolist()
    values = {counter: np.round(_matrix(result, column), _DIGITS).tolist() for counter, column in _COUNTERS.items()}
    links = result.columns("links")
    for row in shown.tolist():
        channel = int(channels[row])
        link = f"{links['from'][channel]} to {links['to'][channel]}, channel {channel}"
        for counter in _COUNTERS:
            before = None
            for moment, value in zip(moments, [*values[counter][row], 0], strict=True):
                if value != before:
                    yield counter_text(pid, moment, f"{link}: {counter}", value)
                before = value


def _shape(result: Result) -> tuple[NDArray[np.int64], int]:
    """The channels of ``link_bins``, and the number of bins that each of them has."""
    table = result.columns("link_bins")
    bins = int(table["bin"].max(initial=-1)) + 1
    return table["channel"][:: max(bins, 1)], bins


def _matrix(result: Result, column: str) -> NDArray[np.float64]:
    """A column of ``link_bins``, which has all bins of a channel before those of the next, by channel and bin."""
    return result.columns("link_bins")[column].reshape(-1, _shape(result)[1])
