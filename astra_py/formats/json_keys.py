# SPDX-License-Identifier: GPL-2.0-only
"""JSON files of keys and plain values, whose errors say in which line they stand."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from astra_py.errors import WorkloadError
from astra_py.formats.lines import DECIMAL, read_text

__all__ = ["JsonKeys"]


class _TwiceError(ValueError):
    """A key that is there twice."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [key for key, _ in pairs]
        raise _TwiceError(next(key for key in names if names.count(key) > 1))
    return keys


class JsonKeys:
    """One JSON object; numbers are kept as the texts they are, for exact reading.

    Parameters
    ----------
    path : the file.

    Raises
    ------
    WorkloadError : it cannot be read, is no JSON, no object, or has a key twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = read_text(path)
        try:
            values = json.loads(
                self._text, parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=_pairs
            )
        except json.JSONDecodeError as error:
            raise WorkloadError(f"{path}, line {error.lineno}: is no JSON: {error.msg}") from None
        except _TwiceError as error:
            raise WorkloadError(f"{path}, line {self.line(str(error))}: key {str(error)!r} is there twice") from None
        except RecursionError:
            raise WorkloadError(f"{path}: is nested too deeply") from None
        if not isinstance(values, dict):
            raise WorkloadError(f"{path}: is no JSON object; allowed: {{...}} of keys and values")
        self.values: dict[str, Any] = values

    def line(self, key: str) -> int:
        """The line in which a key of the object stands first."""
        found = re.search(re.escape(json.dumps(key)) + r"\s*:", self._text)
        return self._text.count("\n", 0, found.start()) + 1 if found else 1

    def error(self, key: str, what: str) -> WorkloadError:
        """Make an error about the value of a key."""
        return WorkloadError(f"{self.path}, line {self.line(key)}: {key}: {what}")

    def whole(self, key: str, least: int, most: int) -> int:
        """The value of a key as a whole number."""
        number = self.decimal(key, f"a whole number from {least} to {most}")
        if number.denominator != 1 or not least <= number <= most:
            raise self.error(key, f"{self.values[key]} is out of range; allowed: a whole number from {least} to {most}")
        return int(number)

    def decimal(self, key: str, allowed: str = "a number") -> Fraction:
        """The value of a key as an exact number."""
        value = self.values[key]
        if not isinstance(value, Number) or not DECIMAL.fullmatch(value):
            raise self.error(key, f"{_short(value)} is no number; allowed: {allowed}")
        return Fraction(value)

    def names(self, key: str) -> list[str]:
        """The value of a key as a list of texts."""
        value = self.values[key]
        if not isinstance(value, list) or not value or not all(type(item) is str for item in value):
            raise self.error(key, f'{_short(value)} is no list of names; allowed: such as ["ring", "direct"]')
        return list(value)


class Number(str):
    """The text of a JSON number."""

    __slots__ = ()


def _short(value: Any) -> str:
    text = value if isinstance(value, Number) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
