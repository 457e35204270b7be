# SPDX-License-Identifier: GPL-2.0-only
"""The journal of a sweep: a line an outcome, on disk before it counts, never changed after.

A line is one JSON object: ``{"outcome": ...}``, or ``{"driver": ...}`` when someone begins to run points. The end of a
file without a line feed is what was being written when its writer died, and counts as not there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from astra_py.batch.outcome import Outcome
from astra_py.errors import ConfigError

__all__ = ["Journal", "read_journal"]


class Journal:
    """A journal open for writing, by one writer.

    Parameters
    ----------
    path : of the file, made where there is none. A torn end of it is cut off.

    Raises
    ------
    OSError : it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        content = path.read_bytes()
        if content and not content.endswith(b"\n"):
            os.ftruncate(self._file, content.rfind(b"\n") + 1)
        os.fsync(self._file)
        # the name of a new file is in its folder, which is written by itself
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def append(self, outcome: Outcome) -> None:
        """Write an outcome; it is on disk when this returns."""
        self._write({"outcome": outcome.to_json()})

    def begin(self, driver: Mapping[str, Any]) -> None:
        """Write that someone begins to run points: plain JSON."""
        self._write({"driver": dict(driver)})

    def _write(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, allow_nan=False).encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


def read_journal(path: Path) -> tuple[list[Outcome], list[dict[str, Any]]]:
    """The outcomes and the drivers of a journal, in its order; of none where there is no file.

    Raises
    ------
    ConfigError : a line that is whole is none of a journal.
    """
    outcomes, drivers = [], []
    for number, line in _whole_lines(path):
        try:
            ((kind, values),) = json.loads(line).items()
            match kind:
                case "driver":
                    drivers.append(dict(values))
                case "outcome":
                    outcomes.append(Outcome.from_json(values))
                case _:
                    raise ValueError(kind)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"{path}, line {number}: no outcome of a point: {error!r}") from error
    return outcomes, drivers


def _whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    yield from enumerate(content.split(b"\n")[:-1], 1)
