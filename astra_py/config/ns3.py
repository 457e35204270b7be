# SPDX-License-Identifier: GPL-2.0-only
"""``[ns3.defaults]``: ns-3 attributes by their full names, and their way into the parameters that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from astra_py.config.rules import Rule
from astra_py.config.table import FieldError, Ns3Attribute, Table, declaration, parameter, rule_of

__all__ = ["Ns3Config", "apply_ns3_defaults", "attributes_of", "mapped_attributes", "to_ns3"]

_ATTRIBUTE_NAME = re.compile(r"ns3(::[A-Za-z_][A-Za-z0-9_]*){2,}")


class AttributesRule(Rule):
    """A table of full ns-3 attribute names and values; numbers and booleans become ns-3's text for them."""

    type_name = "table"
    allowed = 'a table of names such as "ns3::TcpSocket::ConnCount" and values as ns-3\'s text'

    def read(self, value: Any) -> dict[str, str]:
        if not isinstance(value, Mapping):
            raise ValueError(f"{value!r} is not a table")
        read = {}
        for name, text in value.items():
            if not _ATTRIBUTE_NAME.fullmatch(str(name)):
                raise ValueError(f"{name!r} is not a full ns-3 attribute name")
            if not isinstance(text, str | int | float):
                raise ValueError(f"{text!r} of {name!r} is not a text, number or boolean")
            read[str(name)] = str(text).lower() if isinstance(text, bool) else str(text)
        return read


class Ns3Config(Table):
    """The escape hatch to ns-3."""

    key: ClassVar[str] = "ns3"

    defaults: Annotated[dict[str, str], AttributesRule()] = parameter(
        {},
        "Defaults of ns-3 attributes. Those that a parameter stands for set that parameter; the others go to ns-3 as "
        "given.",
    )


@dataclass(frozen=True)
class Mapped:
    """An attribute that a parameter stands for, and where that parameter is."""

    tables: tuple[str, ...]
    table: type[Table]
    field: str
    mapping: Ns3Attribute

    @property
    def rule(self) -> Rule:
        """Rule of the parameter."""
        return rule_of(self.table.model_fields[self.field])


def attributes_of(table: Table) -> dict[str, str]:
    """Attributes, by full name in ns-3's text, of those parameters of a table that differ from their defaults.

    Parameters that mean nothing where they are, and figures of the transport or the platform, are left out. What is not
    named here has ns-3's own default, which is the parameter's.
    """
    found: dict[str, str] = {}
    conditions = table.conditions()
    for name, info in type(table).model_fields.items():
        if name in conditions and not table.is_met(conditions[name]):
            continue
        value, made = getattr(table, name), declaration(info)
        if isinstance(value, Table):
            found |= attributes_of(value)
        elif made is not None and made.ns3 is not None and not made.ns3.is_figure:
            rule = rule_of(info)
            if value != rule.read(info.default):
                (attribute,) = made.ns3.names
                found[attribute] = to_ns3(rule, value, made.ns3)
    return found


def to_ns3(rule: Rule, value: Any, mapping: Ns3Attribute) -> str:
    """ns-3's text of a parameter's value."""
    written = rule.write(value)
    return mapping.words[written] if isinstance(written, str) and written in mapping.words else rule.to_ns3(value)


def _from_ns3(rule: Rule, text: str, mapping: Ns3Attribute) -> Any:
    word = next((word for word, there in mapping.words.items() if there == text), None)
    return rule.from_ns3(f"{text}{mapping.suffix}") if word is None else word


def mapped_attributes(table: type[Table], tables: tuple[str, ...] = ()) -> Iterator[tuple[str, Mapped]]:
    """Each attribute that a parameter of a table, or of a table in it, stands for."""
    for name, info in table.model_fields.items():
        kind, made = info.annotation, declaration(info)
        if isinstance(kind, type) and issubclass(kind, Table):
            yield from mapped_attributes(kind, (*tables, name))
        elif made is not None and made.ns3 is not None:
            for attribute in made.ns3.names:
                yield attribute, Mapped(tables, table, name, made.ns3)


def apply_ns3_defaults(given: Mapping[str, Any], scenario: type[Table]) -> Mapping[str, Any]:
    """Move those of ``ns3.defaults`` that a parameter stands for into that parameter.

    Raises
    ------
    FieldError
        the attribute and the parameter are both given, the value is not one of the parameter's, or the two do not map
        one to one so that only the parameter can be set.
    """
    ns3 = given.get("ns3")
    attributes = ns3.get("defaults") if isinstance(ns3, Mapping) else None
    if not isinstance(attributes, Mapping):
        return given
    left = dict(attributes)
    changed: dict[str, Any] = dict(given)
    for attribute, mapped in mapped_attributes(scenario):
        if attribute in left:
            _set(changed, attribute, left.pop(attribute), mapped)
    changed["ns3"] = {**ns3, "defaults": left}  # type: ignore[dict-item]
    return changed


def _set(changed: dict[str, Any], attribute: str, value: Any, mapped: Mapped) -> None:
    """Set the parameter of an attribute in ``changed``, whose tables are copied where they change."""
    at, path, rule = f'ns3.defaults."{attribute}"', mapped.table.key_path(mapped.field), mapped.rule
    if mapped.mapping.suffix is None:
        raise FieldError(at, f"{value!r} cannot be set here", f"{path} instead: {rule.allowed}")
    fields = changed
    for table in mapped.tables:
        inside = fields.get(table, {})
        if not isinstance(inside, Mapping):
            return
        fields[table] = dict(inside)
        fields = fields[table]
    if mapped.field in fields:
        raise FieldError(at, f"{value!r} sets what {path} = {fields[mapped.field]!r} sets", "one of the two")
    text = _from_ns3(rule, str(value).lower() if isinstance(value, bool) else str(value), mapped.mapping)
    try:
        rule.read(text)
    except ValueError as error:
        raise FieldError(at, f"{value!r} is no value of {path}: {error}", rule.allowed) from None
    fields[mapped.field] = text
