# SPDX-License-Identifier: GPL-2.0-only
"""Every error that the package raises on purpose, under one base, each with the exit code of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = [
    "AstraPyError",
    "CheckError",
    "ConfigError",
    "DeadlockError",
    "EngineCrash",
    "PluginError",
    "SimulationError",
    "TopologyError",
    "WorkloadError",
    "did_you_mean",
]


class AstraPyError(Exception):
    """Base of all errors of the package; ``exit_code`` is what the command line exits with.

    Attributes
    ----------
    partial : where a run was stopped, the :class:`~astra_py.Result` of what had happened by then; else None. The
        KeyboardInterrupt that stops one has it, too.
    """

    exit_code = 2
    partial: Result | None = None


class ConfigError(AstraPyError):
    """A key, value, name or combination that is not allowed: says where, what, and what is allowed."""


class PluginError(AstraPyError):
    """An algorithm, topology or workload of the user's own raised an exception: says which, where and what."""


class WorkloadError(AstraPyError):
    """A workload file or trace that cannot be understood: says file, line or node."""


class TopologyError(AstraPyError):
    """A platform that cannot be built or does not connect its ranks."""


class SimulationError(AstraPyError):
    """A run that did not come to its proper end; ``reason`` is one word for it.

    Parameters
    ----------
    message : what happened.
    reason : "deadlock", "event_limit", "time_limit", "check", "no_work" or "invariant".
    """

    exit_code = 3

    def __init__(self, message: str, reason: str = "invariant") -> None:
        super().__init__(message)
        self.reason = reason


class DeadlockError(SimulationError):
    """Nothing is left to happen and operations are unfinished; the message lists what waits for what."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="deadlock")


class CheckError(SimulationError):
    """A run ended, and what it did is not what was declared."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="check")


class EngineCrash(AstraPyError):  # noqa: N818  (a public name; it is an event, as in "the engine crashed")
    """An engine's process died."""

    exit_code = 4


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """End of an error message that names the allowed name nearest to ``name``; empty where none is near."""
    import difflib

    nearest = difflib.get_close_matches(name, list(allowed), n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
