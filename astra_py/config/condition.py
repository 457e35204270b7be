# SPDX-License-Identifier: GPL-2.0-only
"""When a parameter means something: what other fields of its table have to be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["AllOf", "AnyOf", "Condition", "OfTransport", "Requirement"]


class Requirement(ABC):
    """A condition on one field of a table, or a combination of such conditions."""

    #: What is required, as the end of "only with ...".
    text: str

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that it looks at."""

    @abstractmethod
    def is_met(self, get: Callable[[str], Any]) -> bool:
        """Whether it is met where ``get`` gives the value of a field by its name."""

    @property
    def refused(self) -> Requirement:
        """That part of it for which a value is refused, and not only put aside, where it is not met."""
        return self

    def is_put_aside(self, get: Callable[[str], Any]) -> bool:
        """Whether a value that is given all the same is kept, told of, and not used."""
        return False


@dataclass(frozen=True)
class Condition(Requirement):
    """A state of one field."""

    field: str
    text: str
    is_met_by: Callable[[Any], bool]

    @property
    def fields(self) -> tuple[str, ...]:  # noqa: D102  (as the base)
        return (self.field,)

    def is_met(self, get: Callable[[str], Any]) -> bool:  # noqa: D102  (as the base)
        return self.is_met_by(get(self.field))


class Several(Requirement):
    """Several requirements, joined by a word."""

    word: str

    def __init__(self, *parts: Requirement) -> None:
        self.parts = parts
        self.text = f" {self.word} ".join(part.text for part in parts)

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(field for part in self.parts for field in part.fields))


class AllOf(Several):
    """Each of the parts."""

    word = "and"

    def is_met(self, get: Callable[[str], Any]) -> bool:  # noqa: D102  (as the base)
        return all(part.is_met(get) for part in self.parts)


class AnyOf(Several):
    """At least one of the parts."""

    word = "or"

    def is_met(self, get: Callable[[str], Any]) -> bool:  # noqa: D102  (as the base)
        return any(part.is_met(get) for part in self.parts)


class OfTransport(Requirement):
    """A kind of transport that a parameter is of, and what else it needs there.

    A scenario file may describe several kinds of transport and is run with one of them, so that parameters of the
    others are put aside.
    """

    fields = ("kind",)

    def __init__(self, kind: str, beside: Requirement | None = None) -> None:
        self.kind = kind
        self.beside = beside
        self.text = f"transport.kind = {kind!r}" + (f" and {beside.text}" if beside else "")

    def is_met(self, get: Callable[[str], Any]) -> bool:  # noqa: D102  (as the base)
        return not self.is_put_aside(get) and (self.beside is None or self.beside.is_met(get))

    @property
    def refused(self) -> Requirement:  # noqa: D102  (as the base)
        return self.beside or self

    def is_put_aside(self, get: Callable[[str], Any]) -> bool:  # noqa: D102  (as the base)
        return bool(get("kind") != self.kind)
