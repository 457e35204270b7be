# SPDX-License-Identifier: GPL-2.0-only
"""What one point of a sweep may take before it is stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass

from astra_py.errors import ConfigError

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What one point may take; a point that takes more is a failed row of the table.

    Attributes
    ----------
    time_s : seconds on the clock from the start of an attempt, or None without a limit.
    memory_bytes : memory of the point's process, or None without a limit.
    retries : how often a point is tried again whose process died (crashed, timeout, memory). What the simulation
        itself finds wrong is the same the next time, and is not tried again.

    Raises
    ------
    ConfigError : a figure is not positive and finite, or ``retries`` is negative or no whole number.
    """

    time_s: float | None = None
    memory_bytes: int | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        if self.time_s is not None and not (math.isfinite(self.time_s) and self.time_s > 0):
            raise ConfigError(f"time limit {self.time_s!r}: allowed: seconds above 0")
        if self.memory_bytes is not None and not (math.isfinite(self.memory_bytes) and self.memory_bytes > 0):
            raise ConfigError(f"memory limit {self.memory_bytes!r}: allowed: bytes above 0")
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise ConfigError(f"retries {self.retries!r}: allowed: a whole number from 0")
