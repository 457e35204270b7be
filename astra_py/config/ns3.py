# SPDX-License-Identifier: GPL-2.0-only
"""``[ns3.defaults]``: ns-3 attributes by their full names, and their way into the parameters that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from astra_py.config.rules import Rule
from astra_py.config.table import FieldError, Ns3Attribute, Table, declaration, parameter, rule_of

__all__ = ["Ns3Config", "apply_ns3_defaults"]

_ATTRIBUTE_NAME = re.compile(r"ns3(::[A-Za-z_][A-Za-z0-9_]*){2,}")


class AttributesRule(Rule):
    """A table of full ns-3 attribute names and values; numbers and booleans become ns-3's text for them."""

    type_name = "table"
    allowed = 'a table of names such as "ns3::TcpSocket::SegmentSize" and values as ns-3\'s text'

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


def mapped_attributes(scenario: type[Table]) -> Iterator[tuple[str, str, type[Table], str, Ns3Attribute]]:
    """Each attribute that a parameter stands for: name, table's key, table, field and the mapping."""
    for key, info in scenario.model_fields.items():
        table = info.annotation
        if not (isinstance(table, type) and issubclass(table, Table)):
            continue
        for name, field in table.model_fields.items():
            made = declaration(field)
            for attribute in made.ns3.names if made is not None and made.ns3 is not None else ():
                yield attribute, key, table, name, made.ns3  # type: ignore[union-attr,misc]


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
    for attribute, key, table, name, mapping in mapped_attributes(scenario):
        if attribute not in left:
            continue
        value, at, path = left.pop(attribute), f'ns3.defaults."{attribute}"', table.key_path(name)
        rule = rule_of(table.model_fields[name])
        if mapping.suffix is None:
            raise FieldError(at, f"{value!r} cannot be set here", f"{path} instead: {rule.allowed}")
        fields = changed.get(key, {})
        if not isinstance(fields, Mapping):
            continue
        if name in fields:
            raise FieldError(at, f"{value!r} sets what {path} = {fields[name]!r} sets", "one of the two")
        # A count is a number in a scenario and a text in ns-3.
        text: Any = f"{value}{mapping.suffix}"
        if mapping.suffix == "" and text.isdecimal():
            text = int(text)
        try:
            rule.read(text)
        except ValueError as error:
            raise FieldError(at, f"{value!r} is no value of {path}: {error}", rule.allowed) from None
        changed[key] = {**fields, name: text}
    changed["ns3"] = {**ns3, "defaults": left}  # type: ignore[dict-item]
    return changed
