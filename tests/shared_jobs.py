# SPDX-License-Identifier: GPL-2.0-only
"""Small jobs of several collectives, lowered and run on an engine without the checks that a whole run makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from astra_py.collectives import SystemModel, lower
from astra_py.collectives.schedule import PoolOrder, RankPool, Schedule
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns
from astra_py.engines.registry import make_engine
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.platforms import build_platform
from astra_py.workloads import CollectiveCall, Trace, TraceBuilder

ENGINES = ("packet", "flow", "analytic")


def together(ranks: int, calls: Sequence[CollectiveCall]) -> Trace:
    """All calls at once."""
    build = TraceBuilder(ranks)
    for call in calls:
        build.collective(call)
    return build.build()


def call_of(
    kind: str, size_bytes: int, group: Sequence[int], algorithm: str | None = None, *, name: str = "", priority: int = 0
) -> CollectiveCall:
    """One call; its name is its kind where none is given."""
    return CollectiveCall(
        name=name or kind,
        kind=kind,
        group=tuple(group),
        size_bytes=size_bytes,
        algorithm=algorithm,
        priority=priority,
    )


def run_trace(
    engine: str,
    trace: Trace,
    *overrides: str,
    system: SystemModel | None = None,
    rank_pools: Sequence[RankPool] = (),
    scheduling: PoolOrder = PoolOrder.FIFO,
    max_active_collectives: int | None = None,
) -> tuple[Schedule, EngineColumns]:
    """Lower a trace for a platform of as many ranks, and run it."""
    scenario = load_scenario({}, [f"platform.ranks={trace.ranks}", *overrides])
    platform = build_platform(scenario.platform)
    schedule = lower(
        trace,
        system=system,
        rank_machine=platform.arrays().rank_machine,
        rank_pools=rank_pools,
        scheduling=scheduling,
        max_active_collectives=max_active_collectives,
    )
    columns = make_engine(engine).run(schedule, platform, transport_model(scenario), engine_options(scenario))
    return schedule, columns


def message_column(schedule: Schedule, columns: EngineColumns, name: str) -> np.ndarray:
    """A column of the templates, one entry a message."""
    return np.array(
        [
            getattr(schedule.templates[schedule.instance_template[instance]], name)[op]
            for instance, op in zip(columns.message_instance, columns.message_op, strict=True)
        ]
    )
