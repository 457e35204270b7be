# SPDX-License-Identifier: GPL-2.0-only
"""Runs for the validation table: a schedule, or a collective of a scenario, on every engine there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from astra_py.api import Run, one_collective
from astra_py.config import load_scenario
from astra_py.engines.registry import ENGINES, make_engine
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.platforms.platform import NodeKind, Platform
from astra_py.results.alone import schedule_of_one

if TYPE_CHECKING:
    from astra_py.analysis.recurrences import Link
    from astra_py.collectives import Template
    from astra_py.config import Scenario
    from astra_py.results.result import Result

__all__ = [
    "BESIDE",
    "EXACT_REGIME",
    "chain",
    "collective_times_ps",
    "engine_times_ps",
    "neo_platform",
    "run_collective",
    "run_work",
    "star",
    "with_keys",
]

#: What stands beside the packet engine in the table.
BESIDE = tuple(name for name in ("flow", "analytic") if name in ENGINES)

#: Nothing but links: acknowledgements that cost nothing on the wire, no control.
EXACT_REGIME = {"ack": "out_of_band", "window": "none", "congestion_control": "none"}


def _graph(
    wires: Sequence[tuple[int, int]], links: Sequence[Link], ranks: int, latencies_ps: Sequence[int]
) -> Platform:
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    for node in range(ranks + len(latencies_ps)):
        is_switch = node >= ranks
        graph.add_node(
            node,
            kind=NodeKind.SWITCH if is_switch else NodeKind.ACCELERATOR,
            rank=-1 if is_switch else node,
            latency_ps=latencies_ps[node - ranks] if is_switch else 0,
            name=f"switch{node - ranks}" if is_switch else f"rank{node}",
            forwards=is_switch,
        )
    for number, ((a, b), link) in enumerate(zip(wires, links, strict=True)):
        graph.add_edge(
            min(a, b),
            max(a, b),
            link=number,
            rate_bps=link.rate_bps,
            delay_ps=link.delay_ps,
            loss=0.0,
            link_class="link",
            efficiency=0.0,
        )
    return Platform("validation", graph)


def chain(links: Sequence[Link], latencies_ps: Sequence[int]) -> Platform:
    """Two ranks with ``links`` in a row between them, switches of ``latencies_ps`` where two meet."""
    way = [0, *range(2, len(links) + 1), 1]
    return _graph(list(pairwise(way)), links, 2, latencies_ps)


def star(links: Sequence[Link], latency_ps: int) -> Platform:
    """Ranks on one switch, each by a link of its own."""
    ranks = len(links)
    return _graph([(rank, ranks) for rank in range(ranks)], links, ranks, [latency_ps])


def engine_times_ps(
    template: Template, platform: Platform, scenario: Scenario, engines: Sequence[str] = ("packet", *BESIDE)
) -> dict[str, int]:
    """Time of one collective, all ranks joining at once, by engine; in ps."""
    ranks = np.arange(template.ranks, dtype=np.int32)
    schedule = schedule_of_one(template, ranks, platform.ranks)
    transport = transport_model(scenario)
    return {
        name: int(make_engine(name).run(schedule, platform, transport, engine_options(scenario)).op_end_ps.max())
        for name in engines
    }


def run_collective(tree: Mapping[str, Any], kind: str, size_bytes: int, *overrides: str) -> Result:
    """One collective of a scenario, with all checks of a run."""
    group = (0, 1) if kind == "sendrecv" else None
    return one_collective(load_scenario(tree, overrides), kind, size_bytes, group).run()


def run_work(tree: Mapping[str, Any]) -> Result:
    """A scenario's workload, jobs and background traffic, with all checks of a run."""
    return Run(load_scenario(tree)).run()


def collective_times_ps(
    tree: Mapping[str, Any], kind: str, size_bytes: int, engines: Sequence[str] = ("packet", *BESIDE)
) -> dict[str, int]:
    """Time of one collective of a scenario by engine, with all checks of a run; in ps."""
    results = {name: run_collective(tree, kind, size_bytes, f"engine={name}") for name in engines}
    return {name: int(result.columns("collectives")["time_ps"][0]) for name, result in results.items()}


def with_keys(tree: Mapping[str, Any], table: str, **keys: Any) -> dict[str, Any]:
    """The tree with further keys in one of its tables; a table in it is joined, too."""
    old = tree.get(table, {})
    new = {key: {**old.get(key, {}), **value} if isinstance(value, dict) else value for key, value in keys.items()}
    return {**tree, table: {**old, **new}}


def neo_platform(link_rate: str) -> dict[str, Any]:
    """Neo's 16 ZionEX nodes of 8 A100, all NICs on one switch, so that no two ways collide."""
    return {"platform": {"kind": "zionex", "nodes": 16, "ranks_per_leaf": 128, "link_rate": link_rate}}
