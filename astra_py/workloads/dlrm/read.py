# SPDX-License-Identifier: GPL-2.0-only
"""Reader of DLRM descriptions: TOML files of a user's own, and the presets that ship with the package."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from astra_py.config.rules import Choice, Count, Number, QuantityRule, Rule, Text
from astra_py.errors import WorkloadError, did_you_mean
from astra_py.units import TIME, parse_time
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import (
    INTERACTIONS,
    ComputeTimes,
    DlrmModel,
    Dtypes,
    EmbeddingTable,
    LayerTimes,
)
from astra_py.workloads.dlrm.table_generator import DISTRIBUTIONS, Distribution, TableGenerator
from astra_py.workloads.dlrm.table_statistics import read_table_statistics

__all__ = ["read_dlrm"]

# Largest width, batch, pooling factor and count of equal tables.
_MOST = 2**20
_DTYPE = Choice(*DTYPE_BYTES)
_INTEGER = Choice("int32", "int64")
_TIME = QuantityRule(TIME, most=parse_time("100s"))
_DEFAULT_DTYPES = {
    "weights": "fp32",
    "activations": "fp32",
    "compute": "tf32",
    "indices": "int64",
    "lengths": "int32",
    "forward_all_to_all": "fp16",
    "backward_all_to_all": "bf16",
}


def read_dlrm(path: str | Path) -> DlrmModel:
    """Read a DLRM's description.

    Parameters
    ----------
    path : a TOML file; ``docs/formats.md`` has its keys.

    Raises
    ------
    WorkloadError : the file cannot be read, is not TOML, or a key or value is not allowed; the message has file, key
        path, value and what is allowed.
    """
    path = Path(path)
    try:
        tree = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WorkloadError(f"{path}: not a model: TOML is UTF-8 text, and byte {error.start} is not") from error
    except tomllib.TOMLDecodeError as error:
        raise WorkloadError(f"{path}: not TOML: {error}") from error
    root = _Keys(path, "", tree)
    model = DlrmModel(
        name=root.take("name", Text("a name"), path.stem),
        source=str(path),
        bottom=root.widths("bottom", least=2),
        top=root.widths("top", least=1),
        interaction=root.take("interaction", Choice(*INTERACTIONS)),
        projection=root.take("projection", Count(least=1, most=_MOST)) if "projection" in tree else None,
        tables=tuple(_all_tables(root, tree)),
        local_batch=root.take("local_batch", Count(least=1, most=_MOST)),
        dtypes=_read_dtypes(root.table("dtypes")),
        times=_read_times(root.table("compute")) if "compute" in tree else None,
    )
    root.close()
    return model


class _Keys:
    """The keys of one table of the file, each taken once; what is left over is an error."""

    def __init__(self, path: Path, prefix: str, values: Any) -> None:
        self.path = path
        self.prefix = prefix
        if not isinstance(values, Mapping):
            raise self.error("", f"{values!r} is not a table")
        self.values = values
        self.known: list[str] = []

    def error(self, key: str, what: str) -> WorkloadError:
        where = ".".join(part for part in (self.prefix, key) if part)
        return WorkloadError(f"{self.path}: {where}: {what}")

    def take(self, key: str, rule: Rule, default: Any = None) -> Any:
        """Return what the rule makes of a key's value; without a default the key must be there."""
        self.known.append(key)
        if key not in self.values:
            if default is None:
                raise self.error(key, f"missing; allowed: {rule.allowed}")
            return default
        return self._read(key, rule, self.values[key])

    def widths(self, key: str, least: int) -> tuple[int, ...]:
        """Take a list of layer widths."""
        values = self._list(key, f"a list of at least {least} widths")
        if len(values) < least:
            raise self.error(key, f"{values!r} is too short; allowed: a list of at least {least} widths")
        rule = Count(least=1, most=_MOST)
        return tuple(self._read(f"{key}[{i}]", rule, value) for i, value in enumerate(values))

    def table(self, key: str) -> _Keys:
        """Take a table; empty where there is none."""
        self.known.append(key)
        return _Keys(self.path, key, self.values.get(key, {}))

    def inner(self, key: str) -> _Keys:
        """Take a table inside this one."""
        self.known.append(key)
        return _Keys(self.path, f"{self.prefix}.{key}", self.values.get(key, {}))

    def list_of_tables(self, key: str) -> list[_Keys]:
        """Take a list of tables, at least one."""
        values = self._list(key, f"one or more tables [[{key}]]")
        if not values:
            raise self.error(key, f"there is none; allowed: one or more tables [[{key}]]")
        where = f"{self.prefix}.{key}" if self.prefix else key
        return [_Keys(self.path, f"{where}[{i}]", value) for i, value in enumerate(values)]

    def close(self) -> None:
        """Raise for a key that nobody took."""
        for key in self.values:
            if key not in self.known:
                hint = did_you_mean(key, self.known)
                raise self.error(
                    key, f"unknown key (value {self.values[key]!r}){hint}; allowed: {', '.join(self.known)}"
                )

    def _list(self, key: str, allowed: str) -> list[Any]:
        self.known.append(key)
        if key not in self.values:
            raise self.error(key, f"missing; allowed: {allowed}")
        values = self.values[key]
        if not isinstance(values, list):
            raise self.error(key, f"{values!r} is not a list; allowed: {allowed}")
        return values

    def _read(self, key: str, rule: Rule, value: Any) -> Any:
        try:
            return rule.read(value)
        except ValueError as error:
            raise self.error(key, f"{error}; allowed: {rule.allowed}") from None


