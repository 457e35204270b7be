# SPDX-License-Identifier: GPL-2.0-only
"""What the kind of transport decides before a scenario is read: defaults of other parameters, and keys put aside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from astra_py.config.presets import preset_transport, put_under
from astra_py.config.table import FieldError, Table, declaration, rule_of

__all__ = ["apply_transport_defaults", "transport_kind"]


def transport_kind(given: Mapping[str, Any], scenario: type[Table]) -> str:
    """The kind of transport of a scenario as it is given: its own, that of its preset, or the default."""
    info = dict(_tables(scenario))["transport"].model_fields["kind"]
    table = given.get("transport", {})
    values = table if isinstance(table, Mapping) else {}
    kind = values.get("kind", preset_transport(str(values.get("preset"))) or info.default)
    try:
        return str(rule_of(info).read(kind))
    except ValueError:
        return str(info.default)


def apply_transport_defaults(
    given: Mapping[str, Any], scenario: type[Table], kind: str
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Put the defaults that ``kind`` brings under what is given, and take out what means nothing beside them.

    Returns
    -------
    given : the scenario with these defaults.
    put_aside : key paths of what was taken out: it is of a scenario's other kind of transport.

    Raises
    ------
    FieldError : what was taken out is no value of its parameter.
    """
    changed, put_aside = dict(given), list[str]()
    for name, table in _tables(scenario):
        defaults = {
            field: made.by_transport[kind]
            for field, info in table.model_fields.items()
            if (made := declaration(info)) is not None and kind in made.by_transport
        }
        values = changed.get(name, {})
        if not defaults or not isinstance(values, Mapping):
            continue
        brought = {field: value for field, value in defaults.items() if field not in values}
        kept = dict(values)
        for field in values:
            if _is_only_without(table, values, brought, field):
                _check(table, field, kept.pop(field))
                put_aside.append(table.key_path(field))
        changed[name] = {**kept, **put_under(kept, brought, table)}
    return changed, tuple(put_aside)


def _tables(scenario: type[Table]) -> Iterator[tuple[str, type[Table]]]:
    """The tables that a scenario has at most once, by their names."""
    for name, info in scenario.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Table):
            yield name, info.annotation


def _is_only_without(table: type[Table], values: Mapping[str, Any], brought: Mapping[str, Any], field: str) -> bool:
    """Whether a field that is given means something with the ordinary defaults, and nothing with those brought."""
    requirement = table.conditions().get(field)
    if requirement is None:
        return False
    return requirement.is_met(table.reader(values)) and not requirement.is_met(table.reader({**values, **brought}))


def _check(table: type[Table], field: str, value: Any) -> None:
    """Refuse a value that is put aside and that its parameter would not take."""
    rule = rule_of(table.model_fields[field])
    try:
        rule.read(value)
    except ValueError as error:
        raise FieldError(table.key_path(field), str(error), rule.allowed) from None
