# SPDX-License-Identifier: GPL-2.0-only
"""How far a sweep is, on standard error: a bar in a terminal, lines elsewhere; failures are lines in both."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astra_py.batch.driver import SweepProgress

__all__ = ["sweep_progress"]

#: Seconds between lines where standard error is no terminal.
_LINE_EVERY_S = 10.0
_Tell = Callable[["SweepProgress"], None]


@contextmanager
def sweep_progress(title: str, *, is_quiet: bool = False) -> Iterator[_Tell | None]:
    """Give the function that a sweep tells how far it is; None where nobody wants to know.

    Parameters
    ----------
    title : what is swept.
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
def _bar(title: str) -> Iterator[_Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(title, total=None, state="")

        def tell(progress: SweepProgress) -> None:
            bars.update(task, completed=progress.done, total=progress.runs, state=_state(progress))
            if failure := _failure(progress):
                console.print(failure, markup=False, highlight=False)

        yield tell


def _lines(title: str) -> _Tell:
    last = time.monotonic()

    def tell(progress: SweepProgress) -> None:
        nonlocal last
        if failure := _failure(progress):
            print(failure, file=sys.stderr, flush=True)
        if time.monotonic() - last >= _LINE_EVERY_S:
            last = time.monotonic()
            print(f"{title}: {_state(progress)}", file=sys.stderr, flush=True)

    return tell


def _failure(progress: SweepProgress) -> str:
    """A line for a point that is over and failed; empty of others."""
    if progress.point is None or progress.outcome is None or progress.outcome.is_ok:
        return ""
    return f"{progress.point.title}: {progress.outcome.status.value}: {progress.outcome.reason}"


def _state(progress: SweepProgress) -> str:
    parts = [f"{progress.done:,} of {progress.runs:,} runs", f"{progress.failed:,} failed"]
    if progress.running:
        parts.append(f"{progress.running:,} running")
    if progress.left_s is not None and progress.done < progress.runs:
        parts.append(f"{timedelta(seconds=round(progress.left_s))} left")
    return ", ".join(parts)
