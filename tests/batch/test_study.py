# SPDX-License-Identifier: GPL-2.0-only
"""A study: its points, and that all of them are checked before any runs."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from astra_py.batch import Grid, PointList, Study
from astra_py.batch.driver import distinct
from astra_py.collectives.registry import _algorithms, collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.platforms.registry import _builders
from small_job import write_job
from sweep_cases import SCENARIO


def test_a_point_is_the_run_of_its_overrides(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    study = Study.of(
        job, [Grid.of({"platform.link_rate": ["100Gbps", "400Gbps"], "seed": [1, 2]})], overrides=["engine=flow"]
    )
    assert [point.index for point in study.points] == [0, 1, 2, 3]
    assert dict(study.points[3].values) == {"platform.link_rate": "400Gbps", "seed": "2"}
    expected = load_scenario(job, ["engine=flow", "platform.link_rate=400Gbps", "seed=2"])
    assert study.points[3].digest == expected.digest
    assert study.scenario(study.points[3]).resolved()["platform"] == expected.resolved()["platform"]


def test_all_problems_are_told_at_once_with_key_and_points() -> None:
    study = Study.of(SCENARIO, [Grid.of({"platform.link_rat": ["1Gbps"], "seed": [1, 2]})])
    with pytest.raises(ConfigError) as caught:
        _ = study.points
    text = str(caught.value)
    assert text.startswith("a scenario: 2 points are not allowed, and nothing was run")
    assert "point 0 (platform.link_rat=1Gbps, seed=1) and 1 more: platform.link_rat: unknown key" in text
    listed = PointList.of([{"platform.ranks": 4}, {"platform.ranks": "many"}, {"platform.ranks": -1}])
    with pytest.raises(ConfigError) as caught:
        _ = Study.of(SCENARIO, [listed]).points
    assert [line.partition(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == [
        "point 1 (platform.ranks=many)",
        "point 2 (platform.ranks=-1)",
    ]


def test_an_algorithm_and_a_platform_that_are_none_are_found_too() -> None:
    listed = PointList.of([{"collective.all_reduce": "ring"}, {"collective.all_reduce": "rnig"}])
    with pytest.raises(ConfigError, match=r"point 1 \(collective.all_reduce=rnig\): collective.all_reduce = 'rnig'"):
        _ = Study.of(SCENARIO, [listed]).points


def test_what_runs_is_what_was_read(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    study = Study.of(job, [Grid.of({"seed": [1]})])
    (point,) = study.points
    job.write_text(job.read_text().replace("ranks = 4", "ranks = 2"))
    assert study.scenario(point).platform.ranks == 4
    assert study.scenario(point).digest == point.digest


def test_points_depend_on_the_bytes_of_input_files(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    before = Study.of(job, [Grid.of({"seed": [1]})])
    first = before.points[0].digest
    (tmp_path / "job.txt").write_text((tmp_path / "job.txt").read_text().replace("1000", "1001"))
    after = Study.of(job, [Grid.of({"seed": [1]})])
    assert after.points[0].digest != first
    assert after.digest != before.digest


def test_points_of_one_configuration_are_one_run() -> None:
    study = Study.of(SCENARIO, [Grid.of({"platform.link_rate": ["100Gbps", "0.1Tbps", "200Gbps"]})])
    assert len(study.points) == 3
    assert [point.index for point in distinct(study.points)] == [0, 2]


def test_relative_paths_are_from_the_folder(tmp_path: Path) -> None:
    write_job(tmp_path)
    (tmp_path / "other.txt").write_text((tmp_path / "job.txt").read_text())
    tree = {"platform": {"kind": "single_switch", "ranks": 4}, "workload": {"file": "job.txt"}}
    study = Study.of(tree, [Grid.of({"workload.file": ["job.txt", "other.txt"]})], folder=tmp_path)
    assert [point.values["workload.file"] for point in study.points] == ["job.txt", "other.txt"]
    workload = study.scenario(study.points[1]).require_workload()
    assert workload.input_path == tmp_path / "other.txt"


def test_a_study_can_be_pickled() -> None:
    study = Study.of(SCENARIO, [Grid.of({"seed": [1, 2]})])
    again = pickle.loads(pickle.dumps(study))
    assert again.points == study.points
    assert again.scenario(again.points[0]) == study.scenario(study.points[0])


def test_a_point_of_another_kind_of_transport_is_the_run_of_its_overrides(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    job.write_text(job.read_text() + '\n[transport]\npayload = "1024B"\ncongestion_control = "dcqcn"\n')
    varied = Study.of(job, [Grid.of({"transport.kind": ["roce", "tcp"]})])
    fixed = Study.of(job, [Grid.of({"seed": [1]})], overrides=["transport.kind=tcp"])
    expected = load_scenario(job, ["transport.kind=tcp"])
    assert set(expected.put_aside) == {"transport.payload", "transport.congestion_control"}
    for study, index in ((varied, 1), (fixed, 0)):
        point = study.points[index]
        assert point.digest == expected.digest
        assert study.scenario(point).put_aside == expected.put_aside


@pytest.mark.parametrize("is_varied", [False, True])
def test_a_key_that_changes_nothing_in_any_point_is_refused(tmp_path: Path, is_varied: bool) -> None:
    job = write_job(tmp_path)

    def study(kinds: list[str]) -> Study:
        payload = [Grid.of({"transport.payload": ["1024B"]})] if is_varied else []
        overrides = [] if is_varied else ["transport.payload=1024B"]
        return Study.of(job, [Grid.of({"transport.kind": kinds}), *payload], overrides=overrides)

    assert len(study(["roce", "tcp"]).points) == 2
    with pytest.raises(ConfigError, match=r"transport\.payload changes nothing in any point"):
        _ = study(["tcp"]).points


def test_what_a_script_registered_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(build: object, group: object, size_bytes: int) -> None:
        """Does nothing."""

    def platform(**_: object) -> None:
        """Builds nothing."""

    for registry in [_algorithms["all_reduce"], _builders]:
        monkeypatch.setattr(registry, "_known", dict(registry._known))
        monkeypatch.setattr(registry, "_of_script", dict(registry._of_script))
    all_reduce, topology = [Grid.of({"collective.all_reduce": ["ring"]})], [Grid.of({"platform.kind": ["own"]})]
    assert Study.of(SCENARIO, all_reduce).points
    # one of the package's own name, too: a point's process would run the package's
    collective("all_reduce", name="ring")(mine)
    _builders.add("own", platform)
    message = r"collective.all_reduce = 'ring' was registered by a script.*'file:PATH.py:ring'"
    with pytest.raises(ConfigError, match=message):
        _ = Study.of(SCENARIO, all_reduce).points
    with pytest.raises(ConfigError, match=r"platform.kind = 'own' was registered by a script"):
        _ = Study.of(SCENARIO, topology).points


def test_captures_are_refused(tmp_path: Path) -> None:
    study = Study.of(write_job(tmp_path), [], overrides=["pcap.ports=all", "pcap.folder=captures"])
    with pytest.raises(ConfigError, match=r"pcap\.ports: captures of different points would have the same names"):
        _ = study.points


def test_an_override_of_a_varied_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="'seed=3': the sweep varies seed"):
        Study.of(SCENARIO, [Grid.of({"seed": [1]})], overrides=["seed=3"])
