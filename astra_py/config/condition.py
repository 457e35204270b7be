# SPDX-License-Identifier: GPL-2.0-only
"""When a parameter means something: what other fields of its table have to be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["AllOf", "AnyOf", "Condition", "Requirement"]


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
