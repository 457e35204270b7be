# SPDX-License-Identifier: GPL-2.0-only
"""A sweep as a TOML file: a scenario, what is the same in all points, and what is varied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from astra_py.batch.designs import Design, Grid, PointList, value_text
from astra_py.batch.latin_hypercube import LatinHypercube, Range
from astra_py.batch.point import SEED
from astra_py.batch.study import Study
from astra_py.config import Scenario
from astra_py.config.load import read_toml
from astra_py.config.params import rule_at
from astra_py.errors import ConfigError, did_you_mean

__all__ = ["read_study"]

#: Keys of a sweep file.
_KEYS = ("scenario", "base", "grid", "points", "latin_hypercube", "seeds")
_RANGE_KEYS = ("from", "to", "scale")


def read_study(path: str | Path, *overrides: str) -> Study:
    """Read a sweep file (``docs/sweeps.md``).

    Parameters
    ----------
    path : of the file; relative paths in it are from its own folder.
    overrides : ``"key.path=value"`` for all points, each over what the file says.

    Raises
    ------
    ConfigError : the file cannot be read or is none of a sweep, or an override's key is one that is varied.
    """
    path = Path(path)
    tables = read_toml(path)
    try:
        return study_of(path, tables, overrides)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def study_of(path: Path, tables: Mapping[str, Any], overrides: Sequence[str] = ()) -> Study:
    """The study that the tables of the file ``path`` are; raises as :func:`read_study`, without the file's name."""
    for key in tables:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS)
            if key in Scenario.model_fields:
                hint = (
                    " of a sweep: it is one of a scenario, whose file is named by scenario, or whose key is in [base]"
                )
            raise ConfigError(f"{key}: unknown key{hint}; allowed: {', '.join(_KEYS)}")
    scenario = tables.get("scenario")
    if isinstance(scenario, str):
        scenario = path.parent / scenario
    elif not isinstance(scenario, Mapping):
        raise ConfigError(f"scenario = {scenario!r}; allowed: the path of a scenario file, or a table [scenario]")
    base = [
        f"{key}={value_text(value, f'base: {key}')}"
        for key, value in _flat(_table(tables, "base"))
        if value is not None
    ]
    study = Study.of(scenario, overrides=base, folder=path.parent)
    designs = tuple(_designs(tables, study.tree.get(SEED, Scenario().seed)))
    if not designs:
        raise ConfigError("nothing is varied; allowed: at least one of grid, points, latin_hypercube and seeds")
    return replace(study.varied(designs, overrides), title=str(path))


def _designs(tables: Mapping[str, Any], seed: Any) -> Iterator[Design]:
    """The designs of the file in the order of their first keys; seeds last, so that they vary fastest."""
    for key in tables:
        match key:
            case "grid":
                yield Grid.of(dict(_flat(_table(tables, "grid"))))
            case "points":
                points = tables["points"]
                if not isinstance(points, list) or not all(isinstance(point, Mapping) for point in points):
                    raise ConfigError(f"points = {points!r}; allowed: tables [[points]]")
                yield PointList.of(dict(_flat(point)) for point in points)
            case "latin_hypercube":
                yield _latin_hypercube(_table(tables, "latin_hypercube"))
    if "seeds" in tables:
        yield _seeds(tables["seeds"], seed)


def _seeds(seeds: Any, first: Any) -> Grid:
    """So many seeds from the scenario's own on, or those of a list."""
    if isinstance(seeds, list):
        return Grid.of({SEED: seeds})
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise ConfigError(f"seeds = {seeds!r}; allowed: how many, from 1, or a list of them")
    rule = rule_at(SEED)
    assert rule is not None
    try:
        first = rule.read(first)
    except ValueError as error:
        raise ConfigError(f"seed = {first!r}: {error}; allowed: {rule.allowed}") from None
    return Grid.of({SEED: range(first, first + seeds)})


def _latin_hypercube(table: Mapping[str, Any]) -> LatinHypercube:
    known = ("samples", "seed", "ranges")
    for key in table:
        if key not in known:
            raise ConfigError(
                f"latin_hypercube.{key}: unknown key{did_you_mean(key, known)}; allowed: {', '.join(known)}"
            )
    ranges = {}
    for key, span in _flat(_table(table, "ranges"), leaves=_RANGE_KEYS):
        if not isinstance(span, Mapping) or not {"from", "to"} <= set(span) <= set(_RANGE_KEYS):
            raise ConfigError(
                f"latin_hypercube.ranges.{key} = {span!r}; allowed: such as "
                '{ from = "1us", to = "100us", scale = "log" }'
            )
        ranges[key] = Range(span["from"], span["to"], span.get("scale", "linear"))
    if "samples" not in table:
        raise ConfigError("latin_hypercube.samples: missing; allowed: the number of points")
    return LatinHypercube(table["samples"], ranges, table.get("seed", 0))


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigError(f"{name} = {table!r}; allowed: a table [{name}]")
    return table


def _flat(table: Mapping[str, Any], path: str = "", leaves: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Key paths and values of a table of tables; a table with a key of ``leaves`` is a value."""
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and not any(leaf in value for leaf in leaves):
            yield from _flat(value, key, leaves)
        else:
            yield key, value
