# SPDX-License-Identifier: GPL-2.0-only
"""The format ``scenario``: our own scenario files, which settings of other programs can be written as."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from astra_py.config import Scenario, load_scenario
from astra_py.errors import ConfigError, WorkloadError
from astra_py.formats.head import Head
from astra_py.formats.registry import Document, Format, Kind, Options, register_format

__all__ = ["SCENARIO", "toml_text"]


def _recognises(path: Path, head: Head) -> bool:
    """TOML whose tables are a scenario's."""
    if head.is_gzip or not head.is_whole:
        return False
    try:
        tree = tomllib.loads(head.text or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return bool(tree) and set(tree) <= set(Scenario.model_fields) and any(isinstance(tree[key], dict) for key in tree)


def _read(path: Path, options: Options) -> Document:
    try:
        scenario = load_scenario(path)
    except ConfigError as error:
        raise WorkloadError(str(error)) from error
    except RecursionError:
        raise WorkloadError(f"{path}: is nested too deeply") from None
    platform, workload = scenario.platform, scenario.workload
    job = "no workload" if workload is None else f"workload {workload.title}"
    return Document(
        format=SCENARIO.name,
        path=path,
        content=scenario,
        summary=(f"{path}: platform {platform.kind}, transport {scenario.transport.congestion_control}, {job}",),
    )


def _write(document: Document, path: Path, options: Options) -> tuple[str, ...]:
    """Write settings as tables of a scenario."""
    tables = {name: values for name, values in document.content.items() if values}
    head = "".join(f"# {note}\n" for note in document.notes)
    path.write_text(f"{head}{toml_text(tables)}", encoding="utf-8")
    keys = sum(1 for _ in _leaves(tables))
    return (f"{path}: {keys} keys of {', '.join(f'[{name}]' for name in tables) or 'no table'}",)


def toml_text(tables: Mapping[str, Any], under: str = "") -> str:
    """Write tables of texts, numbers, booleans, lists of these and further tables as TOML."""
    plain = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    lines = [f"[{under}]"] if under and (plain or not tables) else []
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    text = "\n".join(lines)
    parts = [f"{text}\n"] if text else []
    for key, value in tables.items():
        if isinstance(value, Mapping):
            parts.append(toml_text(value, f"{under}.{key}" if under else key))
    return "\n".join(parts)


def _leaves(tables: Mapping[str, Any]) -> Iterator[Any]:
    for value in tables.values():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield value


SCENARIO = register_format(
    Format(
        name="scenario",
        title="scenario (TOML)",
        kind=Kind.SCENARIO,
        recognises=_recognises,
        read=_read,
        write=_write,
        writes=frozenset({Kind.TRANSPORT, Kind.SYSTEM}),
        suffixes=(".toml",),
    )
)
