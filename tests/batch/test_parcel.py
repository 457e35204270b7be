# SPDX-License-Identifier: GPL-2.0-only
"""Points that are sent: the same run on a machine that has none of their files, or a refusal."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra_py.batch.designs import Grid
from astra_py.batch.parcel import Bundle, Packer, code_here
from astra_py.batch.point import Point
from astra_py.batch.row import run_point
from astra_py.batch.study import Study
from astra_py.errors import ConfigError
from point_cases import small_study
from small_job import write_job

ROUTING_HOOK = "def choose(platform, flows):\n    return None\n"
ALGORITHM = """\
import astra_py as ap

@ap.collective("all_to_all", name="mine")
def mine(build, group, matrix):
    raise NotImplementedError
"""
NETWORK = """\
topology: [ Ring ]
npus_count: [ 4 ]
bandwidth: [ 50 ]
latency: [ 500 ]
"""
SYSTEM = """\
{"scheduling-policy": "LIFO", "endpoint-delay": 10, "preferred-dataset-splits": 4,
 "all-reduce-implementation": ["ring"]}
"""
FLOWS = "src,dst,size_bytes,start\n0,1,1000,0us\n"


def sent(study: Study, folder: Path) -> tuple[Study, Point]:
    """The study's only point as it arrives in ``folder``, where no file of the study is left."""
    (point,) = study.points
    packer = Packer()
    parcel = packer.pack(point, study.scenario(point))
    assert set(parcel.bundles) == set(packer.bundles)
    parcel, bundles = pickle.loads(pickle.dumps((parcel, packer.bundles)))
    shutil.rmtree(study.folder)
    for digest, bundle in bundles.items():
        bundle.place(folder / digest)
    return parcel.unpack(folder)


def test_a_point_that_was_sent_is_the_same_run(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    study = Study.of(write_job(source), [], folder=source)
    (point,) = study.points
    here = run_point(study, point)[0]
    assert run_point(*sent(study, tmp_path / "there"))[0] == here


@pytest.mark.parametrize(
    ("files", "change"),
    [
        ({"hook.py": ROUTING_HOOK}, {"platform": {"routing": "hook", "routing_hook": "hook.py:choose"}}),
        ({"mine.py": ALGORITHM}, {"collective": {"all_to_all": "file:mine.py"}}),
        ({"mine.py": ALGORITHM}, {"collective": {"all_to_all": "file:mine.py:mine"}}),
        ({"other.py": ALGORITHM}, {"collective": {"all_to_all": "file:other.py"}}),
        ({"flows.csv": FLOWS}, {"background": {"noise": {"kind": "file", "file": "flows.csv"}}}),
        ({"ring.yml": NETWORK}, {"platform": {"kind": "file", "file": "ring.yml"}}),
        ({"system.json": SYSTEM}, {"system": {"file": "system.json"}}),
    ],
)
def test_every_file_of_a_point_is_sent(tmp_path: Path, files: dict[str, str], change: dict[str, Any]) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write_job(source)
    for name, text in files.items():
        (source / name).write_text(text)
    tree = {"platform": {"kind": "leaf_spine", "ranks": 4, "ranks_per_leaf": 2}, "workload": {"file": "job.txt"}}
    for table, values in change.items():
        is_platform_file = table == "platform" and "file" in values
        tree[table] = values if is_platform_file or table not in tree else tree[table] | values
    study, point = sent(Study.of(tree, [], folder=source), tmp_path / "there")
    assert study.scenario(point).digest == point.digest


def test_a_file_of_every_rank_is_sent(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for rank in range(3):
        (source / f"job.{rank}.et").write_bytes(bytes([rank]))
    tree = {"platform": {"ranks": 4}, "workload": {"file": "job", "format": "chakra"}}
    study, point = sent(Study.of(tree, [], folder=source), tmp_path / "there")
    assert study.scenario(point).digest == point.digest


def test_points_of_one_file_share_its_bundle(tmp_path: Path) -> None:
    study = small_study(tmp_path, 3)
    packer = Packer()
    parcels = [packer.pack(point, study.scenario(point)) for point in study.points]
    assert {parcel.bundles for parcel in parcels} == {tuple(packer.bundles)}
    (bundle,) = packer.bundles.values()
    assert bundle.files == (("job.txt", (tmp_path / "job.txt").read_bytes()),)


def test_a_bundle_is_placed_once(tmp_path: Path) -> None:
    Bundle((("a", b"first"),)).place(tmp_path / "x")
    Bundle((("a", b"second"),)).place(tmp_path / "x")
    assert (tmp_path / "x" / "a").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_reasons_name_the_files_that_were_sent(tmp_path: Path) -> None:
    study = small_study(tmp_path, 1)
    parcel = Packer().pack(study.points[0], study.scenario(study.points[0]))
    (path,) = parcel.paths
    there = tmp_path / "there"
    assert parcel.retold(f"WorkloadError: {there / path}:3: no", there) == f"WorkloadError: {tmp_path}/job.txt:3: no"


def test_other_code_is_refused(tmp_path: Path) -> None:
    study = small_study(tmp_path, 1)
    parcel = Packer().pack(study.points[0], study.scenario(study.points[0]))
    other = replace(parcel, code=code_here() | {"numpy": "0.1"})
    with pytest.raises(ConfigError, match=r"numpy .* and not 0\.1; allowed: the same on all machines"):
        other.unpack(tmp_path)


def test_what_is_put_aside_is_said_where_it_arrives_too(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    job.write_text(job.read_text() + '\n[transport]\npayload = "1024B"\ncongestion_control = "dcqcn"\n')
    study = Study.of(job, [Grid.of({"transport.kind": ["roce", "tcp"]})], overrides=["engine=analytic"])
    for point in study.points:
        packer = Packer()
        parcel = packer.pack(point, study.scenario(point))
        for digest, bundle in packer.bundles.items():
            bundle.place(tmp_path / digest)
        assert run_point(*parcel.unpack(tmp_path))[0] == run_point(study, point)[0]
    assert "has no use for transport.payload" in run_point(study, study.points[1])[0]["warnings"]
