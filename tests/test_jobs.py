# SPDX-License-Identifier: GPL-2.0-only
"""Jobs that share a network, and traffic beside them: who disturbs whom, and that each is told apart."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astra_py as ap
from astra_py.errors import ConfigError, WorkloadError
from astra_py.hardware import accelerator
from astra_py.jobs_alone import job_slowdowns, slowdown_lines
from astra_py.workloads.dlrm import DlrmJob
from small_job import LAYERS

PLATFORM = """
[platform]
kind = "leaf_spine"
ranks = 16
ranks_per_leaf = 4
spines = 1
"""
#: Each job alone at its leaf, or both spread over all leaves.
APART = 'jobs.a.ranks = "0-3"\njobs.b.ranks = "4-7"\n'
SPREAD = 'jobs.a.ranks = "0,4,8,12"\njobs.b.ranks = "1,5,9,13"\n'


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.txt"
    path.write_text(LAYERS)
    return path


def tree(job: Path, text: str = "") -> dict[str, Any]:
    return tomllib.loads(f"{text}\n{PLATFORM}\n[workload]\nfile = '{job}'\n")


def times(result: ap.Result, job: str) -> list[int]:
    table = result.iterations
    return table[table["job"] == job]["time_ps"].tolist()


def alone(job: Path, ranks: str, *overrides: str) -> list[int]:
    return times(ap.load(tree(job, f'jobs.x.ranks = "{ranks}"'), *overrides).run(), "x")


@pytest.mark.parametrize("engine", ["packet", "analytic"])
def test_jobs_that_share_no_link_are_as_if_alone(job: Path, engine: str) -> None:
    result = ap.load(tree(job, APART), f"engine={engine}").run()
    assert result.iterations["job"].tolist() == ["a", "a", "b", "b"]
    assert result.iterations["iteration"].tolist() == [0, 1, 0, 1]
    assert times(result, "a") == alone(job, "0-3", f"engine={engine}")
    assert times(result, "b") == alone(job, "4-7", f"engine={engine}")


def test_jobs_that_share_links_slow_one_another(job: Path) -> None:
    # so that it is bytes that count: two rings over the links of one spine
    larger = "workload.comm_scale=30"
    result = ap.load(tree(job, SPREAD), larger).run()
    for name, ranks in (("a", "0,4,8,12"), ("b", "1,5,9,13")):
        assert sum(times(result, name)) > 1.5 * sum(alone(job, ranks, larger))


def test_a_job_that_starts_when_the_other_is_over_is_as_if_alone(job: Path) -> None:
    result = ap.load(tree(job, SPREAD), "jobs.b.start=10ms").run()
    assert times(result, "a") == alone(job, "0,4,8,12")
    assert times(result, "b") == alone(job, "1,5,9,13")
    table = result.iterations
    first = table[table["job"] == "b"].iloc[0]
    assert first["start_us"] == 10_000
    assert first["memory_us"] < 100
    report = result.report()
    assert "job a, from 0.000 us on" in report
    assert "job b, from 10,000.000 us on" in report


def test_slowdowns_are_times_over_those_alone(job: Path) -> None:
    run = ap.load(tree(job, SPREAD + '[background.storm]\nkind = "permutation"\n'), "jobs.b.start=20us")
    result = run.run()
    slowdowns = job_slowdowns(run, result)
    assert [each.job for each in slowdowns] == ["a", "b"]
    for each, ranks in zip(slowdowns, ("0,4,8,12", "1,5,9,13"), strict=True):
        assert each.time_ps == sum(times(result, each.job))
        assert each.alone_time_ps == sum(alone(job, ranks))
        assert each.slowdown == each.time_ps / each.alone_time_ps > 1
    assert slowdown_lines(slowdowns)[0].split() == ["job", "time", "us", "alone", "us", "slowdown"]


def test_a_workload_alone_is_without_its_background(job: Path) -> None:
    run = ap.load(tree(job, '[background.storm]\nkind = "permutation"\n'))
    (slowdown,) = job_slowdowns(run, run.run())
    assert slowdown.alone_time_ps == ap.load(tree(job)).run().iterations["time_ps"].sum() < slowdown.time_ps


def test_what_is_alone_already_or_not_there_is_refused(job: Path) -> None:
    run = ap.load(tree(job))
    with pytest.raises(ConfigError, match="alone already"):
        job_slowdowns(run, run.run())
    with pytest.raises(ConfigError, match="there is no job 'c'; allowed: a, b"):
        ap.load(tree(job, APART)).alone("c")


def test_all_tables_tell_jobs_apart(job: Path) -> None:
    text = SPREAD + '[background.storm]\nkind = "incast"\nreceiver = 3\nranks = "2,3,6"\n'
    result = ap.load(tree(job, text)).run()
    collectives, operations = result.collectives, result.operations
    assert collectives["job"].value_counts().to_dict() == {"a": 8, "b": 8, "storm": 1}
    assert all(name.startswith(f"{job}/") for name, job in zip(collectives["name"], collectives["job"], strict=True))
    assert set(operations[operations["job"] == "b"]["rank"]) == {1, 5, 9, 13}
    assert result.flows["job"].tolist() == ["storm", "storm"]
    assert result.iterations["job"].unique().tolist() == ["a", "b"]
    assert any(note.startswith("b: times in units of 1 ns") for note in result.manifest["notes"])


def test_background_slows_a_job_and_is_told_by_its_slowdowns(job: Path) -> None:
    text = '[background.storm]\nkind = "permutation"\nsize = "1MB"\n'
    plain, beside = (ap.load(tree(job, given)).run() for given in ("", text))
    assert beside.iterations["job"].tolist() == ["workload"] * 2
    assert beside.iterations["time_ps"].sum() > 1.2 * plain.iterations["time_ps"].sum()
    flows = beside.flows
    assert len(flows) == 16
    assert flows["slowdown"].max() > 1.5
    assert "storm" in beside.report()


def test_a_job_may_end_before_its_background(job: Path) -> None:
    text = '[background.storm]\nkind = "incast"\nranks = "0-7"\nsize = "10kB"\nrounds = 3\nperiod = "10ms"\n'
    result = ap.load(tree(job, text)).run()
    assert result.flows["start_us"].max() == 20_000
    assert result.iterations["time_us"].sum() < 10_000
    assert "its last flow ends" not in result.report()
    assert "storm: its last flow ends" in ap.load(tree(job, text), "background.storm.rounds=1").run().report()


def test_what_is_drawn_depends_on_its_name_and_the_seed_alone(job: Path) -> None:
    text = '[background.storm]\nkind = "poisson"\nstop = "200us"\nsizes = "hadoop"\n'

    def drawn(text: str, *overrides: str) -> bytes:
        trace = ap.load(tree(job, text), *overrides).trace
        (call,) = (call for call in trace.calls if call.name == "storm/flows")
        assert call.flows is not None
        return call.flows.tobytes()

    other = text + '[background.other]\nkind = "incast"\n'
    assert drawn(text) == drawn(SPREAD + text) == drawn(other)
    assert drawn(text) != drawn(text, "seed=2")


def test_background_alone_is_a_run_of_its_own() -> None:
    result = ap.load(
        {"platform": {"kind": "single_switch", "ranks": 5}, "background": {"in": {"kind": "incast"}}}
    ).run()
    assert result.iterations.empty
    assert len(result.flows) == 4
    assert result.flows["slowdown"].max() == pytest.approx(4, rel=0.05)
    assert "in" in result.report()


def test_the_load_is_of_the_nics_that_there_are() -> None:
    background = {"x": {"kind": "poisson", "stop": "100ms", "sizes": "hadoop", "load": 0.2}}
    trace = ap.load({"platform": {"preset": "hpcc"}, "background": background}).trace
    flows = trace.calls[0].flows
    assert flows is not None
    assert 8 * flows.total_bytes / 0.1 == pytest.approx(0.2 * 320 * 100e9, rel=0.02)


def test_stragglers_are_ranks_of_the_platform_and_no_start_is_late(job: Path) -> None:
    run = ap.load(tree(job, APART), "system.stragglers=5:2", "jobs.b.start=1us")
    assert run.trace.compute_ps()[[4, 5]].tolist() == [50_000_000, 100_000_000]
    starts = run.trace.duration_ps[run.trace.phase == run.trace.phases.index("start")]
    assert set(starts.tolist()) == {10**6}


def test_slowed_compute_is_that_of_a_jobs_own_collectives(job: Path) -> None:
    factor = "system.compute_slowdown=1.5"
    result = ap.load(tree(job, APART), factor).run()
    assert times(result, "a") == alone(job, "0-3", factor)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('jobs.a.ranks = "12-16"', ConfigError, r"jobs\.a\.ranks: rank 16 is not on the platform; allowed: 0 to 15"),
        ('jobs.a.ranks = "0-3"\njobs.b.ranks = "3-5"', WorkloadError, "rank 3 is of jobs 'a' and 'b'"),
        ('[background.x]\nkind = "incast"\nranks = "15-16"', ConfigError, r"background\.x\.ranks: rank 16 is not"),
        ('[background.x]\nkind = "incast"\nsenders = 16', WorkloadError, "16 senders, and there are 15 ranks"),
        ('[background.x]\nkind = "poisson"\nstop = "1ns"', WorkloadError, "no flow starts in 0.001 us"),
    ],
)
def test_what_has_no_place_is_refused(job: Path, text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ap.load(tree(job, text)).run()


def test_saved_results_of_jobs_come_back(job: Path, tmp_path: Path) -> None:
    text = SPREAD + '[background.storm]\nkind = "incast"\nranks = "0-7"\n'
    result = ap.load(tree(job, text)).run()
    result.save(tmp_path / "out")
    again = ap.read_result(tmp_path / "out")
    assert again.report() == result.report()
    assert np.array_equal(again.flows["slowdown"], result.flows["slowdown"])


def test_a_part_of_a_job_is_run_and_what_is_cut_is_said(job: Path) -> None:
    whole = ap.load(tree(job), "workload.iterations=3")
    part = ap.load(tree(job), "workload.iterations=3", "workload.keep_iterations=1", "workload.repeat=2").run()
    assert part.iterations["iteration"].tolist() == [1, 2]
    assert len(part.collectives) == 2 * len(whole.run().collectives) // 3
    assert any(note.startswith("cut: ") for note in part.manifest["notes"])
    assert "all of it is done 2 times" in part.manifest["notes"]
    with pytest.raises(WorkloadError, match="no iteration 7; allowed: 0 to 2"):
        ap.load(tree(job), "workload.iterations=3", "workload.keep_iterations=7").run()


def test_a_job_made_for_few_ranks_runs_on_many(job: Path) -> None:
    trace = ap.load(tree(job), "workload.weak_scaling_from=2").trace
    assert trace.ranks == 16
    assert {len(call.group) for call in trace.calls} == {16}
    assert trace.to_pandas().equals(ap.load(tree(job)).trace.to_pandas())


def test_a_dlrm_knows_the_machines_of_the_ranks_that_it_is_given() -> None:
    dlrm = {"kind": "dlrm", "preset": "dlrm_s"}
    run = ap.load({"platform": {"kind": "zionex", "nodes": 3}, "jobs": {"a": {"ranks": "12-19", "workload": dlrm}}})
    scenario = run.scenario.of_job(run.scenario.workload_of("a"), run.scenario.jobs["a"].ranks or ())
    job = DlrmJob(
        scenario.require_workload(),
        8,
        accelerator(scenario.platform.accelerator),
        run.platform.arrays(),
        scenario.job_ranks(8),
    )
    assert job.memory.machines.tolist() == [0] * 4 + [1] * 4
    assert set(run.trace.rank.tolist()) == set(range(12, 20))
    with pytest.raises(ConfigError, match=r"workload\.weak_scaling_from = 9: .* and it has 8"):
        scenario.job_ranks(9)


def test_flows_of_a_file_run_beside_a_job(job: Path, tmp_path: Path) -> None:
    (tmp_path / "flows.txt").write_text("2\n1 0 3 100 10000 0.0\n2 0 3 100 5000 0.000001\n")
    (tmp_path / "both.toml").write_text(
        '[background.beside]\nkind = "file"\nfile = "flows.txt"\nstart = "10us"\n'
        f'{PLATFORM}\n[workload]\nfile = "{job}"\n'
    )
    run = ap.load(tmp_path / "both.toml")
    flows = run.run().flows
    assert flows[["src", "dst", "size_bytes"]].to_numpy().tolist() == [[1, 0, 10_000], [2, 0, 5000]]
    assert flows["start_us"].tolist() == [10, 11]
    assert any(note.startswith("beside: ") and "flows.txt: 2 flows" in note for note in run.notes)
    before = run.digest
    (tmp_path / "flows.txt").write_text("1\n1 0 3 100 10000 0.0\n2 0 3 100 5000 0.000001\n")
    again = ap.load(tmp_path / "both.toml")
    assert again.digest != before
    assert any(warning.startswith("beside: ") and "1 more lines are not" in warning for warning in again.warnings)


def test_scales_are_of_every_kind_of_workload(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from astra_py.workloads import CollectiveCall, TraceBuilder, workload\n"
        "@workload('mine')\n"
        "def mine(scenario, ranks):\n"
        "    build = TraceBuilder(ranks)\n"
        "    build.compute(range(ranks), 1000, name='work')\n"
        "    everyone = tuple(range(ranks))\n"
        "    build.collective(CollectiveCall(name='sum', kind='all_reduce', group=everyone, size_bytes=500))\n"
        "    return build.build()\n"
    )
    own = {"kind": f"file:{tmp_path / 'mine.py'}", "compute_scale": 3, "comm_scale": 0.5}
    trace = ap.load({"platform": {"kind": "single_switch", "ranks": 4}, "workload": own}).trace
    assert trace.compute_ps().tolist() == [3000] * 4
    assert trace.calls[0].size_bytes == 250


#: Platforms of two machines, ranks of theirs, and their NICs together in Gb/s, by hand.
NICS = {
    "one a rank": ({"kind": "single_switch", "ranks": 9}, "all", 9 * 100),
    "one machine and a rank": ({"kind": "zionex", "nodes": 2}, "0-8", 9 * 100),
    "a part of a machine": ({"kind": "zionex", "nodes": 2}, "2,3,9", 3 * 100),
    "in turn": ({"kind": "zionex", "nodes": 2}, "8,0,9,1,10,2", 6 * 100),
    "two ranks a NIC": ({"kind": "zionex", "nodes": 2, "nics_per_node": 4}, "all", 8 * 100),
    "two of three share one": ({"kind": "zionex", "nodes": 2, "nics_per_node": 4}, "0,1,8", 2 * 100),
    "hosts": ({"kind": "zion", "nodes": 2}, "0-8", 9 * 100),
    "within a machine": ({"kind": "zionex", "nodes": 1}, "0-3", 4 * 8 * 300),
}


@pytest.mark.parametrize("name", NICS)
def test_a_poisson_load_is_of_the_nics_of_its_ranks(name: str) -> None:
    platform, ranks, nics_gbps = NICS[name]
    storm = {"kind": "poisson", "ranks": ranks, "load": 0.5, "size": "10kB", "stop": "10ms"}
    (call,) = ap.load({"platform": platform, "background": {"storm": storm}}).trace.calls
    assert call.flows is not None
    load = 8 * call.flows.total_bytes / (nics_gbps * 1e9 * 10e-3)
    assert load == pytest.approx(0.5, rel=0.05)
