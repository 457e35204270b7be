# SPDX-License-Identifier: GPL-2.0-only
"""Sweep files: what they may say, and what is told of those that say something else."""

from __future__ import annotations

import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from astra_py.batch import Point, read_study
from astra_py.batch.designs import multiply
from astra_py.batch.sweep_file import study_of
from astra_py.errors import ConfigError
from small_job import write_job

ROOT = Path(__file__).parents[2]
EVERYTHING = """\
scenario = "job.toml"
seeds = 2

[base]
engine = "analytic"
platform.link_delay = "2us"

[grid]
platform.link_rate = ["100Gbps", "400Gbps"]

[[points]]
transport.window = "none"
workload.file = "job.txt"

[[points]]
"transport.window" = "64KiB"
workload.file = "other.txt"

[latin_hypercube]
samples = 3
seed = 7

[latin_hypercube.ranges]
platform.switch_latency = { from = "100ns", to = "1us", scale = "log" }
"""


def write(folder: Path, text: str) -> Path:
    write_job(folder)
    (folder / "other.txt").write_text((folder / "job.txt").read_text())
    path = folder / "sweep.toml"
    path.write_text(dedent(text))
    return path


def test_a_file_of_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, EVERYTHING)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    study = read_study(path, "platform.link_delay=3us")
    keys = ("platform.link_rate", "transport.window", "workload.file", "platform.switch_latency", "seed")
    assert study.keys == keys
    assert len(study.points) == 2 * 2 * 3 * 2
    assert [point.values["seed"] for point in study.points[:4]] == ["1", "2", "1", "2"]
    scenario = study.scenario(study.points[-1])
    assert (scenario.engine, scenario.seed, scenario.platform.link_delay) == ("analytic", 2, 3_000_000)
    assert scenario.require_workload().input_path == tmp_path / "other.txt"
    assert study.title == str(path)


def test_a_scenario_may_be_in_the_file_and_seeds_go_on_from_its_own(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        seeds = 3
        [scenario]
        seed = 40
        platform = { kind = "single_switch", ranks = 4 }
        workload = { file = "job.txt" }
        """,
    )
    study = read_study(path)
    assert [dict(point.values) for point in study.points] == [{"seed": "40"}, {"seed": "41"}, {"seed": "42"}]
    assert study.scenario(study.points[0]).require_workload().input_path == tmp_path / "job.txt"


def test_seeds_may_be_listed_and_keys_of_ns3_too(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        scenario = "job.toml"
        seeds = [3, 5]
        [grid.ns3.defaults]
        "ns3::FabricDevice::Mtu" = ["1500", "9000"]
        """,
    )
    study = read_study(path)
    assert study.keys == ("ns3.defaults.ns3::FabricDevice::Mtu", "seed")
    assert [point.values["seed"] for point in study.points] == ["3", "5", "3", "5"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("scenario = 'job.toml'\n[gird]\n", "gird: unknown key; did you mean 'grid'"),
        ("seed = 1\n[platform]\nranks = 4\n", "seed: unknown key of a sweep: it is one of a scenario"),
        ("[grid]\nseed = [1]\n", "scenario = None; allowed: the path of a scenario file"),
        ("scenario = 'none.toml'\nseeds = 2\n", "none.toml: cannot be read"),
        ("scenario = 'job.toml'\n", "nothing is varied"),
        ("scenario = 'job.toml'\nseeds = 0\n", "seeds = 0; allowed"),
        ("scenario = 'job.toml'\nseeds = 2\nbase.seed = 'five'\n", "seed = 'five': "),
        ("scenario = 'job.toml'\n[grid]\nplatform = {}\n", "grid: no keys; allowed"),
        ("scenario = 'job.toml'\nseeds = 2\n[grid]\nseed = [1]\n", "seed: varied twice"),
        ("scenario = 'job.toml'\ngrid = 3\n", r"grid = 3; allowed: a table \[grid\]"),
        ("scenario = 'job.toml'\npoints = { a = 1 }\n", r"allowed: tables \[\[points\]\]"),
        ("scenario = 'job.toml'\n[grid]\nseed = 1\n", "grid: seed = 1 is no list"),
        ("scenario = 'job.toml'\n[latin_hypercube]\nsample = 3\n", "did you mean 'samples'"),
        ("scenario = 'job.toml'\n[latin_hypercube]\nsamples = 3\n", "no ranges"),
        (
            "scenario = 'job.toml'\n[latin_hypercube.ranges]\nplatform.link_delay = { from = '1us' , to = '2us' }\n",
            "samples: missing",
        ),
        (
            "scenario = 'job.toml'\n[latin_hypercube]\nsamples = 3\nranges.platform.link_delay = { from = '1us' }\n",
            r"ranges\.platform\.link_delay = .*; allowed: such as",
        ),
        ("scenario = 'job.toml'\nseeds = 2\nbase.seed = 3\n[base.platform]\nx = 1979-05-27\n", "base: platform.x"),
        ("scenario = \n", "not TOML"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError, match=says) as caught:
        read_study(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_the_sweep_of_the_documentation_is_what_it_says() -> None:
    text = (ROOT / "docs" / "sweeps.md").read_text()
    block = text[text.index('scenario = "incast_64.toml"') :].partition("```")[0]
    path = ROOT / "workloads" / "documented.toml"
    study = study_of(path, tomllib.loads(block))
    assert len(multiply(study.designs)) == 2 * 3 * 2 * 20 * 5
    for values in multiply(study.designs)[::97]:
        assert study.scenario(Point(0, values, "")).engine == "packet"


@pytest.mark.parametrize("path", sorted((ROOT / "workloads").glob("sweep_*.toml")), ids=lambda path: path.stem)
def test_the_sweeps_that_are_there_are_allowed(path: Path) -> None:
    points = read_study(path).points
    assert f"{len(points)} runs" in path.read_text()
