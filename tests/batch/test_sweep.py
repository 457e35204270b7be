# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps from Python: what they find, how they are gone on with, and what fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.batch import Grid, LatinHypercube, Limits, PointList, Range, Shard, SweepProgress
from astra_py.errors import ConfigError, EngineCrash
from sweep_cases import SCENARIO, HereExecutor, MadeUpExecutor

DESIGN = {"platform.link_rate": ["100Gbps", "400Gbps"], "seed": range(3)}
TABLES = ("results.csv", "spread.csv")


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in TABLES}


def test_a_row_has_what_its_run_has(tmp_path: Path) -> None:
    sweep = ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "out", executor=HereExecutor())
    assert repr(sweep) == f"<Sweep of a scenario in {tmp_path / 'out'}: 6 of 6 points, 0 failed>"
    assert sweep.is_complete
    assert (sweep.table["status"] == "ok").all()
    assert len(sweep.failures) == 0
    run = ap.load(SCENARIO, "platform.link_rate=400Gbps", "seed=1").run()
    row = sweep.table.iloc[4]
    assert row["digest"] == run.digest
    assert row["time_us"] == run.manifest["run"]["time_ps"] / 1e6
    assert row["flows_max_us"] == run.flows["time_us"].max()
    assert (row["platform.link_rate"], row["platform.link_rate_bps"], row["seed"]) == ("400Gbps", 4 * 10**11, 1)
    spread = sweep.spread()
    assert list(spread.loc[spread["figure"] == "time_us", "seeds"]) == [3, 3]
    assert "6 of 6 points, 0 failed" in sweep.report()
    again = ap.read_sweep(tmp_path / "out")
    assert again.table.equals(sweep.table)


def test_a_sweep_that_was_stopped_goes_on_and_its_tables_are_the_same(tmp_path: Path) -> None:
    ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "whole", executor=MadeUpExecutor(failing=[4]))
    ran = []
    for _ in range(3):
        executor = MadeUpExecutor(failing=[4], stops_after=2)
        try:
            ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "parts", executor=executor)
        except KeyboardInterrupt:
            assert not ap.read_sweep(tmp_path / "parts").is_complete
        ran += executor.ran
    assert len(ran) == len(set(ran)) == 6
    assert bytes_of(tmp_path / "parts") == bytes_of(tmp_path / "whole")
    done = MadeUpExecutor()
    ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "parts", executor=done)
    assert done.ran == []


def test_a_run_and_a_sweep_never_share_a_folder(tmp_path: Path) -> None:
    result = ap.load(SCENARIO).run()
    result.save(tmp_path / "run")
    for overwrite in (False, True):
        with pytest.raises(ConfigError, match=r"holds no sweep: its manifest.json is of something else"):
            ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "run", executor=MadeUpExecutor(), overwrite=overwrite)
    sweep = ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "sweep", executor=MadeUpExecutor())
    for overwrite in (False, True):
        with pytest.raises(ConfigError, match=r"holds a sweep \(journal.jsonl\)"):
            result.save(tmp_path / "sweep", overwrite=overwrite)
    assert ap.read_sweep(tmp_path / "sweep").table.equals(sweep.table)
    assert ap.read_result(tmp_path / "run").digest == result.digest


def test_failed_points_are_rows_and_run_again_when_asked_for(tmp_path: Path) -> None:
    sweep = ap.run_sweep(SCENARIO, DESIGN, out=tmp_path, executor=MadeUpExecutor(failing=[1, 5]))
    assert list(sweep.failures["point"]) == [1, 5]
    assert list(sweep.failures["reason"]) == ["aborted"] * 2
    assert sweep.table["status"].tolist() == ["ok", "crashed", "ok", "ok", "ok", "crashed"]
    assert sweep.is_complete
    assert "point 5 (platform.link_rate=400Gbps, seed=2): crashed: aborted" in sweep.report()
    executor = MadeUpExecutor(failing=[5])
    sweep = ap.run_sweep(SCENARIO, DESIGN, out=tmp_path, executor=executor, retry_failed=True)
    assert len(executor.ran) == 2
    assert list(sweep.failures["point"]) == [5]
    assert len(sweep.runs) == 8


def test_points_of_one_configuration_run_once_and_have_a_row_each(tmp_path: Path) -> None:
    executor = HereExecutor()
    design = {"platform.link_rate": ["100Gbps", "0.1Tbps"]}
    sweep = ap.run_sweep(SCENARIO, design, out=tmp_path, executor=executor)
    assert len(executor.ran) == 1
    assert sweep.table["time_us"].nunique() == 1
    assert sweep.table["platform.link_rate"].tolist() == ["100Gbps", "0.1Tbps"]
    with pytest.raises(ConfigError, match="there is no spread"):
        sweep.spread()


