# SPDX-License-Identifier: GPL-2.0-only
"""The platform beside the tables: the one that was run on, wherever the files are that it was made from."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import astra_py as ap
from astra_py.cli.app import command
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.formats.platform_json import write_platform
from astra_py.platforms import Platform, PlatformArrays, build_platform
from astra_py.plots.platform import platform_of

FLOW = '[background.one]\nkind = "incast"\nranks = "0-2"\nreceiver = 0\nsize = "10kB"\n'
#: Two switches in a line, registered by a file of the user.
MINE = """\
from astra_py.platforms import PlatformBuilder, topology

@topology("mine")
def mine(config):
    build = PlatformBuilder(config)
    switches = [build.add_switch(f"switch{number}") for number in range(2)]
    for rank in range(config.ranks):
        build.add_link(rank, switches[rank % 2], "host")
    build.add_link(*switches, "line")
    return build.build()
"""


def same(one: Platform, other: Platform) -> bool:
    """Whether two platforms have the same nodes and links; routing is not asked for."""

    def columns(arrays: PlatformArrays) -> list[object]:
        named = {key: value for key, value in vars(arrays).items() if key != "routing"}
        return [value.tolist() if isinstance(value, np.ndarray) else value for value in named.values()]

    return one.name == other.name and columns(one.arrays()) == columns(other.arrays())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a run is started in, with all files that it names."""
    folder = tmp_path / "home"
    folder.mkdir()
    leaf_spine = load_scenario({"platform": {"kind": "leaf_spine", "ranks": 6}}).platform
    write_platform(build_platform(leaf_spine), folder / "net.json")
    (folder / "mine.py").write_text(MINE)
    monkeypatch.chdir(folder)
    return folder


def scenario(home: Path, platform: str) -> Path:
    path = home / "job.toml"
    path.write_text(f"engine = 'analytic'\n[platform]\n{platform}\n{FLOW}")
    return path


@pytest.mark.parametrize("platform", ['kind = "file"\nfile = "net.json"', 'kind = "file:mine.py"\nranks = 4'])
@pytest.mark.parametrize("is_gone", [False, True])
def test_it_is_drawn_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], platform: str, is_gone: bool
) -> None:
    pytest.importorskip("matplotlib")
    run = ap.load(scenario(home, platform).name)
    run.run().save("out")
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    shutil.move(home / "out", elsewhere / "out")
    monkeypatch.chdir(elsewhere)
    built = run.platform
    if is_gone:
        shutil.rmtree(home)
    assert same(platform_of(ap.read_result("out")), built)
    for arguments in (["plot", "topology", "out", "--out", "net.svg"], ["report", "out", "--out", "run.html"]):
        with pytest.raises(SystemExit) as ended:
            command(arguments)
        err = capfd.readouterr().err
        assert ended.value.code == 0, err
        assert "made again" not in err
    assert "switch1" in Path("net.svg").read_text() or "spine" in Path("net.svg").read_text()


def test_a_run_that_is_not_saved_has_it_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ap.load(scenario(home, 'kind = "file"\nfile = "net.json"').name)
    result = run.run()
    monkeypatch.chdir(home.parent)
    shutil.rmtree(home)
    assert platform_of(result) is run.routed_platform


@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "zionex", "nodes": 2},
        {"kind": "pcie_servers", "nodes": 2},
        {"kind": "torus", "ranks": 8},
        {"kind": "rail_optimized", "nodes": 2, "nic_policy": "pxn", "link_delay": "1.7ns", "link_rate": "33.3Gbps"},
    ],
)
def test_it_comes_back_as_it_was(tmp_path: Path, keys: dict[str, object]) -> None:
    run = ap.load({"engine": "analytic", "platform": keys, "background": {"one": {"kind": "permutation"}}})
    run.run().save(tmp_path / "out")
    assert same(platform_of(ap.read_result(tmp_path / "out")), run.platform)


def test_a_part_of_a_run_keeps_it_too(home: Path) -> None:
    run = ap.load(scenario(home, 'kind = "file"\nfile = "net.json"').name, "engine=packet", "limits.max_events=20")
    with pytest.raises(ap.SimulationError) as raised:
        run.run()
    raised.value.partial.save("out")  # type: ignore[union-attr]
    (home / "net.json").unlink()
    assert same(platform_of(ap.read_result("out")), run.platform)


def test_results_without_it_are_of_the_manifest(home: Path) -> None:
    run = ap.load(scenario(home, 'kind = "file"\nfile = "net.json"').name)
    run.run().save("out")
    (home / "out" / "run_platform.json").unlink()
    assert ap.read_result("out").kept_platform is None
    assert same(platform_of(ap.read_result("out")), run.platform)
    (home / "net.json").unlink()
    with pytest.raises(ConfigError, match=r"cannot be made again from its manifest: .*net\.json"):
        platform_of(ap.read_result("out"))


def test_a_file_that_is_broken_is_named(home: Path) -> None:
    ap.load(scenario(home, 'kind = "file"\nfile = "net.json"').name).run().save("out")
    (home / "out" / "run_platform.json").write_text('{"nodes": [')
    with pytest.raises(ConfigError, match=r"run_platform\.json, line 1: is no JSON"):
        platform_of(ap.read_result("out"))
