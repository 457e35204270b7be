# SPDX-License-Identifier: GPL-2.0-only
"""Text files of fields between blanks: lines that say where they stand when something is wrong with them."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from astra_py.errors import AstraPyError, TopologyError, WorkloadError
from astra_py.units import INT64_MAX

__all__ = ["DECIMAL", "WHOLE", "Line", "read_lines", "read_text"]

ErrorClass = type[WorkloadError] | type[TopologyError]

#: Texts of whole numbers, and of decimal ones, that are read exactly: ASCII digits, and not too many of them.
WHOLE = re.compile(r"0*[0-9]{1,19}", re.ASCII)
DECIMAL = re.compile(r"[+-]?[0-9]{1,25}(?:\.[0-9]{0,25})?(?:[eE][+-]?[0-9]{1,2})?|[+-]?\.[0-9]{1,25}", re.ASCII)


class Line:
    """One line's fields, and errors that say where they stand.

    Parameters
    ----------
    path, number : the file, and which of its lines this is, from 1.
    text : the line.
    error_class : what :meth:`error` makes.
    """

    __slots__ = ("error_class", "fields", "number", "path")

    def __init__(self, path: Path, number: int, text: str, error_class: ErrorClass = WorkloadError) -> None:
        self.path = path
        self.number = number
        self.error_class = error_class
        self.fields = text.split()

    @property
    def where(self) -> str:
        """File and line, as error messages begin."""
        return f"{self.path}, line {self.number}"

    def error(self, what: str) -> AstraPyError:
        """Make an error about this line."""
        return self.error_class(f"{self.where}: {what}")

    def require(self, names: str) -> None:
        """Raise the line's error if it has not as many fields as ``names``, which are written between blanks."""
        if len(self.fields) != len(names.split()):
            raise self.error(f"{len(self.fields)} fields, and {len(names.split())} are needed: {names}")

    def whole(self, index: int, what: str, least: int = 0, most: int = INT64_MAX) -> int:
        """The field at ``index`` as a whole number; ``what`` it is is said in the error."""
        text = self.fields[index]
        # more digits than 64 bits can have are not even converted
        if not WHOLE.fullmatch(text) or not least <= int(text) <= most:
            raise self.error(f"field {index + 1}, {what}, is {text!r}; allowed: a whole number from {least} to {most}")
        return int(text)

    def decimal(self, index: int, what: str, allowed: str = "a decimal number") -> Fraction:
        """The field at ``index`` as an exact decimal number."""
        text = self.fields[index]
        if not DECIMAL.fullmatch(text):
            raise self.error(f"field {index + 1}, {what}, is {text!r}; allowed: {allowed}")
        return Fraction(text)


def read_text(path: Path, error_class: ErrorClass = WorkloadError) -> str:
    """Return the text of a file.

    Raises
    ------
    WorkloadError, TopologyError : as ``error_class`` says; it cannot be read, or is not UTF-8 text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise error_class(f"{path}: cannot be read: {error.strerror}") from error
    if data.startswith(b"\x1f\x8b"):
        raise error_class(f"{path}: is a gzip; allowed: the text that is in it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise error_class(f"{path}: is not a text file: byte {error.start} is not UTF-8") from error


def read_lines(path: Path, error_class: ErrorClass = WorkloadError, *, comment: str = "") -> list[Line]:
    """Return the lines of a file that are not empty.

    Parameters
    ----------
    path : the file; its lines end in LF, CRLF or CR.
    error_class : class of the lines' errors.
    comment : what begins the rest of a line that does not count; none where it is empty.

    Raises
    ------
    WorkloadError, TopologyError : as ``error_class`` says; as :func:`read_text`, or nothing is in it.
    """
    lines = []
    for number, text in enumerate(re.split(r"\r\n|\n|\r", read_text(path, error_class)), start=1):
        said = text.partition(comment)[0] if comment else text
        if said.strip():
            lines.append(Line(path, number, said, error_class))
    if not lines:
        raise error_class(f"{path}: is empty")
    return lines
