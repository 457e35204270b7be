# SPDX-License-Identifier: GPL-2.0-only
"""What a value of a scenario may be: one rule a kind of value, each able to read, write and describe itself.

A rule is the annotation of a field (``Annotated[int, Count(least=1)]``); validation, the ``allowed`` of an error
message and the parameter table all come from it.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from astra_py.errors import ConfigError, did_you_mean
from astra_py.plugins import FILE, is_registered
from astra_py.units import INT64_MAX, Quantity

__all__ = [
    "Choice",
    "Count",
    "FileRule",
    "Flag",
    "Name",
    "Number",
    "PathRule",
    "QuantityRule",
    "Registered",
    "Rule",
    "Text",
]


class Rule(ABC):
    """A kind of value: ``read`` takes it from a scenario file, ``write`` gives it back as it is written there."""

    #: Word for the kind of value in the parameter table.
    type_name: str

    @property
    def unit(self) -> str:
        """Unit that the value is held in once read, or nothing."""
        return ""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """What the value may be, as the end of a sentence."""

    @abstractmethod
    def read(self, value: Any) -> Any:
        """Turn ``value`` into what the model holds.

        Raises
        ------
        ValueError
            the value is not allowed; the message starts with it.
        """

    def write(self, value: Any) -> Any:
        """Turn what the model holds into what a scenario file holds."""
        return value

    def to_ns3(self, value: Any) -> str:
        """Turn what the model holds into an ns-3 attribute's text."""
        written = self.write(value)
        return str(written).lower() if isinstance(written, bool) else str(written)

    def from_ns3(self, text: str) -> Any:
        """Turn an ns-3 attribute's text into what a scenario file holds; what is no such text stays as it is."""
        return text

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(self.write)
        )


@dataclass(frozen=True)
class WordRule(Rule):
    """A rule with words beside its ordinary values, each standing for a value such as None."""

    words: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def allowed(self) -> str:
        return " or ".join([*map(repr, self.words), self.ordinary])

    @property
    @abstractmethod
    def ordinary(self) -> str:
        """What the value may be beside the words."""

    def read(self, value: Any) -> Any:
        if isinstance(value, str) and value in self.words:
            return self.words[value]
        return self.read_ordinary(value)

    def write(self, value: Any) -> Any:
        for word, meaning in self.words.items():
            if value is meaning or (isinstance(value, str) and value == meaning):
                return word
        return self.write_ordinary(value)

    @abstractmethod
    def read_ordinary(self, value: Any) -> Any:
        """As :meth:`read`, for a value that is none of the words."""

    def write_ordinary(self, value: Any) -> Any:
        """As :meth:`write`, for a value that is none of the words."""
        return value


@dataclass(frozen=True)
class QuantityRule(WordRule):
    """A size, rate or time as text with its unit; held in bytes, bit/s or ps. ``least`` and ``most`` are in those."""

    quantity: Quantity
    least: int = 0
    most: int = INT64_MAX

    @property
    def type_name(self) -> str:  # type: ignore[override]  # noqa: D102
        return self.quantity.name

    @property
    def unit(self) -> str:  # noqa: D102
        return {"size": "B", "rate": "bit/s", "time": "ps"}[self.quantity.name]

    @property
    def ordinary(self) -> str:  # noqa: D102
        bounds = f"a {self.quantity.name}"
        if self.least > 0:
            bounds += f" of at least {self.quantity.format(self.least)}"
        if self.most < INT64_MAX:
            bounds += f"{' and' if self.least > 0 else ' of'} at most {self.quantity.format(self.most)}"
        return bounds if self.most < INT64_MAX else f"{bounds} such as {self.quantity.example!r}"

    def read_ordinary(self, value: Any) -> int:  # noqa: D102
        try:
            read = self.quantity.parse(value)
        except ConfigError as error:
            hint = did_you_mean(value, self.words) if isinstance(value, str) else ""
            raise ValueError(f"{error}{hint}") from None
        if not self.least <= read <= self.most:
            raise ValueError(f"{value!r} is out of range")
        return read

    def write_ordinary(self, value: int) -> str:  # noqa: D102
        return self.quantity.format(value)

    def to_ns3(self, value: int) -> str:  # noqa: D102
        return f"{value}{ {'size': '', 'rate': 'bps', 'time': 'ps'}[self.quantity.name] }"


@dataclass(frozen=True)
class Count(WordRule):
    """A whole number between ``least`` and ``most``."""

    type_name = "integer"
    least: int = 0
    most: int = INT64_MAX

    @property
    def ordinary(self) -> str:  # noqa: D102
        if self.most == INT64_MAX:
            return f"a whole number from {self.least}"
        return f"a whole number from {self.least} to {self.most}"

    def read_ordinary(self, value: Any) -> int:  # noqa: D102
        if isinstance(value, bool) or not isinstance(value, int):
            hint = did_you_mean(value, self.words) if isinstance(value, str) else ""
            raise ValueError(f"{value!r} is not a whole number{hint}")
        if not self.least <= value <= self.most:
            raise ValueError(f"{value!r} is out of range")
        return value

    def from_ns3(self, text: str) -> int | str:  # noqa: D102
        return int(text) if text.isascii() and text.isdecimal() else text


