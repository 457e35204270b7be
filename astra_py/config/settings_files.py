# SPDX-License-Identifier: GPL-2.0-only
"""``transport.file`` and ``system.file``: files of other programs whose settings stand under those that are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from astra_py.config.presets import put_under
from astra_py.config.table import Table
from astra_py.plugins import Registry

__all__ = ["TABLES_WITH_FILES", "SettingsReader", "apply_settings_files", "register_settings_reader"]

#: Tables of a scenario that may name a file of settings.
TABLES_WITH_FILES = ("transport", "system")

#: Reads the file that a table names: the scenario as it is given, and the path, to tables and keys.
SettingsReader = Callable[[Mapping[str, Any], Path], Mapping[str, Mapping[str, Any]]]

_readers: Registry[SettingsReader] = Registry("astra_py.formats", "settings reader")


def register_settings_reader(table: str, reader: SettingsReader) -> None:
    """Register what reads the files of ``[table]``; ``formats`` does, which knows them."""
    _readers.add(table, reader)


def apply_settings_files(given: Mapping[str, Any], scenario: type[Table], transport: str) -> Mapping[str, Any]:
    """Put the settings of files that are named under those given; what means nothing beside them stays away.

    Parameters
    ----------
    transport : the kind of transport that is run; files of another one change nothing.

    Raises
    ------
    WorkloadError, TopologyError : a file is not understood.
    """
    for table in TABLES_WITH_FILES:
        if table == "transport" and transport != "roce":
            continue
        values = given.get(table)
        name = values.get("file") if isinstance(values, Mapping) else None
        if isinstance(name, str) and name != "none" and name.strip():
            given = {**given, **put_under(given, _readers.find(table)(given, Path(name)), scenario)}
    return given
