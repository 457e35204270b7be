# SPDX-License-Identifier: GPL-2.0-only
"""Presets: named values for several tables, put under those that a scenario gives."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from astra_py.config.table import Table

__all__ = ["apply_preset", "preset_transport", "preset_values", "presets", "put_under", "transport_presets"]

#: Tables of a scenario that may name a preset of their kind.
_TABLES_WITH_PRESETS = ("transport", "system", "host")
#: Table of a preset that says where its figures come from, by key path.
_SOURCES = "sources"


def transport_presets() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the transport presets that ship with the package: name to the tables and keys that it sets."""
    return presets("transport")


def preset_transport(name: str) -> str | None:
    """The kind of transport that a transport preset is of; None where it is of any, or there is no such preset."""
    kind: str | None = transport_presets().get(name, {}).get("transport", {}).get("kind")
    return kind


def presets(kind: str) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the presets that ship with the package for ``[transport]``, ``[system]`` and the like, by ``kind``."""
    return {
        name: {table: values for table, values in preset.items() if table != _SOURCES}
        for name, preset in _files(kind).items()
    }


def preset_values(key: str) -> dict[str, tuple[Any, str]]:
    """What presets set a parameter to, and from which source, by preset; those that name a source for it.

    Parameters
    ----------
    key : the parameter's key path.
    """
    *tables, field = key.split(".")
    found = {}
    for kind in _TABLES_WITH_PRESETS:
        for name, preset in _files(kind).items():
            if (source := preset.get(_SOURCES, {}).get(key)) is not None:
                table: Any = preset
                for part in tables:
                    table = table[part]
                found[name] = (table[field], source)
    return found


@cache
def _files(kind: str) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    folder = files("astra_py.config") / "presets" / kind
    found = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return {name.removesuffix(".toml"): tomllib.loads(found[name].read_text("utf-8")) for name in sorted(found)}


def apply_preset(given: Mapping[str, Any], scenario: type[Table], transport: str) -> Mapping[str, Any]:
    """Put the values of the presets that are named under those given; what means nothing beside them stays away.

    Parameters
    ----------
    transport : the kind of transport that is run; presets of another one change nothing.
    """
    for kind in _TABLES_WITH_PRESETS:
        table = given.get(kind, {})
        name = table.get("preset") if isinstance(table, Mapping) else None
        preset = presets(kind).get(name, {}) if isinstance(name, str) else {}
        of = {"transport": preset_transport(str(name)), "host": "tcp"}.get(kind)
        if of in (None, transport):
            given = {**given, **put_under(given, preset, scenario)}
    return given


def put_under(given: Mapping[str, Any], preset: Mapping[str, Any], table: type[Table]) -> dict[str, Any]:
    """The keys of a table that ``preset`` has, each as given where it is, without those that then mean nothing."""
    both = {**preset, **given}
    for name, requirement in table.conditions().items():
        if name in preset and name not in given and not requirement.is_met(table.reader(both)):
            del both[name]
    merged = {}
    for name in preset.keys() & both.keys():
        kind, inside = table.model_fields[name].annotation, given.get(name, {})
        if isinstance(kind, type) and issubclass(kind, Table) and isinstance(inside, Mapping):
            merged[name] = {**inside, **put_under(inside, preset[name], kind)}
        else:
            merged[name] = both[name]
    return merged
