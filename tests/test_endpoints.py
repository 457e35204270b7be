# SPDX-License-Identifier: GPL-2.0-only
"""Whole runs with all that ``[system]`` adds, which pass every check of a run, on both engines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import astra_py as ap
from astra_py import api
from astra_py.api import Run, one_collective
from astra_py.collectives.admission import CTS_BYTES
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.results.pools import check_limits

MACHINES = ("platform.kind=zionex", "platform.nodes=2", "platform.accelerators_per_node=4", "platform.ranks_per_leaf=8")


def run_of(kind: str, size_bytes: int, *overrides: str) -> Run:
    return one_collective(load_scenario({}, [*MACHINES, *overrides]), kind, size_bytes)


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [("all_reduce", "ring"), ("all_reduce", "hierarchical"), ("all_reduce", "themis"), ("all_to_all", "direct")],
)
@pytest.mark.parametrize(
    "system",
    [
        ("system.admission=1",),
        ("system.preset=nccl",),
        ("system.preset=nccl", "system.admission=3", "system.local_memory_bandwidth=1TB/s"),
        ("system.protocol=ll128", "system.channels=2", "system.endpoint_delay=1us"),
    ],
)
def test_every_check_passes(engine: str, kind: str, algorithm: str, system: tuple[str, ...]) -> None:
    keys = (f"engine={engine}", f"collective.{kind}={algorithm}", "collective.chunks=3", *system)
    run = run_of(kind, 800_003, *keys)
    result = run.run()
    assert all(check.passed for check in result.checks)
    bare = run_of(kind, 800_003, *keys[:3]).run()
    assert result.collectives["sent_bytes"].tolist() == bare.collectives["sent_bytes"].tolist(), "data, as without"


def test_control_bytes_are_what_nics_send_beside_the_data() -> None:
    """Admission by two machines of four: each message between them has a CTS of 64 B the other way."""
    plain, held = (run_of("all_to_all", 80_000, *keys).run() for keys in ((), ("system.admission=2",)))
    more = held.messages["size_bytes"].sum() - plain.messages["size_bytes"].sum()
    assert more == 8 * 4 * CTS_BYTES
    assert len(held.messages) == len(plain.messages) + 8 * 4
    sent = {check.name: check.measured for check in held.checks}["sent_bytes"]
    assert sent == 8 * 7 * 10_000 + more
    assert "admission" in set(held.phases["phase"])


def test_small_messages_take_as_long_as_nccl_says() -> None:
    """Of 8 ranks in two machines a ring has 4 steps over the network and 10 inside; large ones lose next to nothing."""
    small, bare = (run_of("all_reduce", 256, *keys).run() for keys in (("system.preset=nccl",), ()))
    told_us = 6.6 + 10 * 0.6 + 4 * 2.7
    assert small.collectives["time_us"][0] == pytest.approx(told_us, rel=0.05)
    assert bare.collectives["time_us"][0] < 0.6 * told_us
    large, bare = (run_of("all_reduce", 2**26, *keys).run() for keys in (("system.preset=nccl",), ()))
    assert large.collectives["time_us"][0] == pytest.approx(bare.collectives["time_us"][0], rel=0.02)


SMALL_JOB = {
    "platform": {"ranks": 4},
    "workload": {"kind": "dlrm", "preset": "astra2020"},
}


def test_slow_ranks_are_applied_and_shown() -> None:
    plain = ap.load(SMALL_JOB)
    slow = ap.load(SMALL_JOB, "system.stragglers=2:1.5")
    before, after = plain.run(), slow.run()
    took = []
    for table in (before.operations, after.operations):
        work = table[table["kind"] == "compute"]
        took.append((work["end_ps"] - work["start_ps"]).groupby(work["rank"]).sum().to_numpy())
    assert took[1] / took[0] == pytest.approx(np.array([1, 1, 1.5, 1]), rel=1e-6)
    assert after.iterations["time_us"].sum() > before.iterations["time_us"].sum()
    assert any("the slowest is rank 2" in note and "1 to 1.5 times" in note for note in slow.notes)
    assert not any("slowest" in note for note in plain.notes)
    with pytest.raises(ConfigError, match="rank 9 is not in the job; allowed: 0 to 3"):
        ap.load(SMALL_JOB, "system.stragglers=9:1.5").run()


def test_drawn_slowness_follows_the_seed() -> None:
    times = [
        ap.load(SMALL_JOB, "system.stragglers=lognormal:0.2", f"seed={seed}").run().iterations["time_us"].sum()
        for seed in (1, 1, 2)
    ]
    assert times[0] == times[1] != times[2]


def test_priorities_are_by_the_rule() -> None:
    run = ap.load(SMALL_JOB, "system.priority=none")
    assert {call.priority for call in run.trace.calls} == {0}
    run = ap.load(SMALL_JOB, "system.priority=all_to_all_first")
    assert {(call.kind, call.priority) for call in run.trace.calls} >= {("all_to_all_v", 6), ("all_reduce", 0)}
    assert all(check.passed for check in run.run().checks)


def test_a_long_pipeline_of_direct_phases_is_checked_in_little_memory() -> None:
    """Ways through the gates of chunks grow with their number, and not by its power."""
    keys = ("collective.all_reduce=hierarchical", "collective.all_reduce_between=direct", "collective.chunks=24")
    result = run_of("all_reduce", 800_000, *keys).run()
    assert {check.name: check.passed for check in result.checks}["dependencies"]


@pytest.mark.parametrize(("key", "pool"), [("admission", "admission"), ("channels", "channels")])
def test_a_run_that_takes_more_units_than_there_are_fails(monkeypatch: pytest.MonkeyPatch, key: str, pool: str) -> None:
    monkeypatch.setattr(api, "build_result", lambda record, manifest: record)
    record = run_of("all_to_all", 80_000, f"system.{key}=2").run()
    assert check_limits(record).passed
    short = replace(record.schedule, pool_capacity=np.ones_like(record.schedule.pool_capacity))
    check = check_limits(replace(record, schedule=short))
    assert not check.passed
    assert f"pool '{pool}' of rank 0, 2 at once" in check.where


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize("protocol", ["ll", "ll128"])
@pytest.mark.parametrize("size", [60_000, 100_003])
def test_flags_are_those_of_the_order_that_was_picked(engine: str, protocol: str, size: int) -> None:
    # pieces of the levels are of other lengths in each order, and so are the lines that they fill
    changes = ["platform.kind=dgx_a100", "platform.nodes=2", "collective.chunks=4", "collective.all_reduce=themis"]
    scenario = load_scenario({}, [*changes, f"system.protocol={protocol}", f"engine={engine}"])
    run = one_collective(scenario, "all_reduce", size)
    record = run.record()
    picks = record.columns.choice_picks
    assert len(set(picks.tolist())) > 1
    (template,) = record.schedule.templates
    data = int(template.data_bytes[template.is_send & record.is_picked[0]].sum())
    assert data == int(template.data_bytes[template.is_send & template.is_counted].sum())
    sent = int(record.columns.message_size_bytes.sum())
    assert run.run().collectives["control_bytes"].item() == sent - data
