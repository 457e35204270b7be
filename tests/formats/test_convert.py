# SPDX-License-Identifier: GPL-2.0-only
"""Files written as others: what is written reads back to the same; names, suffixes and what is there already."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astra_py as ap
from astra_py.config import load_scenario
from astra_py.errors import ConfigError, TopologyError
from astra_py.formats import PLATFORM_JSON, Document, Options, convert, find_format, inspect, read
from astra_py.formats.scenario_toml import toml_text
from astra_py.platforms import build_platform, platform_kinds
from astra_py.workloads.flows import LATEST_START_PS, FlowList
from formats import samples
from formats.mutations import FEW, MANY, survives


@pytest.mark.parametrize("name", samples.NAMES)
def test_each_sample_is_inspected(tmp_path: Path, name: str) -> None:
    document = inspect(samples.write(tmp_path, name))
    assert document.format == name
    assert str(tmp_path) in document.summary[0]


@pytest.mark.parametrize("kind", [kind for kind in platform_kinds() if kind != "file"])
def test_platforms_read_back_to_the_same(tmp_path: Path, kind: str) -> None:
    config = load_scenario({"platform": {"kind": kind}}).platform
    platform, path = build_platform(config), tmp_path / "platform.json"
    document = Document(format="platform", path=path, content=lambda: platform, summary=())
    assert PLATFORM_JSON.write is not None
    PLATFORM_JSON.write(document, path, Options())
    again, given = read(path).content().arrays(), platform.arrays()
    for name in vars(given):
        if name != "routing":
            np.testing.assert_array_equal(getattr(again, name), getattr(given, name), err_msg=name)


def test_networks_become_platforms(tmp_path: Path) -> None:
    source, target = samples.write(tmp_path, "astra_network"), tmp_path / "out.json"
    said = convert(source, target)
    assert said[-1] == f"{target}: 4 nodes, 4 of them accelerators, and 4 links"
    scenario = load_scenario({"platform": {"kind": "file", "file": str(target)}})
    assert build_platform(scenario.platform).arrays().link_rate_bps.tolist() == [50 * 8 * 2**30] * 4


@pytest.mark.parametrize(("name", "table"), [("roce_config", "transport"), ("astra_system", "system")])
def test_settings_become_scenarios(tmp_path: Path, name: str, table: str) -> None:
    source, target = samples.write(tmp_path, name), tmp_path / "out.toml"
    convert(source, target)
    written = load_scenario(target).resolved()
    named = load_scenario({table: {"file": str(source)}}).resolved()
    assert named[table].pop("file") == str(source)
    assert written[table].pop("file") == "none"
    assert written == named


COUNTS, TIMES = st.integers(0, 2**31 - 1), st.integers(0, LATEST_START_PS)


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(st.tuples(COUNTS, COUNTS, st.integers(0, 2**50), TIMES).filter(lambda row: row[0] != row[1])))
def test_flow_lists_read_back_to_the_same(
    rows: list[tuple[int, int, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, format = tmp_path_factory.mktemp("flows") / "flows.txt", find_format("hpcc_flows")
    flows = FlowList(*([list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]))
    assert format.write is not None
    format.write(Document(format=format.name, path=path, content=flows, summary=()), path, Options())
    again = format.read(path, Options()).content
    assert again.tobytes() == flows.tobytes()


KEYS = {
    "compute_unit": "1us",
    "missing_ranks": "same",
    "comm_groups": "flow.txt",
    "compute_dtype": "fp16",
    "compute_scale": 2.0,
}
TAKEN = {"astra_text": {"compute_unit", "compute_scale"}, "hpcc_flows": set()}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", TAKEN)
def test_keys_that_a_format_takes_nothing_from_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, key: str
) -> None:
    samples.write(tmp_path, "hpcc_flows")
    monkeypatch.chdir(tmp_path)
    workload = {"file": samples.write(tmp_path, name).name, key: KEYS[key]}
    run = ap.load({"platform": {"ranks": 3}, "workload": workload})
    if key in TAKEN[name]:
        assert len(run.trace)
        return
    with pytest.raises(ConfigError, match=rf"workload.{key} = .* would mean nothing .* '{name}'; allowed: only with '"):
        _ = run.trace


def test_refusals(tmp_path: Path) -> None:
    source, target = samples.write(tmp_path, "roce_config"), tmp_path / "out.toml"
    with pytest.raises(
        ConfigError, match=r"out\.txt: a suffix tells no format of transport files; allowed: 'scenario'"
    ):
        convert(source, tmp_path / "out.txt")
    with pytest.raises(ConfigError, match=r"nccl.log: a measurements file is only read; no format is written from one"):
        convert(samples.write(tmp_path, "nccl_tests"), target)
    with pytest.raises(
        ConfigError, match=r"a scenario file is only read; .*; in Python, write_chakra of astra_py.formats"
    ):
        convert(samples.write(tmp_path, "scenario"), target)
    with pytest.raises(ConfigError, match=r"missing_ranks=same: .*config.txt is a transport file, and only a wo"):
        convert(source, target, overrides=["workload.missing_ranks=same"])
    with pytest.raises(ConfigError, match="a transport file cannot be written as 'platform'; allowed: 'scenario'"):
        convert(source, target, "platform")
    target.write_text("mine")
    with pytest.raises(ConfigError, match=r"out\.toml: is there already; allowed: another name, or --overwrite"):
        convert(source, target)
    assert target.read_text() == "mine"
    convert(source, target, is_overwriting=True)
    assert target.read_text() != "mine"
    with pytest.raises(ConfigError, match="is the source itself"):
        convert(samples.write(tmp_path, "hpcc_flows"), tmp_path / "flow.txt", is_overwriting=True)
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        convert(source, tmp_path / "no" / "out.toml")


def test_toml() -> None:
    tables = {"a": 1, "b": {"c": [1.5, 'x"y'], "d": {}, "e": {"f": True}}}
    assert tomllib.loads(toml_text(tables)) == tables


BAD = [
    ('"rank": 0', '"rang": 0', "node 0: unknown key 'rang'; did you mean 'rank'"),
    ('"kind": "accelerator", "rank": 1', '"kind": "gpu", "rank": 1', "node 1: kind is 'gpu'; allowed: accelerator, "),
    ('"name": "b"', '"name": "a"', "node 1: name 'a' is that of node 0, too"),
    ('"b": "b"', '"b": "c"', "link 0: b is 'c'; allowed: a, b"),
    ('"100Gbps"', '"100"', "link 0: rate: '100' has no unit"),
    ('"rank": 1', '"rank": 2', r"platform\.json: accelerators have ranks 0, 2; allowed: 0 to 1"),
    ('"rank": 1', '"rank": 1,', r"platform\.json, line 3: is no JSON"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_wrong_platforms_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = samples.write(tmp_path, "platform")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(TopologyError, match=message):
        read(path, "platform").content()


def _damaged(tmp_path: Path, count: int) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    survives(PLATFORM_JSON, [samples.write(tmp_path, "platform")], folder, count, use=lambda build: build())
    survives(find_format("scenario"), [samples.write(tmp_path, "scenario")], folder, count)


def test_platforms_and_scenarios_survive_damage(tmp_path: Path) -> None:
    _damaged(tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_platforms_and_scenarios_survive_much_damage(tmp_path: Path) -> None:
    _damaged(tmp_path, MANY)
