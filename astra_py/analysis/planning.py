# SPDX-License-Identifier: GPL-2.0-only
"""Sharding plans of a scenario: made by its sharder, or searched for and timed by the analytic engine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.api import Run
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.hardware import accelerator
from astra_py.platforms import build_platform
from astra_py.workloads.dlrm import DlrmJob, Exchanges, Memory, Plan
from astra_py.workloads.dlrm.plan_files import write_plan
from astra_py.workloads.dlrm.plan_summary import plan_notes, plan_table, rank_table
from astra_py.workloads.dlrm.sharders import Proposal, find_plan

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.config import Scenario

__all__ = ["Planned", "plan_tables"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned:
    """A plan, and what is known of it.

    Attributes
    ----------
    exchanges : of the plan, what its ranks send each other in an iteration of the scenario.
    memory : what the ranks have, and what takes it.
    proposals : what the planner tried, the best first; empty for other sharders.
    """

    exchanges: Exchanges
    memory: Memory
    proposals: tuple[Proposal, ...] = ()

    @property
    def plan(self) -> Plan:
        """Which rank holds what."""
        return self.exchanges.plan

    @property
    def shards(self) -> pd.DataFrame:
        """One row a shard; see :func:`~astra_py.workloads.dlrm.plan_summary.plan_table`."""
        return plan_table(self.plan)

    @property
    def ranks(self) -> pd.DataFrame:
        """One row a rank; see :func:`~astra_py.workloads.dlrm.plan_summary.rank_table`."""
        return rank_table(self.exchanges, self.memory)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the plan does, a sentence each."""
        return plan_notes(self.exchanges, self.memory)

    def write(self, path: str | Path) -> None:
        """Write the plan as CSV or JSON, which ``workload.plan`` takes.

        Raises
        ------
        WorkloadError : another suffix, or the file cannot be written.
        """
        write_plan(self.plan, path)


def plan_tables(
    source: str | Path | Mapping[str, Any],
    *overrides: str,
    is_judged: bool = True,
    tell: Callable[[str], None] | None = None,
) -> Planned:
    """Shard the tables of a scenario's DLRM.

    Parameters
    ----------
    source, overrides : as :func:`astra_py.load` takes them.
    is_judged : with ``workload.sharder = "planner"``, whether the analytic engine times an iteration of the best
        proposals, which decides; the closed forms do otherwise, as they do in a run.
    tell : called with a line for each proposal that is timed.

    Raises
    ------
    ConfigError : the scenario is none, or its workload is no DLRM.
    WorkloadError : the tables do not fit.
    """
    scenario = load_scenario(source, overrides)
    config = scenario.require_workload()
    if config.kind != "dlrm":
        raise ConfigError(f"workload.kind = {config.kind!r} has no tables to shard; allowed: 'dlrm'")
    platform = build_platform(scenario.platform)
    job = DlrmJob(config, platform.ranks, accelerator(scenario.platform.accelerator), platform.arrays())
    if config.plan is not None or config.sharder != "planner":
        return Planned(exchanges=job.exchanges, memory=job.memory)

    def judge(plan: Plan) -> int:
        time_ps = _iteration_ps(scenario, plan)
        if tell is not None:
            tell(f"a plan of {len(plan.table)} shards: {time_ps / 1e9:,.3f} ms an iteration")
        return time_ps

    proposals = find_plan(
        job.model, job.memory, job.rates, min_shard_dim=config.min_shard_dim, judge=judge if is_judged else None
    )
    return Planned(exchanges=job.exchanges_with(proposals[0].plan), memory=job.memory, proposals=tuple(proposals))


def _iteration_ps(scenario: Scenario, plan: Plan) -> int:
    """Time of the last of the scenario's iterations with a plan, by the analytic engine."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.csv"
        write_plan(plan, path)
        tree = scenario.resolved()
        for key in ("sharder", "sharding", "min_shard_dim"):
            tree["workload"].pop(key, None)
        tree["workload"]["plan"] = str(path)
        result = Run(load_scenario({**tree, "engine": "analytic"})).run()
    return int(result.columns("iterations")["time_ps"][-1])
