# SPDX-License-Identifier: GPL-2.0-only
"""Ways that a user's function chooses: what it is asked, what it may answer, and that runs take them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.hook import flows_of, load_hook
from astra_py.errors import ConfigError
from small_job import write_job

HOOK = """\
def second(src, dst, queue_pair, ways):
    return 1
"""
KEYS = ("platform.routing=hook", "platform.spines=3")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return write_job(tmp_path)


def spines_used(result: ap.Result) -> set[str]:
    links = result.links
    used = links[links["line_bytes"] > 0]
    return {name for column in ("from", "to") for name in used[column] if name.startswith("spine")}


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_a_run_takes_the_ways_that_are_chosen(job: Path, engine: str) -> None:
    asked = []

    def hook(src: str, dst: str, queue_pair: int, ways: list[tuple[str, ...]]) -> int:
        asked.append((src, dst, queue_pair))
        assert [way[2] for way in ways] == ["spine0", "spine1", "spine2"]
        assert {(way[0], way[-1]) for way in ways} == {(src, dst)}
        return 2

    result = ap.load(job, *KEYS, f"engine={engine}", "transport.qps_per_peer=2", routing_hook=hook).run()
    assert spines_used(result) == {"spine2"}
    # once a flow, and not where there is one way
    across = {(f"rank{a}", f"rank{b}", qp) for a in range(4) for b in range(4) for qp in (0, 1) if a // 2 != b // 2}
    assert set(asked) <= across
    assert len(asked) == len(set(asked)) == 16


def test_a_function_in_a_file_beside_the_scenario(job: Path, tmp_path: Path) -> None:
    (tmp_path / "routes.py").write_text(HOOK)
    job.write_text(
        job.read_text().replace("[platform]", '[platform]\nrouting = "hook"\nrouting_hook = "routes.py:second"')
    )
    run = ap.load(job, "platform.spines=3")
    assert spines_used(run.run()) == {"spine1"}
    digest = run.digest
    (tmp_path / "routes.py").write_text(HOOK + "\n")
    assert ap.load(job, "platform.spines=3").digest != digest


def test_a_function_is_part_of_the_digest(job: Path) -> None:
    def last(*_: Any) -> int:
        return 2

    digests = {ap.load(job, *KEYS, routing_hook=hook).digest for hook in (last, lambda *_: 0, None)}
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("hook", "says"),
    [
        (lambda *_: 3, r"queue pair 0 from rank0 to rank2 .* returned 3; allowed: .* 0 to 2"),
        (lambda *_: -1, "returned -1"),
        (lambda *_: "spine0", "returned 'spine0'"),
        (lambda *_: True, "returned True"),
        (lambda *_: 1 // 0, "raised ZeroDivisionError"),
    ],
)
def test_an_answer_that_is_no_way(job: Path, hook: Callable[..., Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        ap.load(job, *KEYS, routing_hook=hook).run()


def test_a_hook_without_a_function_and_a_function_without_a_hook(job: Path) -> None:
    with pytest.raises(ConfigError, match=r"platform\.routing_hook, or with the argument"):
        ap.load(job, *KEYS).estimate()
    with pytest.raises(ConfigError, match=r"platform\.routing = 'ecmp'; allowed: only with 'hook'"):
        ap.load(job, routing_hook=lambda *_: 0)


def test_files_that_hold_no_hook(tmp_path: Path) -> None:
    file = tmp_path / "routes.py"
    with pytest.raises(ConfigError, match="cannot be read"):
        load_hook(f"{file}:second")
    file.write_text(HOOK)
    assert load_hook(f"{file}:second")("", "", 0, []) == 1
    with pytest.raises(ConfigError, match=r"no function 'secnd'; did you mean 'second'\?; allowed: second"):
        load_hook(f"{file}:secnd")
    file.write_text("1 / 0")
    with pytest.raises(ConfigError, match="raises ZeroDivisionError"):
        load_hook(f"{file}:second")


def test_flows_are_those_of_the_schedule_and_back(job: Path) -> None:
    run = one_collective(load_scenario({}, ["platform.ranks=5"]), "all_reduce", 1000, group=(1, 2, 4))
    ring = {(1, 2), (2, 4), (4, 1)}
    src, dst = flows_of(run.schedule)
    assert set(zip(src.tolist(), dst.tolist(), strict=True)) == ring | {(b, a) for a, b in ring}


def test_an_algorithm_is_measured_before_ways_are_chosen() -> None:
    keys = ["kind=leaf_spine", "ranks=4", "ranks_per_leaf=2", "routing=hook"]
    scenario = load_scenario({}, ["collective.all_reduce=auto", *(f"platform.{key}" for key in keys)])
    result = one_collective(scenario, "all_reduce", 10_000, routing_hook=lambda *_: 1).run()
    assert spines_used(result) == {"spine1"}
