# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import astra_py as ap
from astra_py.api import FAULTS, one_collective
from astra_py.collectives import Schedule, Template, closed_form, registry
from astra_py.config import load_scenario
from astra_py.errors import CheckError
from small_job import COMPUTE_US, LAYERS, write_job

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module", params=["packet", "flow", "analytic"])
def result(job: Path, request: pytest.FixtureRequest) -> ap.Result:
    return ap.load(job, f"engine={request.param}").run()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, astra_py; astra_py.ConfigError; dir(astra_py); "
        "print([m for m in ('numpy', 'pandas', 'pydantic', 'networkx', 'astra_py._ns3_ext') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def test_every_public_name_is_there() -> None:
    for name in ap.__all__:
        assert getattr(ap, name) is not None, name
    assert dir(ap) == sorted(ap.__all__)
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = ap.lode


def test_the_version_is_that_of_the_project() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == ap.__version__


def test_a_run_has_the_workloads_operations_and_compute(result: ap.Result) -> None:
    assert result.iterations["compute_us"].tolist() == pytest.approx([COMPUTE_US] * 2)
    assert result.iterations["time_ps"].sum() == result.operations["end_ps"].max()
    names = ["Embedding.forward", "Top.weight_gradient", "Embedding.input_gradient", "Bottom.weight_gradient"]
    assert result.collectives["name"].tolist() == 2 * names
    assert result.collectives["size_bytes"].tolist() == 2 * [8000, 120000, 8000, 4003]
    assert len(result.operations[result.operations["kind"] == "compute"]) == 4 * 2 * 9
    assert (result.iterations["exposed_us"] > 0).all()


def test_every_run_says_that_its_checks_passed(result: ap.Result) -> None:
    # what the analytic engine says of links is computed, and not counted as checked
    assert len(result.checks) == (31 if result.manifest["engine"] == "packet" else 15)
    assert all(check.passed and check.declared == check.measured for check in result.checks)


def test_a_collectives_times_are_in_order(result: ap.Result) -> None:
    table = result.collectives
    assert (table["ideal_time_us"] > 0).all()
    assert (table["ideal_time_us"] < table["analytic_time_us"]).all()
    assert (table["exposed_us"] <= table["time_us"]).all()
    np.testing.assert_allclose(table["ratio"], table["time_us"] / table["analytic_time_us"])


def test_the_manifest_says_what_was_run(result: ap.Result, job: Path) -> None:
    manifest = result.manifest
    assert manifest["scenario"]["platform"]["ranks"] == 4
    assert manifest["versions"]["ns3"] == "3.44.post0"
    assert manifest["platform"] == {
        "name": "leaf_spine",
        "ranks": 4,
        "nodes": 8,
        "links": {"host": 4, "fabric": 4},
    }
    assert any("together 25 us a rank and iteration" in note for note in manifest["notes"])
    assert manifest["run"]["peak_rss_bytes"] > 10**7
    assert result.digest == ap.load(job, f"engine={manifest['engine']}").digest


def test_what_is_saved_comes_back(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "run")
    again = ap.read_result(tmp_path / "run")
    for table in ("iterations", "collectives", "phases", "operations", "messages", "pairs", "flows", "links"):
        pd.testing.assert_frame_equal(getattr(again, table), getattr(result, table), check_exact=True)
    assert again.report() == result.report()


def test_the_same_seed_gives_the_same_tables(job: Path) -> None:
    first, second = ap.load(job).run(), ap.load(job).run()
    pd.testing.assert_frame_equal(first.messages, second.messages, check_exact=True)
    pd.testing.assert_frame_equal(first.links, second.links, check_exact=True)
    assert first.counters == second.counters


def test_half_the_rate_takes_longer(job: Path) -> None:
    fast, slow = (ap.load(job, f"platform.link_rate={rate}").run() for rate in ("100Gbps", "50Gbps"))
    assert fast.iterations["time_ps"].sum() < slow.iterations["time_ps"].sum()


def test_the_estimate_is_what_the_run_counts(job: Path) -> None:
    run = ap.load(job)
    estimate, result = run.estimate(), run.run()
    assert estimate.ranks == 4
    assert estimate.operations == len(result.operations)
    assert estimate.collectives == len(result.collectives)
    assert estimate.messages == len(result.messages)
    assert estimate.packets == result.pairs["packets"].sum() == result.counters["packets"]
    assert estimate.packet_hops == result.links["frames"].sum() == result.counters["packet_hops"]


