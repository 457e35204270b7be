# SPDX-License-Identifier: GPL-2.0-only
"""How far a run is, on standard error: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astra_py.engines.base import Progress

__all__ = ["progress"]

#: Seconds between lines where standard error is no terminal.
_LINE_EVERY_S = 10.0


@contextmanager
def progress(title: str, *, is_quiet: bool = False) -> Iterator[Progress | None]:
    """Give the function that an engine tells how far it is; None where nobody wants to know.

    Parameters
    ----------
    title : what runs.
    is_quiet : whether nothing is to be shown.
    """
    if is_quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(title) as tell:
            yield tell
    else:
        yield _lines(title)


@contextmanager
def _bar(title: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=None, state="")

        def tell(now_ps: int, events: int, done: int, operations: int) -> None:
            bars.update(task, completed=done, total=operations, state=_state(now_ps, events, done, operations))

        yield tell


def _lines(title: str) -> Progress:
    last = time.monotonic()

    def tell(now_ps: int, events: int, done: int, operations: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _LINE_EVERY_S:
            last = time.monotonic()
            print(f"{title}: {_state(now_ps, events, done, operations)}", file=sys.stderr, flush=True)

    return tell


def _state(now_ps: int, events: int, done: int, operations: int) -> str:
    return f"{now_ps / 1e6:,.1f} us simulated, {events:,} events, {done:,} of {operations:,} operations"
