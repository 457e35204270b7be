# SPDX-License-Identifier: GPL-2.0-only
"""Who does what where: a scenario's workload or jobs, and its background traffic, as one Trace of the platform."""

from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.config.scenario import MAIN_JOB
from astra_py.engines.routes import route_paths
from astra_py.errors import AstraPyError, ConfigError
from astra_py.formats.scenario_files import flow_file, flow_notes
from astra_py.workloads import FlowList, Job, JobTrace, build_job, flow_trace, joined
from astra_py.workloads.adjusted import slowed
from astra_py.workloads.background import incast, permutation, poisson
from astra_py.workloads.flow_sizes import HADOOP, WEB_SEARCH, FlowSizes, read_flow_sizes

if TYPE_CHECKING:
    from astra_py.config import Scenario
    from astra_py.config.background import BackgroundConfig
    from astra_py.platforms import Platform
    from astra_py.workloads.registry import JobTables

__all__ = ["place_work"]

#: Keeps what is drawn for background traffic apart from all else that is drawn from a run's seed.
_STREAM = 0xB6


def place_work(scenario: Scenario, platform: Platform, slowness: NDArray[np.float64] | None = None) -> Job:
    """Make what the ranks of the platform are to do.

    Parameters
    ----------
    scenario : with a workload, jobs, background traffic, or several of them.
    platform : where it runs; its routing follows.
    slowness : f64[ranks], how much longer compute and memory work takes on each rank, or None.

    Raises
    ------
    ConfigError, WorkloadError : what was asked for cannot be; names the job or list of flows.
    """
    if not scenario.jobs and not scenario.background:
        job = build_job(scenario.of_job(scenario.require_workload(), tuple(range(platform.ranks))), platform.ranks)
        return job if slowness is None else replace(job, trace=slowed(job.trace, slowness))
    placed: list[JobTrace] = []
    notes: list[str] = []
    warnings: list[str] = []
    tables: JobTables = {}
    for name, ranks, start_ps in _jobs(scenario, platform):
        workload = scenario.require_workload() if name == MAIN_JOB else scenario.workload_of(name)
        try:
            job = build_job(scenario.of_job(workload, ranks), len(ranks))
        except AstraPyError as error:
            error.add_note(f"while making job {name!r} of {len(ranks)} ranks")
            raise
        own = job.trace if slowness is None else slowed(job.trace, slowness[list(ranks)])
        placed.append(JobTrace(name, own, ranks, start_ps))
        notes += [f"{name}: {note}" for note in job.notes]
        warnings += [f"{name}: {warning}" for warning in job.warnings]
        if name == MAIN_JOB:
            tables = job.tables
    for name, config in scenario.background.items():
        try:
            if config.kind == "file":
                flows, document = flow_file(scenario, Path(str(config.file)), config.format)
                flows = flows.later(config.start)
                notes += [f"{name}: {note}" for note in flow_notes(scenario, document)]
                warnings += [f"{name}: {warning}" for warning in document.warnings]
            else:
                flows = _drawn(scenario, platform, name, config)
            placed.append(
                JobTrace(name, flow_trace(platform.ranks, flows, priority=config.priority), range(platform.ranks))
            )
        except AstraPyError as error:
            error.add_note(f"while making [background.{name}]")
            raise
        notes.append(_account(name, config, flows))
    return Job(joined(placed, platform.ranks), tuple(notes), tuple(warnings), tables)


def _jobs(scenario: Scenario, platform: Platform) -> list[tuple[str, tuple[int, ...], int]]:
    """Name, ranks and start of each job."""
    everyone = tuple(range(platform.ranks))
    if not scenario.jobs:
        return [] if scenario.workload is None else [(MAIN_JOB, everyone, 0)]
    return [
        (name, _on_platform(f"jobs.{name}.ranks", job.ranks, platform), job.start)
        for name, job in scenario.jobs.items()
    ]


def _on_platform(key: str, ranks: tuple[int, ...] | None, platform: Platform) -> tuple[int, ...]:
    if ranks is None:
        return tuple(range(platform.ranks))
    if max(ranks) >= platform.ranks:
        raise ConfigError(f"{key}: rank {max(ranks)} is not on the platform; allowed: 0 to {platform.ranks - 1}")
    return ranks


def _drawn(scenario: Scenario, platform: Platform, name: str, config: BackgroundConfig) -> FlowList:
    key = f"background.{name}"
    ranks = np.array(_on_platform(f"{key}.ranks", config.ranks, platform), dtype=np.int32)
    rng = np.random.default_rng([scenario.seed, _STREAM, zlib.crc32(name.encode())])
    match config.kind:
        case "incast":
            return incast(
                ranks,
                rng,
                size_bytes=config.size,
                senders=config.senders,
                receiver=config.receiver,
                rounds=config.rounds,
                period_ps=config.period,
                start_ps=config.start,
            )
        case "permutation":
            return permutation(
                ranks, rng, size_bytes=config.size, rounds=config.rounds, period_ps=config.period, start_ps=config.start
            )
        case _:
            assert config.stop is not None
            return poisson(
                ranks,
                rng,
                sizes=_sizes(config),
                load=config.load,
                rate_bps=_nic_rates(platform, scenario.seed, ranks),
                start_ps=config.start,
                stop_ps=config.stop,
            )


def _sizes(config: BackgroundConfig) -> FlowSizes:
    if (path := config.sizes_path) is not None:
        return read_flow_sizes(path)
    return {"web_search": WEB_SEARCH, "hadoop": HADOOP}.get(config.sizes) or FlowSizes.fixed(config.size)


def _nic_rates(platform: Platform, seed: int, ranks: NDArray[np.int32]) -> NDArray[np.int64]:
    """Rate of each rank's NIC, or its part of one that several of the ranks have; i64[ranks].

    The NIC is the first Ethernet link of the way to the next rank of the list in another machine; where all are in one
    machine, it is the slowest link of the way to the next rank.
    """
    arrays = platform.arrays()
    ptr, channels = route_paths(
        platform, seed, ranks, _elsewhere(ranks, arrays.rank_machine), np.zeros(len(ranks), dtype=np.int32)
    )
    is_ethernet, rate = arrays.link_efficiency[channels // 2] == 0, arrays.link_rate_bps[channels // 2]
    at = np.empty(len(ranks), dtype=np.int64)
    for i, (begin, end) in enumerate(pairwise(ptr)):
        ethernet = is_ethernet[begin:end]
        at[i] = begin + (ethernet.argmax() if ethernet.any() else rate[begin:end].argmin())
    _, which, shared_by = np.unique(channels[at], return_inverse=True, return_counts=True)
    rates: NDArray[np.int64] = rate[at] // shared_by[which]
    return rates


def _elsewhere(ranks: NDArray[np.int32], rank_machine: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each rank the next one of the list, round its end, in another machine; where all are in one, the next one."""
    machine = rank_machine[ranks]
    begins = np.flatnonzero(machine != np.roll(machine, 1))
    if not len(begins):
        return np.roll(ranks, -1)
    after = np.searchsorted(begins, np.arange(len(ranks)), side="right") % len(begins)
    return ranks[begins[after]]


def _account(name: str, config: BackgroundConfig, flows: FlowList) -> str:
    first, last = int(flows.start_ps.min()) / 1e6, int(flows.start_ps.max()) / 1e6
    when = f"all from {first:g} us" if first == last else f"starting from {first:g} to {last:g} us"
    count = f"{len(flows):,} flow" if len(flows) == 1 else f"{len(flows):,} flows"
    return f"{name}: {config.kind} of {count}, {flows.total_bytes:,} B, {when}"