def test_an_estimate_is_that_of_the_engine(job: Path) -> None:
    packet, flow, analytic = (ap.load(job, f"engine={engine}").estimate() for engine in ("packet", "flow", "analytic"))
    assert packet.messages == flow.messages == analytic.messages
    assert packet.cpu_s > flow.cpu_s > analytic.cpu_s > 0
    assert flow.memory_bytes > analytic.memory_bytes > packet.memory_bytes


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(job: Path, monkeypatch: pytest.MonkeyPatch, engine: str, fault: str) -> None:
    monkeypatch.setenv("ASTRA_PY_FAULT", fault)
    with pytest.raises(ap.SimulationError) as caught:
        ap.load(job, f"engine={engine}").run()
    assert (caught.value.reason, caught.value.exit_code) == ("check", 3)
    assert caught.value.__notes__ == [f"while simulating {job}"]


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_sizes_that_are_all_equal_cannot_be_swapped(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setenv("ASTRA_PY_FAULT", "swap_sizes")
    run = one_collective(load_scenario({"platform": {"ranks": 4}, "engine": engine}), "all_to_all", 4096)
    # no check has run: it is the fault itself that refuses
    with pytest.raises(ap.SimulationError, match="no two messages of different sizes") as caught:
        run.run()
    assert (caught.value.reason, caught.value.exit_code) == ("invariant", 3)


def _without_dependencies(rows: Schedule | Template) -> dict[str, np.ndarray]:
    none = {"dep_ptr": np.zeros(len(rows) + 1, dtype=np.int64), "dep_op": np.zeros(0, dtype=np.int32)}
    return none if isinstance(rows, Schedule) else {**none, "dep_on": np.zeros(0, dtype=np.uint8)}


def _without_pools(schedule: Schedule) -> dict[str, np.ndarray]:
    return {"use_ptr": np.zeros(len(schedule) + 1, dtype=np.int64), "use_pool": np.zeros(0, dtype=np.int32)}


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize(
    ("change", "checks"),
    [
        (lambda s: replace(s, duration_ps=s.duration_ps // 2), ["durations"]),
        (lambda s: replace(s, **_without_dependencies(s)), ["dependencies"]),
        (lambda s: replace(s, **_without_dependencies(s), **_without_pools(s)), ["limits", "dependencies"]),
        (
            lambda s: replace(s, templates=tuple(replace(t, **_without_dependencies(t)) for t in s.templates)),
            ["data_flow"],
        ),
        (lambda s: replace(s, instance_priority=0 * s.instance_priority, priority=0 * s.priority), ["priorities"]),
    ],
    ids=["durations", "dependencies", "dependencies and streams", "dependencies in templates", "priorities"],
)
def test_a_schedule_that_is_not_the_traces_is_found(
    job: Path, engine: str, change: Callable[[Schedule], Schedule], checks: list[str]
) -> None:
    run = ap.load(job, f"engine={engine}")
    run.__dict__["schedule"] = change(run.schedule)
    with pytest.raises(CheckError) as caught:
        run.run()
    failed = re.findall(r"^  (\w+) \(", str(caught.value), re.MULTILINE)
    assert failed == checks


def test_a_ring_that_goes_the_other_way_round_is_found() -> None:
    run = one_collective(load_scenario({"platform": {"ranks": 4}}), "all_reduce", 4096)
    other = {"group_rank": run.schedule.group_rank[::-1].copy(), "member": 3 - run.schedule.member}
    run.__dict__["schedule"] = replace(run.schedule, **other)
    with pytest.raises(
        CheckError, match=r"^1 of 31 checks failed.*\n  message_ends .*: message 0, rank 0 to 3 and not 3 to 0"
    ):
        run.run()


def test_the_limit_on_active_collectives_is_held(job: Path) -> None:
    limit = "system.max_active_collectives=1"
    assert len(ap.load(job, limit).run().checks) == 31
    run = ap.load(job, limit)
    # all-reduces of the layers overlap where nothing holds them back
    run.__dict__["schedule"] = replace(run.schedule, **_without_pools(run.schedule))
    with pytest.raises(CheckError, match=r"active collectives of rank 0, \d at once: declared 1"):
        run.run()


def test_an_unknown_fault_is_refused(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTRA_PY_FAULT", "lose_everything")
    with pytest.raises(ap.ConfigError, match="ASTRA_PY_FAULT = 'lose_everything'; allowed: drop_message"):
        ap.load(job).run()


@pytest.mark.parametrize(
    "transport", ["ack=every:3", "ack=out_of_band", "ack=per_message", "qps_per_peer=2", "qps_per_peer=per_message"]
)
@pytest.mark.parametrize("window", ["none", "8192B"])
@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_bytes_on_links_are_as_implied_under_every_policy(job: Path, transport: str, engine: str, window: str) -> None:
    result = ap.load(job, f"transport.{transport}", f"engine={engine}", f"transport.window={window}").run()
    assert ("link_line_bytes" in [check.name for check in result.checks]) == (engine == "packet")


def test_lost_frames_leave_the_checks_of_links_as_lower_bounds(job: Path) -> None:
    result = ap.load(job, "platform.link_loss=0.01").run()
    assert result.messages["retransmitted_packets"].sum() > 0
    assert result.links["dropped_frames"].sum() > 0
    checks = {check.name: check for check in result.checks}
    assert checks["link_line_bytes"].measured > checks["link_line_bytes"].declared
    assert checks["sent_bytes"].measured == checks["sent_bytes"].declared


def test_a_limit_ends_the_run_with_its_reason(job: Path) -> None:
    with pytest.raises(ap.SimulationError, match=r"event limit reached: .* operations done") as caught:
        ap.load(job, "limits.max_events=100").run()
    assert caught.value.reason == "event_limit"


def test_a_limit_says_at_which_simulated_time_the_run_was_cut() -> None:
    run = one_collective(load_scenario({"platform": {"ranks": 2}}, ["limits.max_time=50us"]), "sendrecv", 1 << 20)
    with pytest.raises(
        ap.SimulationError, match=r"time limit reached: 0 of 2 operations done at 49\.9\d+ us"
    ) as caught:
        run.run()
    assert caught.value.reason == "time_limit"


def test_a_mapping_is_a_scenario_too(job: Path) -> None:
    tree = {"platform": {"ranks": 2}, "workload": {"file": str(job.with_name("job.txt")), "iterations": 1}}
    result = ap.load(tree, "platform.ranks=3").run()
    assert result.collectives["ranks"].unique().tolist() == [3]
    assert len(result.iterations) == 1
    assert tree["platform"] == {"ranks": 2}


def test_a_scenario_without_a_workload_is_refused() -> None:
    with pytest.raises(ap.ConfigError, match="workload: there is none"):
        ap.load({"platform": {"ranks": 2}})


def test_an_unknown_algorithm_is_named_with_its_key_even_where_it_is_not_used(job: Path) -> None:
    run = ap.load(job, "collective.sendrecv=pigeon")
    with pytest.raises(ap.ConfigError, match=r"collective\.sendrecv = 'pigeon': unknown sendrecv algorithm"):
        run.estimate()


def test_nics_that_no_queue_pair_takes_are_warned_of() -> None:
    def warnings(*overrides: str) -> tuple[str, ...]:
        scenario = load_scenario({}, ["platform.kind=zionex", "platform.nics_per_node=4", *overrides])
        return one_collective(scenario, "all_to_all", 1000).warnings

    striped = "platform.nic_policy=striped"
    (text,) = warnings(striped, "transport.qps_per_peer=3")
    assert text.endswith("with transport.qps_per_peer = 3, 1 of the 4 NICs of each machine carry nothing")
    assert (
        warnings(striped, "transport.qps_per_peer=4") == warnings(striped, "transport.qps_per_peer=per_message") == ()
    )
    assert warnings("platform.nic_policy=hash") == ()


def test_figures_left_out_of_a_file_are_warnings(tmp_path: Path) -> None:
    assert ap.load(write_job(tmp_path)).warnings == ()
    (tmp_path / "job.txt").write_text(LAYERS.replace("ALLREDUCE 4003 5", "NONE 0 5"))
    assert ap.load(tmp_path / "job.toml").warnings == (
        "ignored: the update delay of Bottom, which follows no collective",
    )


def test_compute_alone_runs_and_has_nothing_exposed(tmp_path: Path) -> None:
    layers = ["E -1 5 NONE 0 5 NONE 0 0 NONE 0 0", "T -1 5 NONE 0 5 NONE 0 5 NONE 0 0"]
    job = write_job(tmp_path, "\n".join(["HYBRID_DLRM 0", "2", *layers]))
    result = ap.load(job, "workload.iterations=1").run()
    assert result.iterations[["time_us", "compute_us", "exposed_us"]].to_numpy().tolist() == [[0.025, 0.025, 0.0]]
    assert len(result.collectives) == len(result.phases) == len(result.messages) == 0
    assert "exposed" in result.report()


def test_collectives_of_one_rank_are_no_work(job: Path) -> None:
    with pytest.raises(ap.SimulationError, match="put no byte on any link") as caught:
        ap.load({"platform": {"ranks": 1}, "workload": {"file": str(job.with_name("job.txt"))}}).run()
    assert caught.value.reason == "no_work"


def test_an_algorithm_of_ones_own_runs(job: Path) -> None:
    @ap.collective("all_to_all", name="one_by_one")
    def one_by_one(build: ap.ScheduleBuilder, group: object, matrix: np.ndarray) -> None:
        n = len(matrix)
        ranks, before = np.arange(n), None
        for step in range(1, n):
            to = (ranks + step) % n
            before = build.send(ranks, to, matrix[ranks, to], before_of(before), blocks=ranks * n + to)

    def before_of(ids: np.ndarray | None) -> object:
        from astra_py.collectives import Dep, EdgeOn

        return None if ids is None else Dep(ids, on=EdgeOn.SENT)

    result = ap.load(job, "collective.all_to_all=one_by_one").run()
    assert set(result.collectives["algorithm"]) == {"ring", "one_by_one"}


def test_what_replaces_a_built_in_algorithm_is_followed_before_it_runs(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = registry._algorithms["all_to_all"]
    monkeypatch.setattr(own, "_known", dict(own._known))

    @ap.collective("all_to_all", name="direct")
    def own_blocks_first(build: ap.ScheduleBuilder, group: object, matrix: np.ndarray) -> None:
        # the bytes of a direct all-to-all, and every message has the sender's block for itself
        src, dst = np.nonzero(~np.eye(len(matrix), dtype=bool))
        build.send(src, dst, matrix[src, dst], blocks=src * len(matrix) + src)

    with pytest.raises(CheckError, match="ends without the block"):
        ap.load(job).estimate()
    with pytest.raises(ap.ConfigError, match=r"no closed form of all_to_all algorithm 'direct'.*known are all_reduce"):
        closed_form("all_to_all", "direct")
    with pytest.raises(ap.ConfigError, match="unknown all_to_all algorithm 'dirct'"):
        ap.register_closed_form("all_to_all", "dirct", closed_form("all_reduce", "ring"))


def test_one_collective_among_some_ranks() -> None:
    scenario = load_scenario({"platform": {"ranks": 6}})
    result = one_collective(scenario, "sendrecv", 4096, (4, 1)).run()
    assert result.messages[["src", "dst"]].to_numpy().tolist() == [[4, 1]]
    with pytest.raises(ap.ConfigError, match="rank 6 is not on the platform; allowed: 0 to 5"):
        one_collective(scenario, "sendrecv", 4096, (4, 6)).run()


def test_one_collective_takes_whole_numbers_of_any_kind_and_nothing_else() -> None:
    scenario = load_scenario({"platform": {"ranks": 4}})
    plain = one_collective(scenario, "sendrecv", 1000, (2, 1))
    assert one_collective(scenario, "sendrecv", np.int64(1000), (np.int32(2), 1)).digest == plain.digest
    for size_bytes in (1.5, "1MiB", True, None):
        with pytest.raises(ap.ConfigError, match=r"sendrecv: size_bytes is .*; allowed: a whole number"):
            one_collective(scenario, "sendrecv", size_bytes)  # type: ignore[arg-type]
    with pytest.raises(ap.ConfigError, match="sendrecv: a rank of the group is True"):
        one_collective(scenario, "sendrecv", 1000, (0, True))
    with pytest.raises(ap.WorkloadError, match="'all_reduce': size_bytes = 9223372036854775807 is outside 0 to 2"):
        one_collective(scenario, "all_reduce", 2**63 - 1).run()
    with pytest.raises(ap.ConfigError, match="unknown collective 'allreduce'; allowed: all_reduce, "):
        one_collective(scenario, "allreduce", 1000)


def test_the_digest_of_one_collective_is_its_own() -> None:
    scenario = load_scenario({"platform": {"ranks": 6}})
    runs = [
        one_collective(scenario, "all_reduce", 4096),
        one_collective(scenario, "all_reduce", 4097),
        one_collective(scenario, "all_to_all", 4096),
        one_collective(load_scenario({"platform": {"ranks": 7}}), "all_reduce", 4096),
    ]
    assert len({run.digest for run in runs}) == 4
    assert runs[0].digest == one_collective(scenario, "all_reduce", 4096).digest


def test_even_and_uneven_all_to_all_of_equal_parts_agree() -> None:
    scenario = load_scenario({"platform": {"ranks": 5}})
    even, uneven = (one_collective(scenario, kind, 40_003).run() for kind in ("all_to_all", "all_to_all_v"))
    assert even.messages["delivered_ps"].tolist() == uneven.messages["delivered_ps"].tolist()
    assert even.collectives["busbw_GBps"][0] == pytest.approx(uneven.collectives["busbw_GBps"][0], rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "key", "is_used"),
    [
        ("all_reduce", "collective.rings=2", True),
        ("all_to_all", "collective.rings=2", False),
        ("all_to_all", "collective.in_flight=2", True),
        ("all_reduce", "collective.in_flight=2", False),
        ("all_reduce", "collective.tree_piece=4KiB", False),
    ],
)
def test_a_key_without_use_is_warned_of(kind: str, key: str, is_used: bool) -> None:
    run = one_collective(load_scenario({}, ["platform.ranks=4", key]), kind, 40_000)
    told = [warning for warning in run.warnings if warning.startswith(key.partition("=")[0])]
    assert len(told) == (0 if is_used else 1)
    assert set(told) <= set(run.notes)
    assert all("changes nothing" in warning for warning in told)
