# SPDX-License-Identifier: GPL-2.0-only
"""A scenario as rows: each key with its value, its default, its unit and what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from astra_py.config.params import parameter_table

__all__ = ["Setting", "settings"]


@dataclass(frozen=True)
class Setting:
    """A key of a scenario.

    Attributes
    ----------
    key, value : as a scenario file has them.
    default : of the key; empty where there is none.
    is_default : whether the value is the default.
    meaning : what the key is.
    """

    key: str
    value: str
    default: str
    is_default: bool
    meaning: str


def settings(scenario: Mapping[str, Any]) -> list[Setting]:
    """Every key of a resolved scenario, with its value after presets and overrides.

    Parameters
    ----------
    scenario : as :meth:`~astra_py.config.Scenario.resolved` gives it, and a manifest has it.
    """
    kind = scenario.get("transport", {}).get("kind")
    known = {parameter.key: parameter for parameter in parameter_table()}
    found = []
    for key, value in _flat(scenario):
        parameter = known.get(key)
        default = None if parameter is None else parameter.by_transport.get(kind, parameter.default)
        told = "" if default is None else _text(default)
        found.append(Setting(key, _text(value), told, told == _text(value), parameter.description if parameter else ""))
    return found


def _flat(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    return str(value)
