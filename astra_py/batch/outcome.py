# SPDX-License-Identifier: GPL-2.0-only
"""What became of a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

__all__ = ["Outcome", "Status"]


class Status(StrEnum):
    """How a point ended."""

    OK = "ok"
    #: The simulation, or what prepares it, found something wrong: an error of the package, or of a user's own code.
    FAILED = "failed"
    #: Its process died: an abort of ns-3, a signal, an exit.
    CRASHED = "crashed"
    #: Its time limit passed.
    TIMEOUT = "timeout"
    #: Its memory limit was reached.
    MEMORY = "memory"


@dataclass(frozen=True)
class Outcome:
    """What became of one point, as the journal keeps it.

    Attributes
    ----------
    digest : the point's.
    status : how it ended.
    reason : why it failed, in one line; empty where it did not.
    row : its figures, by column (:func:`astra_py.batch.row.point_row`); empty where it failed.
    attempts : how often it was started.
    started_s, ended_s : of the last attempt, in seconds since 1970 UTC.
    worker : who ran it: ``host:pid``.
    cost : seconds of CPU and bytes of memory that it took, by name; no part of the table.
    """

    digest: str
    status: Status
    reason: str
    row: Mapping[str, Any]
    attempts: int
    started_s: float
    ended_s: float
    worker: str
    cost: Mapping[str, float]

    @property
    def is_ok(self) -> bool:
        """Whether the point has a row of figures."""
        return self.status is Status.OK

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain JSON."""
        return {**asdict(self), "row": dict(self.row), "cost": dict(self.cost), "status": self.status.value}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Outcome:
        """The outcome that :meth:`to_json` wrote.

        Raises
        ------
        KeyError, TypeError, ValueError : it is none.
        """
        return cls(**{**values, "status": Status(values["status"])})
