# SPDX-License-Identifier: GPL-2.0-only
"""Validation errors in a user's words: the key path, the value, what is wrong with it and what is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from astra_py.config.table import FieldError, Table, declaration, rule_of
from astra_py.errors import did_you_mean

__all__ = ["explain", "table_at", "tables_of"]


def tables_of(scenario: type[Table]) -> Iterator[tuple[str, type[Table]]]:
    """Yield the scenario's own keys as a table of the name ``""``, then each table by its key path, in order."""
    yield scenario.key, scenario
    for info in scenario.model_fields.values():
        for kind in (info.annotation, *get_args(info.annotation)):
            if isinstance(kind, type) and issubclass(kind, Table):
                yield from tables_of(kind)


def explain(error: ValidationError, scenario: type[Table]) -> list[str]:
    """One line for each problem in ``error``."""
    tables = dict(tables_of(scenario))
    return [_explain_one(details, scenario, tables) for details in error.errors()]


def table_at(parts: list[str], scenario: type[Table]) -> type[Table]:
    """The innermost table that a place in a scenario is in; of tables by name, one part is the name."""
    table, at = scenario, 0
    while at < len(parts) and parts[at] in table.model_fields:
        annotation = table.model_fields[parts[at]].annotation
        inner = [
            kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type) and issubclass(kind, Table)
        ]
        at += 2 if get_origin(annotation) is dict else 1
        if not inner or at > len(parts):
            break
        table = inner[0]
    return table


def _explain_one(details: ErrorDetails, scenario: type[Table], tables: dict[str, type[Table]]) -> str:
    parts = [str(part) for part in details["loc"]]
    table = table_at(parts, scenario)
    key, value = ".".join(parts), details["input"]
    match details["type"]:
        case "extra_forbidden":
            return f"{key}: unknown key (value {value!r}){_nearest_key(parts, table, tables)}; allowed: {_keys(table)}"
        case "missing":
            rule = rule_of(table.model_fields[parts[-1]])
            return f"{key}: missing, and [{table.key}] needs it; allowed: {rule.allowed}"
        case "value_error":
            problem = details["ctx"]["error"]
            if isinstance(problem, FieldError):
                return f"{'.'.join([*parts, *filter(None, [problem.key])])}: {problem}; allowed: {problem.allowed}"
            return f"{key}: {problem}; allowed: {rule_of(table.model_fields[parts[-1]]).allowed}"
        case _:
            return f"{key}: {value!r} is not a table; allowed: a table with the keys {_keys(table)}"


def _keys(table: type[Table]) -> str:
    names = [name if declaration(info) else f"[{name}]" for name, info in table.model_fields.items()]
    return ", ".join(names)


def _nearest_key(parts: list[str], table: type[Table], tables: dict[str, type[Table]]) -> str:
    """Name the nearest key: in the same table, else the same name in another one, else a key path that looks alike."""
    name, where = parts[-1], ".".join(parts[:-1])
    if hint := did_you_mean(name, table.model_fields):
        return hint if table is tables[""] else hint.replace("'", f"'{where}.", 1)
    known = [kind.key_path(field) for kind in tables.values() for field in kind.model_fields]
    moved = [path for path in known if path.rpartition(".")[2] == name]
    return f"; did you mean {moved[0]!r}?" if moved else did_you_mean(".".join(parts), known)
