# SPDX-License-Identifier: GPL-2.0-only
"""HPCC's RoCE settings: what they become, what goes over them, refused line by line, damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.config import load_scenario
from astra_py.errors import ConfigError, WorkloadError
from astra_py.formats import ROCE_CONFIG, read, recognise
from formats.mutations import FEW, MANY, survives

CONFIG = """\
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1

PACKET_PAYLOAD_SIZE 1000

TOPOLOGY_FILE mix/topology.txt
SIMULATOR_STOP_TIME 4.00

CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 900
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
DCTCP_RATE_AI 1000Mb/s

ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0

HAS_WIN 1
U_TARGET 0.95
MI_THRESH 0
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0

KMAX_MAP 2 100000000000 1600 25000000000 400
KMIN_MAP 2 100000000000 400 25000000000 100
PMAX_MAP 2 100000000000 0.2 25000000000 0.2
BUFFER_SIZE 16
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.txt"
    path.write_text(CONFIG)
    return path


def test_it_is_recognised(config: Path) -> None:
    assert recognise(config) is ROCE_CONFIG


def test_it_stands_under_what_the_scenario_gives(config: Path) -> None:
    scenario = load_scenario({"transport": {"file": str(config)}})
    transport, switch = scenario.transport, scenario.switch
    assert (transport.payload, transport.header_size, transport.ack_size, transport.window) == (1000, 36, 48, "bdp")
    assert (transport.congestion_control, transport.ack_queue, transport.cnp) == ("dcqcn", "shared", "ack_flag")
    assert transport.dcqcn.increase_timer == 900 * 10**6
    assert (transport.dcqcn.fast_recovery, transport.dcqcn.min_rate) == (1, 100 * 10**6)
    assert (switch.buffer, switch.ecn_pmax) == (16 * 2**20, 0.2)
    assert switch.text("ecn_kmin") == "25Gbps=100kB,100Gbps=400kB"
    assert switch.text("ecn_kmax") == "25Gbps=400kB,100Gbps=1.6MB"
    assert load_scenario(scenario.resolved()) == scenario
    over = load_scenario({"transport": {"file": str(config), "window": "none", "dcqcn": {"fast_recovery": 5}}})
    assert (over.transport.window, over.transport.dcqcn.fast_recovery) == (None, 5)
    assert over.transport.dcqcn.increase_timer == 900 * 10**6


@pytest.mark.parametrize(("mode", "name"), [(1, "dcqcn"), (3, "hpcc"), (7, "timely"), (8, "dctcp")])
def test_congestion_controls_by_number(config: Path, mode: int, name: str) -> None:
    config.write_text(CONFIG.replace("CC_MODE 1", f"CC_MODE {mode}"))
    transport = load_scenario({"transport": {"file": str(config)}}).transport
    assert transport.congestion_control == name
    if name == "hpcc":
        assert (transport.hpcc.max_stage, transport.hpcc.target_utilization) == (0, 0.95)


@pytest.mark.parametrize(("mode", "said"), [(2, "CC_MODE 2 is"), (10, r"CC_MODE 10 \(hpcc-pint\) is")])
def test_other_controls_are_refused_unless_overridden(config: Path, mode: int, said: str) -> None:
    config.write_text(CONFIG.replace("CC_MODE 1", f"CC_MODE {mode}"))
    given = {"transport": {"file": str(config)}}
    with pytest.raises(
        WorkloadError, match=rf"config\.txt, line 9: {said} not simulated; allowed: 1 dcqcn, 3 hpcc, 7 "
    ):
        load_scenario(given)
    assert load_scenario(given, ["transport.congestion_control=swift"]).transport.congestion_control == "swift"


def test_a_rate_without_an_entry_is_named(config: Path) -> None:
    run = ap.load(
        {
            "platform": {"ranks": 2, "link_rate": "200Gbps"},
            "transport": {"file": str(config)},
            "workload": {"kind": "dlrm", "preset": "dlrm_s"},
        }
    )
    with pytest.raises(ConfigError, match=r"no entry for 200Gbps, the rate .* transport\.file = '.*config\.txt'"):
        run.require_sound()


def test_what_does_not_act_is_named(config: Path) -> None:
    document = read(config)
    assert "TOPOLOGY_FILE mix/topology.txt" in document.ignored
    assert "L2_CHUNK_SIZE 4000" in document.ignored
    assert not any(line.startswith(("KMIN", "RP_TIMER", "LINK_DOWN")) for line in document.ignored)
    assert "congestion control dcqcn (CC_MODE 1)" in document.summary


BAD = [
    ("HAS_WIN 1", "HAS_WNI 1", r"line 26: unknown key 'HAS_WNI'; did you mean 'HAS_WIN'\?"),
    ("HAS_WIN 1", "HAS_WIN maybe", r"line 26: HAS_WIN is 'maybe'; allowed: 0 or 1"),
    ("HAS_WIN 1", "HAS_WIN", r"line 26: HAS_WIN has no value"),
    ("RP_TIMER 900", "RP_TIMER 900 1", r"line 13: RP_TIMER has 2 values; allowed: one"),
    ("RATE_AI 50Mb/s", "RATE_AI 50", r"line 16: RATE_AI: '50' is no rate"),
    ("EWMA_GAIN 0.00390625", "EWMA_GAIN 2", r"line 14: EWMA_GAIN is 2; allowed: from 0 to 1"),
    ("L2_BACK_TO_ZERO 0", "L2_BACK_TO_ZERO 1", r"line 24: L2_BACK_TO_ZERO 1, .* is not simulated"),
    ("LINK_DOWN 0 0 0", "LINK_DOWN 2000 1 2", r"line 30: a link that goes down is not simulated"),
    ("LINK 0.0000", "LINK 0.001", r"line 21: losses of all links are not taken from here"),
    ("KMAX_MAP 2", "KMAX_MAP 3", r"line 32: 3 rates are declared, each with a value, and 4 fields follow"),
    ("1600 25000000000", "1600 100000000000", r"line 32: a rate is there twice"),
    (
        "0.2 25000000000 0.2",
        "0.2 25000000000 0.1",
        r"line 34: PMAX_MAP has 0.1 at 25Gbps, 0.2 at 100Gbps; allowed: one",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_wrong_is_said_with_its_line(config: Path, old: str, new: str, message: str) -> None:
    assert old in CONFIG
    config.write_text(CONFIG.replace(old, new, 1))
    with pytest.raises(WorkloadError, match=message):
        read(config)


def _damaged(tmp_path: Path, config: Path, count: int) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    survives(ROCE_CONFIG, [config], folder, count)


def test_it_survives_damage(tmp_path: Path, config: Path) -> None:
    _damaged(tmp_path, config, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_survives_much_damage(tmp_path: Path, config: Path) -> None:
    _damaged(tmp_path, config, MANY)
