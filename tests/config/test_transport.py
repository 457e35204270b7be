# SPDX-License-Identifier: GPL-2.0-only
"""Presets of transports, and ns-3 attributes that stand for parameters."""

from __future__ import annotations

import pytest

from astra_py.config import Ack, load_scenario, transport_presets
from astra_py.errors import ConfigError


def test_presets() -> None:
    assert list(transport_presets()) == [
        *("astra_ns3", "dcqcn_paper", "dcqcn_vendor", "hpcc_sim", "ideal"),
        *("linux_cubic", "unison_dctcp"),
    ]
    assert transport_presets()["ideal"] == {}


@pytest.mark.parametrize("preset", transport_presets())
def test_every_preset_is_a_scenario(preset: str) -> None:
    scenario = load_scenario({"transport": {"preset": preset}})
    assert scenario.transport.preset == preset
    tables = transport_presets()[preset]
    # the same keys given one by one
    given = {**tables, "transport": {**tables.get("transport", {}), "preset": preset}}
    assert load_scenario(given) == scenario
    assert load_scenario(scenario.resolved()) == scenario
    chosen = {key: getattr(scenario.transport, key) for key in ("kind", "congestion_control")}
    of_kind = {"transport": chosen}
    for table, keys in tables.items():
        for key, value in keys.items():
            held = getattr(getattr(scenario, table), key)
            alone = load_scenario(of_kind | {table: {**of_kind.get(table, {}), key: value}})
            assert held == getattr(getattr(alone, table), key)


def test_the_astra_ns3_preset_is_what_the_peer_does() -> None:
    transport = load_scenario({"transport": {"preset": "astra_ns3"}}).transport
    assert (transport.payload, transport.header_size, transport.ack_size) == (1000, 36, 48)
    assert (transport.window, transport.qps_per_peer) == (102_000, None)
    assert (transport.ack, transport.ack_queue) == (Ack("per_packet"), "shared")
    assert (transport.notify_on, transport.time_rounding) == ("acked", "ns_nearest")
    assert transport.congestion_control == "none"


def test_the_hpcc_sim_preset_is_for_switches_too() -> None:
    scenario = load_scenario({"transport": {"preset": "hpcc_sim"}})
    assert (scenario.transport.window, scenario.transport.cnp) == ("bdp", "ack_flag")
    switch = scenario.switch
    assert (switch.buffer, switch.ecn_mark_at, switch.ecn_pmax) == (32 * 2**20, "dequeue", 0.2)
    assert switch.ecn_kmin is not None
    assert switch.ecn_kmax is not None
    gigabits = (25, 100, 200, 400, 800)
    assert [switch.ecn_kmin.at(rate * 10**9) for rate in gigabits] == [100_000, 400_000, 600_000, 800_000, 800_000]
    dcqcn = scenario.transport.dcqcn
    assert (dcqcn.increase_timer, dcqcn.byte_counter, dcqcn.additive_increase) == (900 * 10**6, None, 50 * 10**6)
    assert [switch.ecn_kmax.at(rate * 10**9) for rate in gigabits] == [
        400_000,
        1_600_000,
        2_400_000,
        3_200_000,
        3_200_000,
    ]


def test_the_default_control_is_dcqcn() -> None:
    assert load_scenario({}).transport.congestion_control == "dcqcn"
    assert load_scenario({"transport": {"preset": "ideal"}}).transport.congestion_control == "dcqcn"


def test_given_keys_override_a_preset() -> None:
    transport = load_scenario({"transport": {"preset": "astra_ns3", "payload": "4096B"}}).transport
    assert (transport.payload, transport.header_size) == (4096, 36)


def test_given_keys_of_other_tables_override_a_preset_too() -> None:
    switch = load_scenario({"transport": {"preset": "hpcc_sim"}, "switch": {"buffer": "8MB"}}).switch
    assert (switch.buffer, switch.xon_offset) == (8_000_000, 3072)


def test_a_given_key_of_a_control_leaves_the_presets_others() -> None:
    given = {"transport": {"preset": "hpcc_sim", "dcqcn": {"min_rate": "1Gbps"}}}
    dcqcn = load_scenario(given).transport.dcqcn
    assert (dcqcn.min_rate, dcqcn.increase_timer, dcqcn.clamp_target) == (10**9, 900 * 10**6, False)


def test_an_attribute_of_a_control_stands_for_its_key() -> None:
    defaults = {
        "ns3::Dcqcn::AdditiveIncrease": "50Mbps",
        "ns3::Dcqcn::ByteCounter": 0,
        "ns3::Dcqcn::ClampTarget": False,
    }
    dcqcn = load_scenario({"ns3": {"defaults": defaults}}).transport.dcqcn
    assert (dcqcn.additive_increase, dcqcn.byte_counter, dcqcn.clamp_target) == (50 * 10**6, None, False)
    with pytest.raises(ConfigError, match=r"sets what transport\.dcqcn\.byte_counter = '1MB' sets"):
        load_scenario({"ns3": {"defaults": defaults}, "transport": {"dcqcn": {"byte_counter": "1MB"}}})


