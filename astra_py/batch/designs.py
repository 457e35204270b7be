# SPDX-License-Identifier: GPL-2.0-only
"""Which combinations of values a sweep runs: a grid, a list, or a Latin hypercube; several of them are multiplied."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np

from astra_py.errors import ConfigError

__all__ = ["Design", "Grid", "PointList", "multiply", "require_different_keys", "value_text"]


class Design(Protocol):
    """Rows of values; each row gives the text of every key of ``keys``."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that it varies, in order."""

    def rows(self) -> list[dict[str, str]]:
        """Its rows, in order: text by key, as ``key.path=value`` takes it."""


@dataclass(frozen=True)
class Grid:
    """Every combination of some values of each key; the last key varies fastest.

    Parameters
    ----------
    values : values of each key, each once.

    Raises
    ------
    ConfigError : there are no keys, or a key has no values, or one of them twice.
    """

    values: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not self.values:
            raise ConfigError("grid: no keys; allowed: at least one, with a list of values")
        for key, texts in self.values.items():
            if not texts:
                raise ConfigError(f"grid: {key}: no values; allowed: a list of at least one")
            if twice := [text for i, text in enumerate(texts) if text in texts[:i]]:
                raise ConfigError(f"grid: {key}: {twice[0]!r} is there twice; allowed: each value once")

    @classmethod
    def of(cls, values: Mapping[str, Iterable[Any]]) -> Grid:
        """A grid of any values.

        Raises
        ------
        ConfigError : as for the class; or the values of a key are one text, or no values of a scenario.
        """
        texts = {}
        for key, given in values.items():
            if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
                raise ConfigError(f"grid: {key} = {given!r} is no list of values; allowed: such as [{given!r}]")
            texts[key] = tuple(value_text(value, f"grid: {key}") for value in given)
        return cls(texts)

    @property
    def keys(self) -> tuple[str, ...]:  # noqa: D102  (as the protocol)
        return tuple(self.values)

    def rows(self) -> list[dict[str, str]]:  # noqa: D102
        return [dict(zip(self.values, texts, strict=True)) for texts in product(*self.values.values())]


@dataclass(frozen=True)
class PointList:
    """Points one by one.

    Parameters
    ----------
    points : text by key of each; all have the same keys, so that a column of a table has no holes.

    Raises
    ------
    ConfigError : there are none, two are equal, or one has other keys than the first.
    """

    points: tuple[Mapping[str, str], ...]

    def __post_init__(self) -> None:
        if not self.points:
            raise ConfigError("points: there are none; allowed: at least one")
        seen: dict[tuple[str, ...], int] = {}
        for number, point in enumerate(self.points):
            if not point or set(point) != set(self.points[0]):
                raise ConfigError(
                    f"points: number {number} has keys {', '.join(point) or 'none'}; allowed: those of the first, "
                    f"{', '.join(self.points[0]) or 'and at least one'}"
                )
            texts = tuple(point[key] for key in self.points[0])
            if (first := seen.setdefault(texts, number)) != number:
                raise ConfigError(f"points: numbers {first} and {number} are equal; allowed: each point once")

    @classmethod
    def of(cls, points: Iterable[Mapping[str, Any]]) -> PointList:
        """A list of points of any values; raises as the class, or where a value is none of a scenario."""
        return cls(
            tuple(
                {key: value_text(value, f"points: number {number}: {key}") for key, value in point.items()}
                for number, point in enumerate(points)
            )
        )

    @property
    def keys(self) -> tuple[str, ...]:  # noqa: D102
        return tuple(self.points[0])

    def rows(self) -> list[dict[str, str]]:  # noqa: D102
        return [{key: point[key] for key in self.keys} for point in self.points]


def require_different_keys(designs: Sequence[Design]) -> None:
    """Refuse designs of which two vary the same key.

    Raises
    ------
    ConfigError : there are such.
    """
    keys: list[str] = []
    for design in designs:
        if twice := [key for key in design.keys if key in keys]:
            raise ConfigError(f"{twice[0]}: varied twice; allowed: in one of grid, points, latin_hypercube and seeds")
        keys += design.keys


def multiply(designs: Sequence[Design]) -> list[dict[str, str]]:
    """Every combination of a row of each design; the last design varies fastest."""
    return [{key: text for row in rows for key, text in row.items()} for rows in product(*(d.rows() for d in designs))]


def value_text(value: Any, where: str) -> str:
    """``value`` as ``key.path=value`` takes it.

    Parameters
    ----------
    value : a text, a number, true or false, or a list of these.
    where : what an error message begins with.

    Raises
    ------
    ConfigError : it is something else.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        parts = [json.dumps(part) if isinstance(part, str) else value_text(part, where) for part in value]
        return f"[{', '.join(parts)}]"
    raise ConfigError(f"{where} = {value!r}; allowed: a text, a number, true or false, or a list of these")