@dataclass(frozen=True)
class Number(WordRule):
    """A finite number in an interval, each end in it or not."""

    type_name = "number"
    least: float = 0.0
    most: float = math.inf
    is_least_allowed: bool = True
    is_most_allowed: bool = True

    @property
    def ordinary(self) -> str:  # noqa: D102
        low = f"{'from' if self.is_least_allowed else 'above'} {self.least:g}"
        if math.isinf(self.most):
            return f"a number {low}"
        return f"a number {low} {'to' if self.is_most_allowed else 'to below'} {self.most:g}"

    def read_ordinary(self, value: Any) -> float:  # noqa: D102
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            hint = did_you_mean(value, self.words) if isinstance(value, str) else ""
            raise ValueError(f"{value!r} is not a finite number{hint}")
        is_low = value < self.least or (value == self.least and not self.is_least_allowed)
        is_high = value > self.most or (value == self.most and not self.is_most_allowed)
        if is_low or is_high:
            raise ValueError(f"{value!r} is out of range")
        return float(value)

    def from_ns3(self, text: str) -> float | str:  # noqa: D102
        try:
            return float(text)
        except ValueError:
            return text


@dataclass(frozen=True)
class Flag(WordRule):
    """True or false."""

    type_name = "boolean"

    @property
    def ordinary(self) -> str:  # noqa: D102
        return "true or false"

    def read_ordinary(self, value: Any) -> bool:  # noqa: D102
        if isinstance(value, bool):
            return value
        hint = did_you_mean(value, self.words) if isinstance(value, str) else ""
        raise ValueError(f"{value!r} is neither true nor false{hint}")

    def from_ns3(self, text: str) -> bool | str:  # noqa: D102
        return {"true": True, "false": False}.get(text, text)


@dataclass(frozen=True, init=False)
class Choice(Rule):
    """One of some names."""

    type_name = "name"
    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)

    @property
    def allowed(self) -> str:  # noqa: D102
        return " or ".join(map(repr, self.names))

    def read(self, value: Any) -> str:  # noqa: D102
        if isinstance(value, str) and value in self.names:
            return value
        hint = did_you_mean(value, self.names) if isinstance(value, str) else ""
        raise ValueError(f"{value!r} is unknown{hint}")


@dataclass(frozen=True)
class Registered(Choice):
    """One of the package's own names, or one that a plug-in, a script or a user's file registers in ``group``."""

    group: str

    def __init__(self, group: str, *names: str) -> None:
        super().__init__(*names)
        object.__setattr__(self, "group", group)

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"{super().allowed}, or one that is registered, or '{FILE}PATH.py'"

    def read(self, value: Any) -> str:  # noqa: D102
        if isinstance(value, str) and value not in self.names:
            if _is_file(value):
                return value
            try:
                if is_registered(self.group, value):
                    return value
            except ConfigError as error:
                raise ValueError(f"{value!r} is looked for among plug-ins: {error}") from error
        return super().read(value)


def _is_file(value: str) -> bool:
    return value.startswith(FILE) and bool(value.removeprefix(FILE).strip())


@dataclass(frozen=True)
class Name(Rule):
    """A name in snake_case that is looked up later, where things register themselves, or a file of the user's."""

    type_name = "name"
    what: str

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"the name of {self.what}, in snake_case, or '{FILE}PATH'"

    def read(self, value: Any) -> str:  # noqa: D102
        if isinstance(value, str) and (re.fullmatch(r"[a-z][a-z0-9_]*", value) or _is_file(value)):
            return value
        raise ValueError(f"{value!r} is not a name")


@dataclass(frozen=True)
class Text(Rule):
    """A text that is not empty."""

    type_name = "text"
    what: str

    @property
    def allowed(self) -> str:  # noqa: D102
        return self.what

    def read(self, value: Any) -> str:  # noqa: D102
        if isinstance(value, str) and value.strip():
            return value
        raise ValueError(f"{value!r} is not a text")


class PathRule(Text):
    """A path; None where there is no file."""

    def read(self, value: Any) -> Any:  # noqa: D102
        return None if value is None else super().read(value)


@dataclass(frozen=True)
class FileRule(WordRule):
    """The path of a file, or a word that stands for none."""

    type_name = "text"
    what: str

    @property
    def ordinary(self) -> str:  # noqa: D102
        return f"the path of {self.what}"

    def read_ordinary(self, value: Any) -> str:  # noqa: D102
        if isinstance(value, str) and value.strip():
            return value
        raise ValueError(f"{value!r} is not a path")
