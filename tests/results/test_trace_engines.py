# SPDX-License-Identifier: GPL-2.0-only
"""Timelines of every engine and transport, of several jobs and of parts of runs: valid, and what the tables say."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.results import Result, write_trace
from behaviour.flows import run_flows
from behaviour.test_deadlock import FLOWS, KEYS, circle, clockwise
from perfetto_cases import Timeline, read_timeline
from small_job import write_job
from timeline_agreement import require_agreement

WORKLOADS = Path(__file__).resolve().parents[2] / "workloads"
ENGINES = ("packet", "flow", "analytic")
MACHINES = (
    *("platform.kind=zionex", "platform.nodes=2", "platform.accelerators_per_node=4", "platform.ranks=8"),
    *("platform.ranks_per_leaf=4", "workload.iterations=2"),
)
TCP = ("transport.kind=tcp", "transport.congestion_control=cubic")
INCAST = {
    "platform": {"kind": "single_switch", "ranks": 8},
    "switch": {"buffer": "400kB"},
    "transport": {"congestion_control": "none"},
    "background": {"many": {"kind": "incast", "ranks": "0-7", "receiver": 0, "size": "400kB"}},
}


def drawn(result: Result, tmp_path: Path) -> Timeline:
    """The timeline of a result, which must agree with it; that of the saved result is the same file."""
    path = write_trace(result, tmp_path / "run.json").path
    timeline = read_timeline(path)
    require_agreement(result, timeline)
    result.save(tmp_path / "saved")
    again = write_trace(ap.read_result(tmp_path / "saved"), tmp_path / "again.json").path
    assert again.read_bytes() == path.read_bytes()
    return timeline


def stopped(*arguments: object) -> Result:
    with pytest.raises(ap.SimulationError) as raised:
        ap.load(*arguments).run()  # type: ignore[arg-type]
    assert raised.value.partial is not None
    return raised.value.partial


@pytest.mark.parametrize("engine", ENGINES)
def test_of_each_engine(tmp_path: Path, engine: str) -> None:
    timeline = drawn(ap.load(write_job(tmp_path), *MACHINES, f"engine={engine}").run(), tmp_path)
    assert timeline.of("rank 0", "stream compute")
    assert timeline.arrows
    has_links = any(name.startswith("link ") for name in timeline.processes)
    assert has_links == (engine == "packet")


@pytest.mark.parametrize("keys", [(), ("transport.tcp.ecn=false", "host.cores=1")])
def test_over_tcp(tmp_path: Path, keys: tuple[str, ...]) -> None:
    timeline = drawn(ap.load(write_job(tmp_path), *MACHINES, *TCP, *keys).run(), tmp_path)
    assert any(each.track == "busy" for each in timeline.slices)


def test_pauses_are_slices_of_the_link_that_is_held(tmp_path: Path) -> None:
    result = ap.load(INCAST).run()
    timeline = drawn(result, tmp_path)
    held = [each for each in timeline.slices if each.track.startswith("paused")]
    assert len(held) == len(result.pauses) > 0
    assert {each.name for each in held} == {"paused by switch0"}
    assert any(each.name == "full" for each in timeline.slices)


def test_of_several_jobs(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    job = write_job(tmp_path / "one").with_name("job.txt")
    scenario = tmp_path / "jobs.toml"
    scenario.write_text(
        "[platform]\nkind = 'leaf_spine'\nranks = 8\nranks_per_leaf = 4\n"
        f"[jobs.early]\nranks = '0-3'\n[jobs.early.workload]\nfile = '{job}'\n"
        f"[jobs.late]\nranks = '4-7'\nstart = '7us'\n[jobs.late.workload]\nfile = '{job}'\n"
    )
    timeline = drawn(ap.load(scenario).run(), tmp_path)
    assert timeline.of("rank 0", "stream early/compute")
    assert timeline.of("rank 7", "stream late/compute")
    assert {each.track for each in timeline.of("run", "iterations")} == {"iterations of early", "iterations of late"}
    assert [each.name for each in timeline.of("rank 7", "") if each.start_ps < 7_000_000] == ["late/start"]


def test_collectives_of_a_stream_are_on_its_track(tmp_path: Path) -> None:
    source = {
        "platform": {"ranks": 4},
        "workload": {"kind": "dlrm", "preset": "astra2020", "ordering": "mad_max"},
        "engine": "analytic",
    }
    result = ap.load(source).run()
    timeline = drawn(result, tmp_path)
    parts = timeline.of("rank 0", "stream communication")
    assert {each.args["kind"] for each in parts} == {"collective"}
    assert not timeline.of("rank 0", "collectives")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_of_a_part_of_a_run(tmp_path: Path, engine: str, share: float) -> None:
    job = write_job(tmp_path)
    whole = ap.load(job, *MACHINES, f"engine={engine}").run().manifest["run"]["time_ps"]
    part = stopped(job, *MACHINES, f"engine={engine}", f"limits.max_time={int(whole * share)}ps")
    timeline = drawn(part, tmp_path)
    assert timeline.metadata["stopped"].startswith("time limit at ")
    unfinished = [each for each in timeline.slices if each.args.get("unfinished")]
    assert {each.end_ps for each in unfinished} == {part.manifest["run"]["time_ps"]}


def test_of_a_part_of_a_run_over_tcp(tmp_path: Path) -> None:
    drawn(stopped(write_job(tmp_path), *MACHINES, *TCP, "limits.max_events=3000"), tmp_path)


def test_of_a_part_of_several_jobs(tmp_path: Path) -> None:
    source = {
        "platform": {"kind": "leaf_spine", "ranks": 8, "ranks_per_leaf": 4},
        "jobs": {
            name: {"ranks": ranks, "start": start, "workload": {"kind": "dlrm", "preset": "astra2020"}}
            for name, ranks, start in (("early", "0-3", "0us"), ("late", "4-7", "90us"))
        },
        "limits": {"max_time": "200us"},
    }
    timeline = drawn(stopped(source), tmp_path)
    assert [each.name for each in timeline.of("rank 7", "") if each.start_ps < 90_000_000] == ["late/start"]


def test_of_a_deadlock_the_pauses_are_unfinished(tmp_path: Path) -> None:
    with pytest.raises(ap.DeadlockError) as raised:
        run_flows(FLOWS, *KEYS, platform=circle(), routing_hook=clockwise)
    assert raised.value.partial is not None
    timeline = drawn(raised.value.partial, tmp_path)
    assert any(each.args.get("unfinished") for each in timeline.slices if each.track.startswith("paused"))