def _all_tables(root: _Keys, tree: Mapping[str, Any]) -> list[EmbeddingTable]:
    """Read ``[[tables]]``, and draw those of ``[generator]``; one of the two at least."""
    drawn = _read_generator(root.table("generator")).tables() if "generator" in tree else []
    if "generator" in tree and "tables" not in tree:
        return drawn
    return [*(table for keys in root.list_of_tables("tables") for table in _read_tables(keys)), *drawn]


def _read_tables(keys: _Keys) -> list[EmbeddingTable]:
    """Read one ``[[tables]]``: a file of statistics, or ``count`` equal tables, numbered where there are several."""
    if "file" in keys.values:
        file = keys.take("file", Text("the path of a CSV file of tables"))
        keys.close()
        return read_table_statistics(keys.path.parent / file)
    name = keys.take("name", Text("a name"))
    count = keys.take("count", Count(least=1, most=_MOST), 1)
    figures = {
        "rows": keys.take("rows", Count(least=1, most=2**40)),
        "dim": keys.take("dim", Count(least=1, most=2**16)),
        "pooling": keys.take("pooling", Number(least=0, most=_MOST, is_least_allowed=False)),
        "dtype": keys.take("dtype", _DTYPE),
    }
    keys.close()
    names = [name] if count == 1 else [f"{name}_{i}" for i in range(count)]
    return [EmbeddingTable(name=each, **figures) for each in names]


def _read_generator(keys: _Keys) -> TableGenerator:
    generator = TableGenerator(count=keys.take("count", Count(least=1, most=_MOST)))
    drawn: dict[str, Any] = {
        "seed": keys.take("seed", Count(), generator.seed),
        "dtype": keys.take("dtype", _DTYPE, generator.dtype),
    }
    for key in ("rows", "pooling"):
        if key in keys.values:
            most = 2.0**40 if key == "rows" else float(_MOST)
            drawn[key] = _read_distribution(keys.inner(key), most)
    if "dims" in keys.values:
        drawn["dims"] = keys.widths("dims", least=1)
        if max(drawn["dims"]) > 2**16:
            raise keys.error("dims", f"{max(drawn['dims'])} is too wide; allowed: up to {2**16}")
    keys.known += ["rows", "pooling", "dims"]
    keys.close()
    return replace(generator, **drawn)


def _read_distribution(keys: _Keys, most: float) -> Distribution:
    """Read a distribution, with the figures that its kind has."""
    kind = keys.take("distribution", Choice(*DISTRIBUTIONS))
    positive = Number(least=0, most=most, is_least_allowed=False)
    figures = {
        "log_normal": {"mean": positive, "sigma": Number(least=0, most=10, is_least_allowed=False)},
        "power_law": {"exponent": Number(least=0, most=100, is_least_allowed=False)},
        "constant": {"mean": positive},
    }[kind]
    taken: dict[str, Any] = {key: keys.take(key, rule) for key, rule in figures.items()}
    if kind != "constant":
        taken["least"] = keys.take("least", positive, 1.0)
        taken["most"] = keys.take("most", positive, most)
        if taken["least"] > taken["most"]:
            raise keys.error("least", f"{taken['least']:g} is above most = {taken['most']:g}; allowed: at most that")
    keys.close()
    return Distribution(kind=kind, **taken)


def _read_dtypes(keys: _Keys) -> Dtypes:
    taken = {
        key: keys.take(key, _INTEGER if key in ("indices", "lengths") else _DTYPE, default)
        for key, default in _DEFAULT_DTYPES.items()
    }
    keys.close()
    return Dtypes(**taken)


def _read_times(keys: _Keys) -> ComputeTimes:
    times = ComputeTimes(
        lookup_ps=keys.take("lookup", _TIME),
        update_ps=keys.take("update", _TIME),
        interaction_forward_ps=keys.take("interaction_forward", _TIME),
        interaction_backward_ps=keys.take("interaction_backward", _TIME),
        bottom=tuple(_read_layer(layer) for layer in keys.list_of_tables("bottom")),
        top=tuple(_read_layer(layer) for layer in keys.list_of_tables("top")),
    )
    keys.close()
    return times


def _read_layer(keys: _Keys) -> LayerTimes:
    figures = {f"{key}_ps": keys.take(key, _TIME) for key in ("forward", "weight_gradient", "input_gradient")}
    keys.close()
    return LayerTimes(**figures)
