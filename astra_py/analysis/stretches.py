# SPDX-License-Identifier: GPL-2.0-only
"""Stretches of a critical path, and what each was spent on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from astra_py.collectives.schedule import EdgeOn

__all__ = ["MessageStep", "Part", "Stretch", "require_contiguous", "sum_by_part"]


class Part(StrEnum):
    """What a stretch of a critical path was spent on."""

    PAYLOAD = "payload"
    HEADERS = "headers"
    PROPAGATION = "propagation"
    SWITCHING = "switching"
    QUEUEING = "queueing"
    HOST = "host"
    POOLS = "pools"
    WINDOW = "window"
    PAUSES = "pauses"
    CONTROL = "congestion_control"
    RECOVERY = "loss_recovery"
    JOINING = "waiting_for_others"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time of one critical path, and the one thing it was spent on.

    Attributes
    ----------
    start_ps, end_ps : the stretch.
    part : what it was spent on.
    channel : the channel where, or -1 where it was at none.
    detail : what else is known, such as the name of a pool.
    """

    start_ps: int
    end_ps: int
    part: Part
    channel: int = -1
    detail: str = ""

    @property
    def length_ps(self) -> int:
        """How long it lasted."""
        return self.end_ps - self.start_ps


@dataclass(frozen=True, slots=True)
class MessageStep:
    """A stretch that a message was under way, from its post to the moment that was waited for."""

    message: int
    moment: EdgeOn
    start_ps: int
    end_ps: int


def require_contiguous(stretches: Iterable[Stretch], start_ps: int, end_ps: int) -> None:
    """Make sure that ``stretches``, in order, cover the time from ``start_ps`` to ``end_ps`` once.

    Raises
    ------
    AssertionError : they do not: a fault of the walk, never of the run.
    """
    at = start_ps
    for each in stretches:
        if each.start_ps != at or each.end_ps <= at:
            raise AssertionError(f"{each} does not follow what ends at {at} ps")
        at = each.end_ps
    if at != end_ps:
        raise AssertionError(f"the path is explained up to {at} ps, and ends at {end_ps} ps")


def sum_by_part(stretches: Iterable[Stretch]) -> dict[Part, int]:
    """Time of each part in ps, in order of :class:`Part`; those that do not occur have 0."""
    total = dict.fromkeys(Part, 0)
    for each in stretches:
        total[each.part] += each.length_ps
    return total


def split_bytes(start_ps: int, end_ps: int, payload_bytes: int, line_bytes: int) -> int:
    """Where the payload's share of a transmission ends and that of headers begins, by their bytes, in ps.

    A frame's bits go out at one rate, so that of its time each byte has the same share.
    """
    return start_ps + int(np.int64(end_ps - start_ps) * payload_bytes // line_bytes)
