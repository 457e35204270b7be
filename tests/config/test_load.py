# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files and overrides: which wins, which folder a path is from, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from astra_py.config import Scenario, load_scenario
from astra_py.errors import ConfigError


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    (tmp_path / "job.txt").write_text("a job")
    path = tmp_path / "scenario.toml"
    path.write_text('[platform]\nranks = 16\nlink_rate = "400Gbps"\n[workload]\nfile = "job.txt"\n')
    return path


def test_defaults_and_units() -> None:
    scenario = load_scenario({})
    assert (scenario.seed, scenario.engine, scenario.workload) == (1, "packet", None)
    assert scenario.platform.link_rate == 100 * 10**9
    assert scenario.platform.link_delay == 500_000
    assert scenario.transport.payload == 4096
    assert scenario.transport.window is None
    assert scenario.transport.header_size is None


def test_file_then_overrides(scenario_file: Path) -> None:
    scenario = load_scenario(scenario_file, ["platform.ranks=32", "platform.link_delay=1us", "platform.ranks=64"])
    assert scenario.platform.ranks == 64
    assert scenario.platform.link_rate == 400 * 10**9
    assert scenario.platform.link_delay == 10**6
    assert scenario.source_path == scenario_file


def test_the_given_mapping_stays_as_it_is() -> None:
    given = {"platform": {"ranks": 4}}
    load_scenario(given, ["platform.ranks=5"])
    assert given == {"platform": {"ranks": 4}}


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("platform.ranks=16", 16),
        (" platform.ranks = 16 ", 16),
        ('"platform".ranks=0x10', 16),
        ("platform.ranks='16'", None),
        ("platform.ranks=16\nseed=2", None),
    ],
)
def test_an_override_is_one_toml_value(override: str, value: int | None) -> None:
    if value is None:
        with pytest.raises(ConfigError, match="not a whole number"):
            load_scenario({}, [override])
    else:
        assert load_scenario({}, [override]).platform.ranks == value


def test_workload_path_of_a_file_and_of_an_override(
    scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.txt").write_text("another job")
    monkeypatch.chdir(elsewhere)
    assert load_scenario(scenario_file).require_workload().path == tmp_path / "job.txt"
    assert load_scenario("../scenario.toml").require_workload().path == Path("../job.txt")
    assert load_scenario(scenario_file, ["workload.file=other.txt"]).require_workload().path == Path("other.txt")


def test_a_workload_is_required_only_when_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"workload: there is none.*workload\.file"):
        load_scenario({}).require_workload()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"seed = 1\nengine =\n", "line 2"),
        (b"seed = 1\nseed = 2\n", "line 2"),
        (b"\xff\xfe", "UTF-8"),
        (None, "No such file"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "broken.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=says) as caught:
        load_scenario(path)
    assert str(caught.value).startswith(str(path))


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory"):
        load_scenario(tmp_path)


def test_problems_name_the_file(scenario_file: Path) -> None:
    with pytest.raises(ConfigError, match=r"scenario\.toml: seed: -1 is out of range"):
        load_scenario(scenario_file, ["seed=-1"])


def test_scenarios_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load_scenario({}).platform.ranks = 3


overrides = st.fixed_dictionaries(
    {},
    optional={
        "seed": st.integers(0, 2**63 - 1),
        "engine": st.sampled_from(["packet", "flow", "analytic"]),
        "platform.ranks": st.integers(1, 2**20),
        "platform.link_rate": st.integers(1000, 10**15).map("{}bps".format),
        "platform.link_loss": st.floats(0, 1, exclude_max=True),
        "transport.preset": st.sampled_from(["ideal", "astra_ns3"]),
        "transport.ack": st.sampled_from(["per_packet", "every:4", "out_of_band"]),
        "transport.window": st.sampled_from(["none", "bdp", "1MiB"]),
        "transport.qps_per_peer": st.one_of(st.just("per_message"), st.integers(1, 4096)),
        "system.max_active_collectives": st.one_of(st.just("none"), st.integers(1, 9)),
        "limits.max_time": st.integers(1, 10**12).map("{}ps".format),
        "ns3.defaults.ns3::TcpSocket::ConnCount": st.integers(1, 9000),
    },
)


@given(overrides)
def test_a_resolved_scenario_loads_to_itself(values: dict[str, object]) -> None:
    scenario = load_scenario({}, [f"{key}={value}" for key, value in values.items()])
    again = load_scenario(scenario.resolved())
    assert again == scenario
    assert again.digest == scenario.digest


@pytest.mark.parametrize("keys", [[], ["platform.spines=4"], ["platform.oversubscription=2"], ["platform.ranks=20"]])
def test_a_resolved_leaf_spine_loads_to_itself(keys: list[str]) -> None:
    scenario = load_scenario({}, ["platform.kind=leaf_spine", *keys])
    assert load_scenario(scenario.resolved()) == scenario


def test_a_resolved_scenario_holds_only_what_means_something() -> None:
    resolved = load_scenario({}, ["transport.ack=out_of_band"]).resolved()
    assert "spines" not in resolved["platform"]
    assert "ack_size" not in resolved["transport"]
    assert "scheduling" not in resolved["system"]
    assert "workload" not in resolved


def test_digest_depends_on_content_and_not_on_place(scenario_file: Path, tmp_path: Path) -> None:
    first = load_scenario(scenario_file).digest
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / "job.txt").write_text("a job")
    (moved / "other.toml").write_text(scenario_file.read_text())
    assert load_scenario(moved / "other.toml").digest == first
    assert load_scenario(scenario_file, ["seed=2"]).digest != first
    (tmp_path / "job.txt").write_text("a longer job")
    assert load_scenario(scenario_file).digest != first


def test_digest_of_a_workload_that_went_away(scenario_file: Path) -> None:
    scenario: Scenario = load_scenario(scenario_file)
    (scenario_file.parent / "job.txt").unlink()
    with pytest.raises(ConfigError, match=r"workload\.file: .* cannot be read"):
        _ = scenario.digest
