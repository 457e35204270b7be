# SPDX-License-Identifier: GPL-2.0-only
"""Presets: named values for several tables, put under those that a scenario gives."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from astra_py.config.table import Table, rule_of

__all__ = ["apply_preset", "presets", "put_under", "transport_presets"]


def transport_presets() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the transport presets that ship with the package: name to the tables and keys that it sets."""
    return presets("transport")


@cache
def presets(kind: str) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the presets that ship with the package for ``transport.preset`` or ``system.preset``, by ``kind``."""
    folder = files("astra_py.config") / "presets" / kind
    found = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return {name.removesuffix(".toml"): tomllib.loads(found[name].read_text("utf-8")) for name in sorted(found)}


def apply_preset(given: Mapping[str, Any], scenario: type[Table]) -> Mapping[str, Any]:
    """Put the values of the presets that are named under those given; what means nothing beside them stays away."""
    for kind in ("transport", "system"):
        table = given.get(kind, {})
        name = table.get("preset") if isinstance(table, Mapping) else None
        preset = presets(kind).get(name, {}) if isinstance(name, str) else {}
        given = {**given, **put_under(given, preset, scenario)}
    return given


def put_under(given: Mapping[str, Any], preset: Mapping[str, Any], table: type[Table]) -> dict[str, Any]:
    """The keys of a table that ``preset`` has, each as given where it is, without those that then mean nothing."""
    both = {**preset, **given}
    for name, requirement in table.conditions().items():
        if name in preset and name not in given and not requirement.is_met(lambda field: _read(table, both, field)):
            del both[name]
    merged = {}
    for name in preset.keys() & both.keys():
        kind, inside = table.model_fields[name].annotation, given.get(name, {})
        if isinstance(kind, type) and issubclass(kind, Table) and isinstance(inside, Mapping):
            merged[name] = {**inside, **put_under(inside, preset[name], kind)}
        else:
            merged[name] = both[name]
    return merged


def _read(table: type[Table], values: Mapping[str, Any], field: str) -> Any:
    """What a table holds of a field; its default where the value given is none that it allows."""
    rule, default = rule_of(table.model_fields[field]), table.model_fields[field].default
    try:
        return rule.read(values.get(field, default))
    except ValueError:
        return rule.read(default)
