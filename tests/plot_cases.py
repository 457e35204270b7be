# SPDX-License-Identifier: GPL-2.0-only
"""Results to draw: of small runs by each engine, and made-up ones of many ranks."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import astra_py as ap
from astra_py.analysis.stretches import Part
from astra_py.config import load_scenario
from astra_py.platforms import build_platform
from astra_py.plots.why import Why
from astra_py.results.columns import TABLES
from astra_py.results.result import Result
from small_job import write_job

ENGINES = ("packet", "flow", "analytic")
#: Bins of time of results that are made up.
BINS = 5
ZIONEX = (
    *("platform.kind=zionex", "platform.nodes=2", "platform.accelerators_per_node=4", "platform.ranks=8"),
    *("platform.ranks_per_leaf=4", "workload.iterations=2"),
)


@cache
def result_of(engine: str) -> Result:
    """A job of eight ranks on two machines, by an engine."""
    with tempfile.TemporaryDirectory() as folder:
        return ap.load(write_job(Path(folder)), *ZIONEX, f"engine={engine}").run()


@cache
def flows_result(engine: str = "packet") -> Result:
    """Flows of two sizes from seven ranks to one."""
    background = {
        name: {"kind": "incast", "ranks": f"0-{ranks}", "receiver": 0, "size": size}
        for name, ranks, size in (("small", 7, "10kB"), ("large", 3, "200kB"))
    }
    tree = {"engine": engine, "platform": {"kind": "single_switch", "ranks": 8}, "background": background}
    return ap.load(tree).run()


def made_up(tables: dict[str, dict[str, Any]], platform: dict[str, Any], **run: Any) -> Result:
    """A result of some tables, the others empty, on a platform."""
    scenario = load_scenario({"platform": platform})
    built = build_platform(scenario.platform)
    manifest = {
        "title": "somewhere/made_up.toml",
        "digest": "0123456789abcdef",
        "engine": "packet",
        "seed": 7,
        "scenario": scenario.resolved(),
        "platform": {"name": built.name, "ranks": built.ranks},
        "run": {"exit_reason": "completed", "time_ps": 10**9} | run,
        "counters": {},
    }

    def load(table: str) -> dict[str, Any]:
        given = {name: np.asarray(values) for name, values in tables.get(table, {}).items()}
        rows = len(next(iter(given.values()), ()))
        kinds = {"int64": np.int64, "float64": np.float64, "str": object}
        blank = {column.name: np.zeros(rows, dtype=kinds[column.dtype]) for column in TABLES[table]}
        return {**blank, **given}

    return Result(load, (), manifest)


def links_of(platform: dict[str, Any], utilisation_percent: Any = None) -> dict[str, Any]:
    """Columns of the table ``links`` of a platform; each channel is as busy as is given, or as its number says."""
    arrays = build_platform(load_scenario({"platform": platform}).platform).arrays()
    ends = np.column_stack([arrays.link_a, arrays.link_b, arrays.link_b, arrays.link_a]).reshape(-1, 2)
    names = np.array(arrays.node_names, dtype=object)
    busy = np.arange(len(ends)) % 100 if utilisation_percent is None else utilisation_percent
    return {
        "channel": np.arange(len(ends)),
        "from": names[ends[:, 0]],
        "to": names[ends[:, 1]],
        "link_class": np.array(arrays.class_names, dtype=object)[np.repeat(arrays.link_class, 2)],
        "utilisation_percent": np.asarray(busy, dtype=float),
    }


@cache
def many_ranks(ranks: int = 1024) -> Result:
    """Ranks on machines of eight that compute and exchange something with the next one, twice each."""
    platform = {"kind": "zionex", "nodes": ranks // 8}
    rank = np.repeat(np.arange(ranks), 4)
    start = np.tile([0, 40, 50, 90], ranks) * 10**6 + rank * 1000
    length = np.tile([50, 10, 50, 20], ranks) * 10**6
    kind = np.tile(np.array(["compute", "collective"] * 2, dtype=object), ranks)
    operations = {
        "operation": np.arange(4 * ranks),
        "name": np.where(kind == "compute", "layer", "exchange").astype(object),
        "job": np.full(4 * ranks, "", dtype=object),
        "kind": kind,
        "rank": rank,
        "iteration": np.tile([0, 0, 1, 1], ranks),
        "collective": np.where(kind == "compute", -1, 0),
        "start_ps": start,
        "end_ps": start + length,
    }
    last = ranks - 1
    ends_ps = operations["end_ps"][rank == last].reshape(2, 2).max(axis=1)
    iterations = {
        "job": np.array(["", ""], dtype=object),
        "iteration": np.arange(2),
        "rank": np.full(2, last),
        "start_us": np.append(0, ends_ps[:1] / 1e6),
        "time_ps": np.diff(np.append(0, ends_ps)),
    }
    src, dst = np.repeat(np.arange(ranks), 3), (np.repeat(np.arange(ranks), 3) + np.tile([1, 8, 64], ranks)) % ranks
    tables = {
        "operations": operations,
        "iterations": iterations,
        "collectives": {"collective": [0], "kind": np.array(["all_to_all"], dtype=object)},
        "pairs": {"src": src, "dst": dst, "size_bytes": np.tile([10**6, 10**5, 10**4], ranks)},
        "links": links_of(platform),
    }
    return made_up(tables, platform)


def with_bins(links: dict[str, Any], platform: dict[str, Any], **tables: Any) -> Result:
    """A result whose channels have each their own utilisation and queue, a random one in each bin."""
    channels = len(links["channel"])
    draw = np.random.default_rng(3)
    bins = {
        "channel": np.repeat(np.arange(channels), BINS),
        "bin": np.tile(np.arange(BINS), channels),
        "start_us": np.tile(np.arange(BINS) * 10.0, channels),
        "time_us": np.tile([10.0] * (BINS - 1) + [4.0], channels),
        "utilisation_percent": draw.uniform(0, 100, BINS * channels),
        "max_queue_bytes": draw.integers(1000, 50_000, BINS * channels),
    }
    return made_up({"links": links, "link_bins": bins, **tables}, platform)


def variants_of(saved: Why, collectives: int = 9) -> Why:
    """Eight variants of each of some collectives, each with times of its own."""
    rows, names = [], []
    for window in ("none", "bdp"):
        for control in ("none", "dcqcn"):
            for payload in ("1024B", "4096B"):
                keys = {"window": window, "congestion_control": control, "payload": payload}
                variant = ", ".join(f"transport.{key}={value}" for key, value in keys.items())
                for number in range(collectives):
                    time = {f"{part}_us": 0.0 for part in Part} | {"payload_us": float(100 * number + len(rows))}
                    rows.append({**saved.rows[0], **time, "packet_us": time["payload_us"], "variant": variant})
                    names.append(f"top_{number}.weight_gradient, iteration 0, {variant}")
    return saved._replace(rows=rows, names=names)
