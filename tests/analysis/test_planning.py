# SPDX-License-Identifier: GPL-2.0-only
"""Plans of scenarios: by each sharder, searched for and judged, and used again from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astra_py as ap
from astra_py.analysis.planning import plan_tables
from astra_py.errors import ConfigError, WorkloadError
from astra_py.workloads.dlrm import Sharding
from small_job import write_job

MODEL = """\
name = "mixed"
bottom = [13, 64]
top = [64, 1]
interaction = "concatenation"
local_batch = 256

[[tables]]
name = "wide"
rows = 1000000
dim = 512
pooling = 30
dtype = "fp16"

[[tables]]
name = "small"
count = 6
rows = 1000
dim = 64
pooling = 5
dtype = "fp16"
"""


@pytest.fixture
def tree(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "model.toml").write_text(MODEL)
    return {
        "engine": "analytic",
        "platform": {"kind": "zionex", "nodes": 2, "accelerators_per_node": 2},
        "workload": {"kind": "dlrm", "file": str(tmp_path / "model.toml"), "iterations": 1},
    }


def iteration_ps(tree: dict[str, Any], *overrides: str) -> int:
    return int(ap.load(tree, *overrides).run().columns("iterations")["time_ps"][-1])


def test_the_planner_beats_whole_tables_and_its_plan_runs_from_a_file(tree: dict[str, Any], tmp_path: Path) -> None:
    told: list[str] = []
    found = plan_tables(tree, "workload.sharder=planner", tell=told.append)
    judged = [each for each in found.proposals if each.judged_ps >= 0]
    assert len(told) == len(judged) >= 2
    assert judged[0].plan is found.plan
    assert judged[0].judged_ps == min(each.judged_ps for each in judged)
    assert found.plan.sharding[0] is not Sharding.TABLE_WISE
    (whole,) = (each for each in judged if each.title == "every table whole")
    assert judged[0].judged_ps < whole.judged_ps == iteration_ps(tree)
    for suffix in (".csv", ".json"):
        path = tmp_path / f"plan{suffix}"
        found.write(path)
        assert iteration_ps(tree, f"workload.plan={path}") == judged[0].judged_ps


def test_without_a_judge_it_is_the_plan_that_a_run_takes(tree: dict[str, Any], tmp_path: Path) -> None:
    found = plan_tables(tree, "workload.sharder=planner", is_judged=False)
    assert all(each.judged_ps < 0 for each in found.proposals)
    seconds = [each.seconds for each in found.proposals]
    assert seconds == sorted(seconds)
    found.write(tmp_path / "plan.csv")
    assert iteration_ps(tree, "workload.sharder=planner") == iteration_ps(tree, f"workload.plan={tmp_path}/plan.csv")


@pytest.mark.parametrize("sharder", ["greedy", "karmarkar_karp"])
@pytest.mark.parametrize("sharding", list(Sharding))
def test_every_sharding_runs_and_its_bytes_are_those_of_the_plan(
    tree: dict[str, Any], sharder: str, sharding: Sharding
) -> None:
    least = ("workload.min_shard_dim=32",) if sharding is Sharding.COLUMN_WISE else ()
    overrides = (f"workload.sharder={sharder}", f"workload.sharding={sharding}", *least)
    found = plan_tables(tree, *overrides)
    assert found.plan.sharding == (sharding,) * 7
    assert iteration_ps(tree, *overrides) > 0
    # what one rank sends another one receives
    assert found.ranks["forward_out_bytes"].sum() == pytest.approx(found.ranks["forward_in_bytes"].sum(), abs=4)
    assert found.ranks["index_out_bytes"].sum() == found.ranks["index_in_bytes"].sum()
    assert len(found.shards) == len(found.plan.table)


def test_bytes_are_those_of_the_exchanges(tree: dict[str, Any]) -> None:
    # whole tables: the run's own all-to-all-v matrices
    found = plan_tables(tree)
    messages = ap.load(tree).run().collectives.set_index("name")
    pooled = messages.loc["embedding.pooled"]
    assert pooled["sent_bytes"] == found.ranks["forward_out_bytes"].max()
    assert messages.loc["embedding.gradients"]["sent_bytes"] == found.ranks["backward_out_bytes"].max()
    assert messages.loc["embedding.indices"]["sent_bytes"] == found.ranks["index_out_bytes"].max()


def test_results_carry_the_plan_as_a_table_to_use_again(tree: dict[str, Any], tmp_path: Path) -> None:
    overrides = ("workload.sharding=row_wise", "workload.sharder=karmarkar_karp")
    result = ap.load(tree, *overrides).run()
    assert result.plan["sharding"].tolist() == ["row_wise"] * 28
    found = plan_tables(tree, *overrides)
    assert result.plan_ranks["forward_out_bytes"].tolist() == found.ranks["forward_out_bytes"].tolist()
    result.save(tmp_path / "run")
    again = ap.load(tree, f"workload.plan={tmp_path}/run/plan.csv").run()
    assert again.plan.equals(result.plan)
    assert again.manifest["run"]["time_ps"] == result.manifest["run"]["time_ps"]
    assert ap.read_result(tmp_path / "run").plan_ranks.equals(result.plan_ranks)


def test_what_has_no_tables_is_refused(tree: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"workload.kind = 'file' has no tables to shard; allowed: 'dlrm'"):
        plan_tables(write_job(tmp_path))
    with pytest.raises(ConfigError, match=r"workload.plan: 'none.csv' is not a file"):
        plan_tables(tree, "workload.plan=none.csv")
    (tmp_path / "plan.csv").write_text("")
    with pytest.raises(ConfigError, match=r"workload.sharding: .* only with .*workload.plan = 'none'"):
        plan_tables(tree, f"workload.plan={tmp_path}/plan.csv", "workload.sharding=row_wise")
    with pytest.raises(ConfigError, match=r"workload.sharding: .* only with .*'greedy' or 'karmarkar_karp'"):
        plan_tables(tree, "workload.sharder=planner", "workload.sharding=row_wise")


@pytest.mark.parametrize("key", ["sharding=table_row_wise", "sharder=planner", "host_memory=1TB"])
def test_a_job_on_part_of_the_ranks_is_told_who_shares_a_machine(tree: dict[str, Any], key: str) -> None:
    name, value = key.split("=")
    tree["jobs"] = {"half": {"ranks": "1-2", "workload": tree.pop("workload")}}
    tree["jobs"]["half"]["workload"][name] = value
    trace = ap.load(tree).trace
    assert trace.ranks == 4
    assert set(trace.rank.tolist()) == {1, 2}


def test_a_host_tier_is_used_where_memory_ends(tree: dict[str, Any], tmp_path: Path) -> None:
    big = tmp_path / "big.toml"
    big.write_text(MODEL.replace("rows = 1000000", "rows = 100000000"))  # 102 GB
    tree["workload"]["file"] = str(big)
    with pytest.raises(WorkloadError, match=r"'wide' needs 102.4 GB of one rank's memory.*a host tier"):
        plan_tables(tree)
    found = plan_tables(tree, "workload.host_memory=200GB")
    assert found.ranks["host_bytes"].max() == 102_400_000_000
    assert np.count_nonzero(found.ranks["host_bytes"]) == 1
    rows = plan_tables(tree, "workload.sharder=planner", is_judged=False)
    assert rows.plan.sharding[0] is not Sharding.TABLE_WISE
    assert rows.plan.sharding[1] is not Sharding.ROW_WISE
