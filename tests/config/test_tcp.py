# SPDX-License-Identifier: GPL-2.0-only
"""``transport.kind``, and the keys of TCP and of its hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from astra_py.config import Scenario, load_scenario, parameter_table
from astra_py.config.presets import presets, transport_presets
from astra_py.config.transport import CONGESTION_CONTROLS
from astra_py.errors import ConfigError

TCP = "transport.kind=tcp"
#: A file that describes both kinds of transport.
BOTH: dict[str, Any] = {
    "transport": {"payload": "1024B", "window": "bdp", "tcp": {"mtu": "1500B"}, "hpcc": {"max_stage": 3}},
    "switch": {"lossless": [0], "pfc_alpha": 0.5, "ecn_pmax": 0.1},
    "host": {"preset": "kernel_tcp", "cores": 2},
}


def of_both(kind: str, *overrides: str) -> Scenario:
    control = "transport.congestion_control=" + {"roce": "hpcc", "tcp": "cubic"}[kind]
    return load_scenario(BOTH, [f"transport.kind={kind}", control, *overrides])


def test_defaults_of_tcp() -> None:
    scenario = load_scenario({}, [TCP])
    assert (scenario.transport.congestion_control, scenario.switch.pfc) == ("dctcp", False)
    assert scenario.transport.tcp.segment_bytes == 8948
    assert load_scenario({}, [TCP, "transport.tcp.mtu=1500B"]).transport.tcp.segment_bytes == 1448
    assert load_scenario({}, [TCP, "transport.tcp.timestamps=false"]).transport.tcp.segment_bytes == 8960
    assert scenario.put_aside == ()


def test_what_is_given_is_over_a_default_of_its_kind() -> None:
    scenario = load_scenario({}, [TCP, "switch.pfc=true", "switch.lossless=[3]", "transport.congestion_control=bbr"])
    assert (scenario.transport.congestion_control, scenario.switch.lossless) == ("bbr", (3,))


def test_a_file_for_both_kinds_is_run_with_either() -> None:
    roce, tcp = of_both("roce"), of_both("tcp")
    assert roce.put_aside == ("transport.tcp.mtu", "host.cores", "host.preset")
    assert tcp.put_aside == (
        *("transport.payload", "transport.window", "transport.hpcc.max_stage"),
        *("switch.lossless", "switch.pfc_alpha"),
    )
    assert tcp.host.per_packet > 0
    assert "host" not in roce.resolved()
    assert "tcp" not in roce.resolved()["transport"]
    assert not {"payload", "window", "hpcc"} & tcp.resolved()["transport"].keys()


@pytest.mark.parametrize("kind", CONGESTION_CONTROLS)
def test_what_is_put_aside_is_not_in_the_digest(kind: str) -> None:
    scenario = of_both(kind)
    assert load_scenario(scenario.resolved()).digest == scenario.digest
    assert load_scenario(scenario.resolved()).put_aside == ()


@pytest.mark.parametrize(
    ("kind", "override", "key"),
    [
        ("roce", "host.cores=4", "host.cores"),
        ("roce", "transport.tcp.nagle=true", "transport.tcp.nagle"),
        ("tcp", "transport.payload=512B", "transport.payload"),
        ("tcp", "switch.pfc_alpha=0.25", "switch.pfc_alpha"),
        ("tcp", "transport.preset=hpcc_sim", "transport.preset"),
    ],
)
def test_a_change_that_changes_nothing_is_an_error(kind: str, override: str, key: str) -> None:
    with pytest.raises(ConfigError, match=f"'{override}' changes nothing: {key} is for another kind of transport"):
        load_scenario({}, [f"transport.kind={kind}", override])
    assert load_scenario({}, [f"transport.kind={kind}", override], for_all_kinds=True).put_aside == (key,)


def test_a_files_control_goes_where_its_kind_does(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text("[transport]\ncongestion_control = 'hpcc'\nhpcc.max_stage = 3\n")
    assert load_scenario(file).transport.congestion_control == "hpcc"
    scenario = load_scenario(file, [TCP])
    assert scenario.transport.congestion_control == "dctcp"
    assert scenario.put_aside == ("transport.hpcc.max_stage", "transport.congestion_control")
    assert load_scenario(file, [TCP, "transport.congestion_control=cubic"]).put_aside == ("transport.hpcc.max_stage",)
    # a file whose kind is not changed has to fit itself, as a command line has
    file.write_text("[transport]\ncongestion_control = 'cubic'\n")
    with pytest.raises(ConfigError, match=r"'cubic' is a congestion control of transport.kind = 'tcp'"):
        load_scenario(file)
    both = [TCP, "transport.congestion_control=swift"]
    with pytest.raises(ConfigError, match=r"'swift' is a congestion control of transport.kind = 'roce'"):
        load_scenario(file, both)
    assert load_scenario(file, both, for_all_kinds=True).transport.congestion_control == "dctcp"


def test_a_preset_brings_its_kind() -> None:
    scenario = load_scenario({"transport": {"preset": "linux_cubic"}})
    assert (scenario.kind, scenario.transport.congestion_control, scenario.transport.tcp.ecn) == ("tcp", "cubic", False)


def test_a_preset_of_another_kind_changes_nothing() -> None:
    scenario = load_scenario({"transport": {"preset": "hpcc_sim"}}, [TCP])
    assert scenario.put_aside == ("transport.preset",)
    assert scenario.switch == load_scenario({}, [TCP]).switch


@pytest.mark.parametrize("name", transport_presets())
def test_a_transport_preset_is_read_whole(name: str) -> None:
    scenario = load_scenario({"transport": {"preset": name}})
    assert scenario.put_aside == ()
    for table, keys in transport_presets()[name].items():
        written = scenario.resolved()[table]
        assert keys.keys() <= written.keys()


@pytest.mark.parametrize("name", presets("host"))
def test_a_host_preset_is_read_whole(name: str) -> None:
    scenario = load_scenario({"host": {"preset": name}}, [TCP])
    of_gro = set() if scenario.host.gro else {"per_merged_packet"}  # which means nothing without it
    assert presets("host")[name].get("host", {}).keys() - of_gro <= scenario.resolved()["host"].keys()


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        ("transport.congestion_control=cubic", "'cubic' is a congestion control of transport.kind = 'tcp'; .* 'dcqcn'"),
        (
            f"{TCP} transport.congestion_control=swift",
            "'swift' is a congestion control of transport.kind = 'roce'; .*bbr",
        ),
        (f"{TCP} transport.congestion_control=new_reno", "'new_reno' is unknown; did you mean 'newreno'"),
        (f"{TCP} transport.congestion_control=none", "'none' is a congestion control of transport.kind = 'roce'"),
        ("transport.kind=udp", "transport.kind: 'udp' is unknown"),
        (f"{TCP} transport.tcp.ecn=false", r"transport.tcp.ecn: False leaves .* 'dctcp' without the marks"),
        (f"{TCP} transport.tcp.mtu=100B", "transport.tcp.mtu: '100B' is out of range"),
        (
            f"{TCP} transport.tcp.send_buffer=4kB",
            "transport.tcp.send_buffer: '4kB' does not hold 2 full .* at least 17896B",
        ),
        (f"{TCP} transport.tcp.unsent_limit=4kB", "transport.tcp.unsent_limit: '4kB' does not hold 1 full segment of"),
        (
            f"{TCP} transport.tcp.window_scale=false transport.tcp.receive_buffer=1MB",
            "transport.tcp.receive_buffer: '1MB' is more than a window tells .* at most 65535 B",
        ),
        (f"{TCP} transport.tcp.window_scale=false transport.tcp.mtu=40kB", "transport.tcp.mtu: .* two segments"),
        (
            f"{TCP} transport.tcp.socket_policy=striped",
            "transport.tcp.socket_policy: 'striped' would mean nothing with transport.tcp.sockets_per_peer = 1",
        ),
        (f"{TCP} host.cores=0", "host.cores: 0 is out of range"),
        (f"{TCP} host.preset=kernel", "host.preset: 'kernel' is unknown; did you mean 'kernel_tcp'"),
        (f"{TCP} host.rx_frames=4", "host.rx_frames: 4 would mean nothing with host.rx_usecs = '0s'"),
        (f"{TCP} host.staging_rate=1GB/s", "host.staging_rate: .* would mean nothing with host.staging = 'none'"),
        (f"{TCP} platform.link_rate=1bps", "platform.link_rate: '1bps' takes .* transport.tcp.mtu = '9kB'"),
        # what is put aside is read all the same
        ("transport.tcp.mtuu=1500B", "transport.tcp.mtuu: unknown key .* did you mean 'transport.tcp.mtu'"),
        (f"{TCP} transport.payload=1B", "transport.payload: '1B' is out of range"),
        (f"{TCP} switch.pfc_alpha=much", "switch.pfc_alpha: 'much' is not a finite number"),
    ],
)
def test_bad_values(overrides: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        load_scenario({}, overrides.split())


def test_figures_of_host_presets_have_sources_or_are_assumed() -> None:
    rows = {row.key: row for row in parameter_table()}
    for name, preset in presets("host").items():
        for key, value in preset.get("host", {}).items():
            if key not in ("tso", "gro"):
                held, source = rows[f"host.{key}"].presets[name]
                assert held == value
                assert source
    assert rows["host.per_message"].presets["kernel_tcp"] == ("1us", "assumed")


def test_hyphens_of_linux() -> None:
    scenario = load_scenario({}, [TCP, "transport.congestion_control=linux-reno"])
    assert scenario.transport.congestion_control == "linux_reno"


def test_parameters_tell_their_kind_and_its_defaults() -> None:
    rows = {row.key: row for row in parameter_table()}
    assert rows["switch.pfc"].by_transport == {"tcp": False}
    assert rows["transport.congestion_control"].by_transport == {"tcp": "dctcp"}
    assert rows["transport.payload"].only == "transport.kind = 'roce'"
    assert rows["transport.tcp.mtu"].only == "transport.kind = 'tcp'"
    told = "transport.kind = 'tcp' and host.staging other than 'none'"
    assert rows["host.staging_chunk"].only == told
