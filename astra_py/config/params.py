# SPDX-License-Identifier: GPL-2.0-only
"""Every parameter there is, read from the models that declare them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticUndefined

from astra_py.config.explain import table_at, tables_of
from astra_py.config.presets import preset_values
from astra_py.config.rules import Rule
from astra_py.config.scenario import Scenario
from astra_py.config.table import OfTransport, declaration, rule_of

__all__ = ["Parameter", "parameter_table", "rule_at"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a scenario.

    Attributes
    ----------
    key : its key path.
    type : kind of value: size, rate, time, integer, number, name, text or table.
    unit : unit that the value is held in inside the package; empty for a pure number or a name.
    default : as it is written in a scenario file; None where one must be given.
    by_transport : other defaults, by the ``transport.kind`` that brings them.
    presets : values of presets that say where they have them from, and that source, by preset.
    allowed : what the value may be.
    only : when the parameter means something, or empty; setting it otherwise is an error, but for keys of another
        ``transport.kind``, which are named and not used.
    source : where the default comes from, ``"assumed"`` where nothing can be cited; empty for a choice.
    ns3 : full names of the ns-3 attributes that it becomes.
    description : what it is.
    """

    key: str
    type: str
    unit: str
    default: Any
    by_transport: Mapping[str, Any]
    presets: Mapping[str, tuple[Any, str]]
    allowed: str
    only: str
    source: str
    ns3: tuple[str, ...]
    description: str


def parameter_table() -> list[Parameter]:
    """All parameters, in the order of their declaration."""
    found = []
    # the workload of a job has the keys of the scenario's, which are listed once
    for table in dict(tables_of(Scenario)).values():
        for name, info in table.model_fields.items():
            made = declaration(info)
            if made is None:
                continue
            rule, only = rule_of(info), made.only or table.only
            if isinstance(table.only, OfTransport) and made.only is not None:
                only = OfTransport(table.only.kind, made.only)
            found.append(
                Parameter(
                    key=table.key_path(name),
                    type=rule.type_name,
                    unit=rule.unit,
                    default=None if info.default is PydanticUndefined else info.default,
                    by_transport=made.by_transport,
                    presets=preset_values(table.key_path(name)),
                    allowed=rule.allowed,
                    only=only.text if only else "",
                    source=made.source,
                    ns3=made.ns3.names if made.ns3 else (),
                    description=info.description or "",
                )
            )
    return found


def rule_at(key: str) -> Rule | None:
    """The rule of the parameter at a key path, of jobs and background too; None where there is none."""
    parts = key.split(".")
    info = table_at(parts, Scenario).model_fields.get(parts[-1])
    return None if info is None or declaration(info) is None else rule_of(info)
