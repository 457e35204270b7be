# SPDX-License-Identifier: GPL-2.0-only
"""The base of all tables of a scenario, and how a parameter is declared in one.

A parameter is declared once, as a field::

    link_rate: Annotated[int, QuantityRule(RATE, least=1)] = parameter(
        "100Gbps", "Rate of each link, in each direction.", source="assumed"
    )

The default is written as it would be in a file and read by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic.fields import FieldInfo

from astra_py.config.condition import Condition, OfTransport, Requirement
from astra_py.config.rules import Rule

__all__ = [
    "Condition",
    "Declaration",
    "FieldError",
    "Ns3Attribute",
    "OfTransport",
    "Table",
    "declaration",
    "parameter",
    "rule_of",
]


class FieldError(ValueError):
    """A value that its own rule allows and its surroundings do not.

    Parameters
    ----------
    key : the field, relative to the table that raises it; empty where the field's own validator does.
    message : what is wrong, starting with the value.
    allowed : what is allowed instead.
    """

    def __init__(self, key: str, message: str, allowed: str) -> None:
        super().__init__(message)
        self.key = key
        self.allowed = allowed


@dataclass(frozen=True)
class Ns3Attribute:
    """The ns-3 attributes that a parameter becomes.

    Attributes
    ----------
    names : full names of the attributes.
    suffix : completes ns-3's text of the attribute to ours (ns-3 writes sizes as bare numbers of bytes); None where
        attribute and parameter do not map one to one, so that only the parameter can be set.
    words : ns-3's text of each word that has another one there, such as "-1" of "auto".
    is_figure : whether the value reaches the engine as a figure of the transport or the platform, and not by the
        attribute's name.
    """

    names: tuple[str, ...]
    suffix: str | None
    words: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    is_figure: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Declaration:
    """What a parameter's declaration says beside its rule, default and description."""

    source: str
    only: Requirement | None
    ns3: Ns3Attribute | None
    by_transport: Mapping[str, Any]


def parameter(
    default: Any,
    description: str,
    *,
    source: str = "",
    only: Requirement | None = None,
    ns3: Ns3Attribute | None = None,
    by_transport: Mapping[str, Any] | None = None,
) -> Any:
    """Declare a parameter.

    Parameters
    ----------
    default : as it is written in a scenario file; ``...`` where one must be given.
    description : one sentence or two.
    source : where the default comes from, ``"assumed"`` where nothing can be cited; empty for a mere choice.
    only : when the parameter means something; setting it otherwise is an error, but for another kind of transport.
    ns3 : the ns-3 attributes that it becomes.
    by_transport : other defaults, as ``default``, for kinds of transport.
    """
    extra: dict[str, Any] = {"declaration": Declaration(source, only, ns3, by_transport or {})}
    return Field(default, description=description, json_schema_extra=extra)


def declaration(info: FieldInfo) -> Declaration | None:
    """Return what was declared for a field, or None where it is a table itself."""
    extra = info.json_schema_extra
    return extra["declaration"] if isinstance(extra, dict) else None  # type: ignore[return-value]


def rule_of(info: FieldInfo) -> Rule:
    """Return the rule of a parameter's field."""
    return next(annotation for annotation in info.metadata if isinstance(annotation, Rule))


def _condition(info: FieldInfo) -> Requirement | None:
    """Return when a parameter, or a table in a table, means something."""
    if (made := declaration(info)) is not None:
        return made.only
    kind = info.annotation
    return kind.only if isinstance(kind, type) and issubclass(kind, Table) else None


class Table(BaseModel):
    """A table of a scenario: frozen, without unknown keys, and without keys that would mean nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    #: Key path of the table in a scenario.
    key: ClassVar[str] = ""

    #: When the table means something: the state of a field of the table that it is in.
    only: ClassVar[Requirement | None] = None

    @classmethod
    def key_path(cls, field: str) -> str:
        """Key path of a field, such as ``platform.link_rate``."""
        return f"{cls.key}.{field}" if cls.key else field

    @classmethod
    def conditions(cls) -> dict[str, Requirement]:
        """Return the conditions of those fields, and tables in this one, that have one."""
        found = {name: _condition(info) for name, info in cls.model_fields.items()}
        return {name: condition for name, condition in found.items() if condition is not None}

    @classmethod
    def reader(cls, values: Mapping[str, Any]) -> Callable[[str], Any]:
        """What the table would hold of a field, by its name, where ``values`` are given; else its default.

        So it is, too, where the value given is none that the field allows.
        """

        def read(field: str) -> Any:
            rule, default = rule_of(cls.model_fields[field]), cls.model_fields[field].default
            try:
                return rule.read(values.get(field, default))
            except ValueError:
                return rule.read(default)

        return read

    def is_met(self, requirement: Requirement) -> bool:
        """Whether a requirement on fields of this table is met."""
        return requirement.is_met(lambda name: getattr(self, name))

    def text(self, field: str) -> Any:
        """Return the value of a field as a scenario file would hold it; of a table, those keys that are set."""
        value = getattr(self, field)
        if isinstance(value, Table):
            return {name: value.text(name) for name in sorted(value.model_fields_set)}
        return rule_of(type(self).model_fields[field]).write(value)

    @property
    def put_aside(self) -> tuple[str, ...]:
        """Key paths of what was given in this table, or tables in it, for another kind of transport than is run."""
        conditions, found = self.conditions(), list[str]()
        for name in type(self).model_fields:
            value = getattr(self, name)
            if name in conditions and conditions[name].is_put_aside(lambda field: getattr(self, field)):
                inside = sorted(value.model_fields_set) if isinstance(value, Table) else []
                found += [value.key_path(field) for field in inside]
                if name in self.model_fields_set and not isinstance(value, Table):
                    found.append(self.key_path(name))
            elif isinstance(value, Table):
                found += value.put_aside
        return tuple(found)

    @model_validator(mode="after")
    def _check_all(self) -> Table:
        for name, requirement in self.conditions().items():
            if name not in self.model_fields_set or requirement.is_put_aside(lambda field: getattr(self, field)):
                continue
            condition = requirement.refused
            if not self.is_met(condition):
                at = ", ".join(f"{self.key_path(field)} = {self.text(field)!r}" for field in condition.fields)
                raise FieldError(
                    name, f"{self.text(name)!r} would mean nothing with {at}", f"only with {condition.text}"
                )
        self.check()
        return self

    def check(self) -> None:
        """Compare fields with each other; raises FieldError."""

    @model_serializer(mode="wrap")
    def _without_meaningless(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        for name, condition in self.conditions().items():
            if not self.is_met(condition):
                del written[name]
        return written
