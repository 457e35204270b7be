# SPDX-License-Identifier: GPL-2.0-only
"""What a stopped run leaves: the same figures as the whole run's, as far as it came, and never mistaken for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import astra_py as ap
from astra_py.batch.row import point_row
from astra_py.results.columns import TABLES
from behaviour.flows import run_flows
from behaviour.test_deadlock import FLOWS, KEYS, circle, clockwise
from small_job import write_job

ENGINES = ("packet", "flow", "analytic")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp("job"))


def _stopped(job: Path, *keys: str) -> ap.Result:
    with pytest.raises(ap.SimulationError) as raised:
        ap.load(job, *keys).run()
    assert raised.value.partial is not None
    return raised.value.partial


@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_those_of_the_whole_run_as_far_as_it_came(job: Path, engine: str) -> None:
    whole = ap.load(job, f"engine={engine}").run()
    end_ps = whole.manifest["run"]["time_ps"] * 6 // 10
    part = _stopped(job, f"engine={engine}", f"limits.max_time={end_ps}ps")
    run = part.manifest["run"]
    assert part.is_partial
    assert (run["exit_reason"], run["operations"]) == ("time_limit", len(whole.operations))
    assert 0 < run["operations_done"] < run["operations"]
    assert run["time_ps"] <= end_ps
    for name in TABLES:
        assert list(part.table(name).columns) == [column.name for column in TABLES[name]]
    before = whole.messages[whole.messages.posted_ps <= run["time_ps"]]
    for moment in ("posted_ps", "sent_ps", "delivered_ps"):
        then = before[moment].where(before[moment] <= run["time_ps"], -1)
        assert (part.messages[moment].to_numpy() == then.to_numpy()).all(), moment
    ended = part.operations[part.operations.end_ps >= 0]
    assert ended.equals(whole.operations.loc[ended.operation].reset_index(drop=True).set_index(ended.index))
    done = whole.collectives[whole.collectives.start_us * 1e6 + whole.collectives.time_ps <= run["time_ps"]]
    assert part.collectives.collective.tolist() == done.collective.tolist()
    assert part.collectives.time_ps.tolist() == done.time_ps.tolist()
    assert (part.links.line_bytes <= whole.links.line_bytes).all()
    assert part.pairs.size_bytes.sum() == part.messages.size_bytes[part.messages.delivered_ps >= 0].sum()
    assert all(check.passed for check in part.checks)


def test_an_iteration_that_ended_has_its_row(job: Path) -> None:
    whole = ap.load(job, "workload.iterations=3").run()
    first = int(whole.iterations.time_ps.iloc[0])
    slowest = int(whole.iterations.slowest_rank_time_us.iloc[0] * 1e6)
    part = _stopped(job, "workload.iterations=3", f"limits.max_time={max(first, slowest) + 1_000_000}ps")
    assert part.iterations.iteration.tolist() == [0]
    assert int(part.iterations.slowest_rank_time_us.iloc[0] * 1e6) == pytest.approx(slowest, abs=1)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("the callback's own")])
def test_what_ends_a_run_under_way_has_what_happened(
    error: type[BaseException] | BaseException,
) -> None:
    def stop(now_ps: int, events: int, done: int, operations: int) -> None:
        raise error

    run = ap.load({"platform": {"ranks": 64}, "workload": {"kind": "dlrm", "preset": "astra2020"}})
    with pytest.raises(error if isinstance(error, type) else type(error)) as raised:
        run.run(progress=stop)
    part = raised.value.partial  # type: ignore[attr-defined]
    assert part.manifest["run"]["exit_reason"] == ("interrupted" if error is KeyboardInterrupt else "failed")
    told = "the user stopped it" if error is KeyboardInterrupt else "the callback's own"
    assert part.manifest["run"]["exit_message"] == told
    assert part.manifest["run"]["operations_done"] < part.manifest["run"]["operations"]
    assert len(part.operations)
    assert "partial: " in repr(part)


def test_a_deadlock_leaves_what_was_delivered() -> None:
    with pytest.raises(ap.DeadlockError) as raised:
        run_flows(FLOWS, *KEYS, platform=circle(), routing_hook=clockwise)
    part = raised.value.partial
    assert part is not None
    assert part.manifest["run"]["exit_reason"] == "deadlock"
    assert len(part.messages) == 4
    assert part.pauses.end_us.isna().any()
    assert (part.queues.max_queue_bytes > 0).any()


@pytest.mark.parametrize("fault", ["drop_message", "double_message", "swap_sizes"])
def test_a_run_that_is_not_what_was_declared_leaves_its_tables(
    job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("ASTRA_PY_FAULT", fault)
    part = _stopped(job)
    assert part.manifest["run"]["exit_reason"] == "check"
    part.save(tmp_path / "out")
    assert not all(check.passed for check in ap.read_result(tmp_path / "out").checks)


def test_it_comes_back_from_disk_as_partial(job: Path, tmp_path: Path) -> None:
    part = _stopped(job, "limits.max_events=2000")
    part.save(tmp_path / "out")
    again = ap.read_result(tmp_path / "out")
    assert again.is_partial
    assert again.manifest == part.manifest
    for name in TABLES:
        pd.testing.assert_frame_equal(again.table(name), part.table(name), check_exact=True)
    assert "**A partial result.**" in (tmp_path / "out" / "TABLES.md").read_text()
    assert "PARTIAL" in part.report().splitlines()[0]


def test_it_may_be_run_again_over_and_does_not_replace_a_whole_one(job: Path, tmp_path: Path) -> None:
    part, whole = _stopped(job, "limits.max_events=2000"), ap.load(job).run()
    assert part.digest != whole.digest
    part.save(tmp_path)
    whole.save(tmp_path)
    with pytest.raises(ap.ConfigError, match="holds results of digest"):
        part.save(tmp_path)
    same = ap.Result(part.columns, part.checks, {**part.manifest, "digest": whole.digest})
    with pytest.raises(ap.ConfigError, match="holds a whole result, and this one is partial"):
        same.save(tmp_path)
    assert not ap.read_result(tmp_path).is_partial
    same.save(tmp_path, overwrite=True)
    assert ap.read_result(tmp_path).is_partial


def test_no_row_of_a_sweep_is_made_of_it(job: Path) -> None:
    part = _stopped(job, "limits.max_events=2000")
    with pytest.raises(ap.ConfigError, match=r"a partial result: event limit at .* allowed: one of a whole run"):
        point_row(part)


def test_moments_that_never_came_are_empty(job: Path) -> None:
    part = _stopped(job, "limits.max_events=2000")
    never = part.messages.delivered_ps < 0
    assert never.any()
    assert part.messages.delivered_us[never].isna().all()
    assert np.isfinite(part.messages.posted_us).all()


def test_who_does_not_wait_for_the_checks_has_the_tables(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(record: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("astra_py.results.build.run_checks", interrupt)
    with pytest.raises(KeyboardInterrupt) as raised:
        ap.load(job).run()
    run = raised.value.partial.manifest["run"]  # type: ignore[attr-defined]
    assert (run["exit_reason"], run["exit_message"]) == ("interrupted", "the user stopped it")
    assert run["operations_done"] == run["operations"]
