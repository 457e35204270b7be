# SPDX-License-Identifier: GPL-2.0-only
"""A door for tests: points that crash, hang or eat memory, named in the environment of the process that runs them.

``ASTRA_PY_POINT_FAULTS`` is a list such as ``"abort:3f0a,hang:77c1@1"``: a fault, the first characters of a point's
digest, and, where only one attempt is to go wrong, its number. Without the variable nothing here does anything.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

from astra_py.errors import ConfigError

__all__ = ["POINT_FAULTS", "VARIABLE", "commit_fault"]

VARIABLE = "ASTRA_PY_POINT_FAULTS"
#: What :func:`_eat` takes at a time.
_BITE_BYTES = 16 * 2**20


def _abort() -> None:
    print("a fault of a test: abort", file=sys.stderr, flush=True)
    os.abort()


def _hang() -> None:
    while True:
        time.sleep(3600)


def _eat() -> None:
    eaten = []
    while True:
        eaten.append(b"\1" * _BITE_BYTES)
        time.sleep(0.01)


def _exit() -> None:
    os._exit(3)


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _raise() -> None:
    raise ValueError("a fault of a test")


POINT_FAULTS: dict[str, Callable[[], None]] = {
    "abort": _abort,
    "hang": _hang,
    "memory": _eat,
    "exit": _exit,
    "kill": _kill,
    "raise": _raise,
}


def commit_fault(digest: str, attempt: int) -> None:
    """Do what the environment asks of this attempt at a point.

    Raises
    ------
    ConfigError : the variable is no list of faults.
    """
    for text in filter(None, os.environ.get(VARIABLE, "").split(",")):
        fault, colon, target = text.partition(":")
        start, at, number = target.partition("@")
        if not (colon and start and fault in POINT_FAULTS and (number.isdecimal() if at else True)):
            raise ConfigError(
                f"{VARIABLE}: {text!r} is no fault; allowed: FAULT:DIGEST or FAULT:DIGEST@ATTEMPT, FAULT one of "
                f"{', '.join(POINT_FAULTS)}"
            )
        if digest.startswith(start) and (not at or int(number) == attempt):
            POINT_FAULTS[fault]()
