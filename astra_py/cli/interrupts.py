# SPDX-License-Identifier: GPL-2.0-only
"""Ctrl-C while something is finished that is worth keeping: the first waits until it is, the second does not."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["finished_first"]


@contextmanager
def finished_first(what: str) -> Iterator[None]:
    """Finish what is in the block though the user interrupts it; the KeyboardInterrupt comes at its end.

    The first Ctrl-C is answered on standard error. The second interrupts the block where it is. Where the program
    has a handler of its own, or the block is not in the main thread, all is as without.

    Parameters
    ----------
    what : what is going on, as in "interrupted: ...".

    Raises
    ------
    KeyboardInterrupt : the user interrupted; at the block's end, or within it at the second time.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield
        return
    came = False

    def wait(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            raise KeyboardInterrupt
        came = True
        print(f"interrupted: {what}; Ctrl-C again does not wait for it", file=sys.stderr, flush=True)

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
