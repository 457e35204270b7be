# SPDX-License-Identifier: GPL-2.0-only
"""What the commands share: exit codes, scenarios from arguments, and how results are printed."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import typer

from astra_py.errors import AstraPyError

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["INTERRUPTED", "print_json", "print_table", "scenario_from", "with_exit_codes", "written_output"]

#: Exit code of a run that the user interrupted: 128 + SIGINT.
INTERRUPTED = 130
#: Exit code where the reader of the output went away: 128 + SIGPIPE.
_BROKEN_PIPE = 141
#: Exit code where the output has no room, or cannot be written for another reason of the user's machine.
_NOT_WRITTEN = 2

_P = ParamSpec("_P")
_R = TypeVar("_R")


def with_exit_codes(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return ``function`` with the package's errors turned into a message on standard error and their exit code."""

    @functools.wraps(function)
    def command(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            returned = function(*args, **kwargs)
            # here, since outside of the command click has a code of its own for a reader that went away
            sys.stdout.flush()
            return returned
        except AstraPyError as error:
            print(f"error: {error}{_notes(error)}", file=sys.stderr)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as interrupt:
            print(f"interrupted{_notes(interrupt)}", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from interrupt
        except BrokenPipeError as pipe:
            _drop_output()
            raise typer.Exit(_BROKEN_PIPE) from pipe

    return command


def _notes(error: BaseException) -> str:
    return "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))


@contextmanager
def written_output() -> Iterator[None]:
    """See to it that what was printed is written, help texts too; where it cannot be, say so in a line and exit."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise
        _drop_output()
        if isinstance(error, BrokenPipeError):
            sys.exit(_BROKEN_PIPE)
        print(f"error: standard output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(_NOT_WRITTEN)


def _drop_output() -> None:
    """Let standard output go nowhere: Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def scenario_from(arguments: Sequence[str]) -> Scenario:
    """Return the scenario of ``[SCENARIO] [key.path=value ...]``: a file or the defaults, then overrides.

    Raises
    ------
    ConfigError
        as :func:`astra_py.config.load_scenario`.
    """
    from astra_py.config import load_scenario

    first = arguments[0] if arguments else ""
    if first and ("=" not in first or Path(first).is_file()):
        return load_scenario(first, arguments[1:])
    return load_scenario({}, arguments)


def print_json(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print one JSON object a row."""
    for row in rows:
        print(json.dumps(row, allow_nan=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print columns side by side: numbers to the right, texts to the left."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *texts, strict=True)]
    is_number = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    for cells in (header, *texts):
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, is_number, strict=True)
        ]
        print("  ".join(padded).rstrip())