@pytest.mark.parametrize(
    ("override", "gone"),
    [
        ("switch.ecn=false", "ecn_kmin"),
        ("switch.pfc=false", "xon_offset"),
        ("switch.buffer=unlimited", "reserve"),
        ("transport.congestion_control=none", "cnp"),
        ("transport.congestion_control=hpcc", "dcqcn"),
    ],
)
def test_what_a_preset_says_goes_where_it_means_nothing(override: str, gone: str) -> None:
    scenario = load_scenario({"transport": {"preset": "hpcc_sim"}}, [override])
    written = scenario.resolved()
    assert gone not in {**written["switch"], **written["transport"]}
    assert load_scenario(written) == scenario


def test_what_a_preset_says_of_acks_goes_where_there_are_none() -> None:
    transport = load_scenario({"transport": {"preset": "astra_ns3", "ack": "out_of_band"}}).transport
    assert transport.ack_size is None
    assert transport.header_size == 36


@pytest.mark.parametrize(("text", "ack"), [("every:1", Ack("every", 1)), ("every:65535", Ack("every", 65535))])
def test_ack_every(text: str, ack: Ack) -> None:
    assert load_scenario({"transport": {"ack": text}}).transport.ack == ack


@pytest.mark.parametrize("text", ["every:", "every:-1", "every:1.5", "every:65536", "every:٣", "every:" + "9" * 5000])
def test_ack_every_out_of_range(text: str) -> None:
    with pytest.raises(ConfigError, match=r"transport\.ack: .* is out of range; allowed: .*N from 1 to 65535"):
        load_scenario({"transport": {"ack": text}})


@pytest.mark.parametrize(
    ("attribute", "value", "key"),
    [
        ("ns3::RoceNic::Payload", 1000, ("transport", "payload", 1000)),
        ("ns3::RoceNic::Payload", "1000", ("transport", "payload", 1000)),
        ("ns3::RoceNic::HeaderSize", "36", ("transport", "header_size", 36)),
        ("ns3::RoceNic::AckSize", "48", ("transport", "ack_size", 48)),
        ("ns3::RoceNic::QpsPerPeer", "4", ("transport", "qps_per_peer", 4)),
        ("ns3::RoceNic::SendLatency", "3us", ("transport", "send_latency", 3 * 10**6)),
        ("ns3::RoceNic::ReceiveLatency", "10ns", ("transport", "receive_latency", 10_000)),
        ("ns3::Fabric::TimeRounding", "ns_nearest", ("transport", "time_rounding", "ns_nearest")),
        ("ns3::FabricSwitch::ForwardingLatency", "0ns", ("platform", "switch_latency", 0)),
        ("ns3::FabricSwitch::Buffer", "8000000", ("switch", "buffer", 8_000_000)),
        ("ns3::FabricSwitch::Buffer", 0, ("switch", "buffer", None)),
        ("ns3::FabricSwitch::Headroom", "-1", ("switch", "headroom", None)),
        ("ns3::FabricSwitch::Pfc", False, ("switch", "pfc", False)),
        ("ns3::FabricSwitch::PfcAlpha", "0.5", ("switch", "pfc_alpha", 0.5)),
        ("ns3::FabricSwitch::PauseQuanta", "1000", ("switch", "pause_quanta", 1000)),
        ("ns3::FabricSwitch::EcnMarkAt", "dequeue", ("switch", "ecn_mark_at", "dequeue")),
        ("ns3::FabricSwitch::CutThrough", "true", ("switch", "forwarding", "cut_through")),
        ("ns3::RoceNic::CnpOnAck", True, ("transport", "cnp", "ack_flag")),
        ("ns3::RoceNic::Recovery", "selective_repeat", ("transport", "recovery", "selective_repeat")),
    ],
)
def test_an_attribute_that_a_parameter_stands_for(attribute: str, value: object, key: tuple[str, str, object]) -> None:
    scenario = load_scenario({"ns3": {"defaults": {attribute: value, "ns3::TcpSocket::ConnCount": 2}}})
    table, field, expected = key
    assert getattr(getattr(scenario, table), field) == expected
    assert scenario.ns3.defaults == {"ns3::TcpSocket::ConnCount": "2"}


def test_an_attribute_wins_over_a_preset() -> None:
    keys = {"transport": {"preset": "astra_ns3"}, "ns3": {"defaults": {"ns3::RoceNic::Payload": "2048"}}}
    assert load_scenario(keys).transport.payload == 2048


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (1.5, "1.5"), (3, "3"), ("5us", "5us")])
def test_other_attributes_go_to_ns3_as_text(value: object, text: str) -> None:
    scenario = load_scenario({"ns3": {"defaults": {"ns3::TcpSocketBase::LimitedTransmit": value}}})
    assert scenario.ns3.defaults == {"ns3::TcpSocketBase::LimitedTransmit": text}


@pytest.mark.parametrize(
    ("window", "ack"), [("4096B", "per_packet"), ("bdp", "per_message"), ("12KiB", "every:3"), ("none", "per_message")]
)
def test_windows_that_let_something_through(window: str, ack: str) -> None:
    load_scenario({"transport": {"window": window, "ack": ack}})