def test_shards_together_are_the_sweep(tmp_path: Path) -> None:
    ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "whole", executor=MadeUpExecutor())
    ran = []
    for number in (3, 1, 4, 2):
        executor = MadeUpExecutor()
        sweep = ap.run_sweep(SCENARIO, DESIGN, out=tmp_path / "shards", executor=executor, shard=Shard(number, 4))
        ran += executor.ran
    assert len(ran) == len(set(ran)) == 6
    assert sweep.is_complete
    assert bytes_of(tmp_path / "shards") == bytes_of(tmp_path / "whole")


def test_an_input_file_that_is_changed_while_points_run_fails_them(tmp_path: Path) -> None:
    from small_job import LAYERS, write_job

    job = write_job(tmp_path)

    class Changing(HereExecutor):
        def run(self, *arguments):  # type: ignore[no-untyped-def]
            for outcome in super().run(*arguments):
                (tmp_path / "job.txt").write_text(LAYERS.replace("8000", "9000"))
                yield outcome

    sweep = ap.run_sweep(job, {"seed": [1, 2]}, "engine=analytic", out=tmp_path / "out", executor=Changing())
    assert sweep.table["status"].tolist() == ["ok", "failed"]
    assert "an input file was changed after the sweep began" in sweep.failures["reason"][0]


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[SweepProgress] = []
    ap.run_sweep(SCENARIO, DESIGN, out=tmp_path, executor=MadeUpExecutor(failing=[2]), told=told.append)
    assert [each.done for each in told] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
    assert [each.running for each in told] == [0, 1, 0] + [1, 0] * 5
    assert (told[-1].failed, told[-1].runs, told[-1].left_s) == (1, 6, 0)
    assert told[0].left_s is None
    assert [each.outcome.status for each in told if each.point and each.point.index == 2 and each.outcome] == [
        "crashed"
    ]


def test_designs_are_multiplied(tmp_path: Path) -> None:
    designs = [
        LatinHypercube(3, {"platform.link_delay": Range("100ns", "10us", "log")}, seed=1),
        PointList.of([{"transport.window": "none"}, {"transport.window": "64KiB"}]),
        Grid.of({"seed": [1, 2]}),
    ]
    sweep = ap.run_sweep(SCENARIO, designs, out=tmp_path, executor=MadeUpExecutor())
    assert sweep.keys == ("platform.link_delay", "transport.window", "seed")
    assert len(sweep.table) == 12
    assert sweep.table["platform.link_delay_ps"].between(10**5, 10**7).all()
    listed = [{"seed": 5}, {"seed": 7}]
    sweep = ap.run_sweep(SCENARIO, listed, out=tmp_path / "list", executor=MadeUpExecutor())
    assert sweep.table["seed"].tolist() == [5, 7]


@pytest.mark.parametrize("design", [5, "seed", [1, 2], ["seed"], [Grid.of({"seed": [1]}), {"seed": 2}]])
def test_a_design_that_is_none(tmp_path: Path, design: object) -> None:
    with pytest.raises(ConfigError, match="allowed: values by key"):
        ap.run_sweep(SCENARIO, design, out=tmp_path / "out", executor=MadeUpExecutor())  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_where_a_point_is_not_allowed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="seed=-1"):
        ap.run_sweep(SCENARIO, {"seed": [1, -1]}, out=tmp_path / "out", executor=MadeUpExecutor())
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_sweep_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no sweep here"):
        ap.read_sweep(tmp_path)
    with pytest.raises(ConfigError, match="no sweep here"):
        ap.read_sweep(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("limits", "says"),
    [({"time_s": 0}, "time limit"), ({"memory_bytes": 0}, "memory limit"), ({"retries": -1}, "retries")],
)
def test_limits_that_are_none(limits: dict[str, int], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Limits(**limits)


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "a/b", "1/4/2", "-1/2"])
def test_a_shard_that_is_none(text: str) -> None:
    with pytest.raises(ConfigError, match="allowed: i/n"):
        Shard.of(text)
    assert Shard.of(" 2/8 ") == Shard(2, 8)


def test_the_parquet_table_is_the_table(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pandas as pd

    sweep = ap.run_sweep(SCENARIO, DESIGN, out=tmp_path, executor=MadeUpExecutor(failing=[1]))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "results.parquet"), sweep.table)


def test_an_executor_that_forgets_a_point_is_found(tmp_path: Path) -> None:
    class Forgetful(MadeUpExecutor):
        def run(self, study, points, limits, on_event):  # type: ignore[no-untyped-def]
            return super().run(study, points[1:], limits, on_event)

    with pytest.raises(EngineCrash, match="1 of 6 points have no outcome"):
        ap.run_sweep(SCENARIO, DESIGN, out=tmp_path, executor=Forgetful())
    assert len(ap.read_sweep(tmp_path).table) == 5
