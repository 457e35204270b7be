# SPDX-License-Identifier: GPL-2.0-only
"""From a scenario to an engine's flat figures."""

from __future__ import annotations

import pytest

from astra_py.collectives.schedule import EdgeOn
from astra_py.config import load_scenario
from astra_py.engines.base import AckPolicy, TimeRounding, TransportModel, WindowPolicy
from astra_py.engines.resolve import control_warnings, engine_options, transport_model


def model(*overrides: str) -> TransportModel:
    return transport_model(load_scenario({}, overrides))


def test_defaults() -> None:
    assert model() == TransportModel(
        payload_bytes=4096,
        header_bytes=-1,
        ack_bytes=-1,
        ack_policy=AckPolicy.PER_PACKET,
        ack_every=1,
        is_ack_class_shared=False,
        window_policy=WindowPolicy.NONE,
        window_bytes=0,
        qps_per_peer=1,
        timeout_ps=-1,
        send_latency_ps=0,
        receive_latency_ps=0,
        notify_on=EdgeOn.DELIVERED,
        time_rounding=TimeRounding.PS_CEIL,
        congestion_control="ns3::Dcqcn",
    )


def test_astra_ns3() -> None:
    assert model("transport.preset=astra_ns3") == TransportModel(
        payload_bytes=1000,
        header_bytes=36,
        ack_bytes=48,
        ack_policy=AckPolicy.PER_PACKET,
        ack_every=1,
        is_ack_class_shared=True,
        window_policy=WindowPolicy.FIXED,
        window_bytes=102_000,
        qps_per_peer=0,
        timeout_ps=-1,
        send_latency_ps=0,
        receive_latency_ps=0,
        notify_on=EdgeOn.ACKED,
        time_rounding=TimeRounding.NS_NEAREST,
        congestion_control="",
    )


@pytest.mark.parametrize(
    ("override", "field", "value"),
    [
        ("transport.ack=every:7", "ack_policy", AckPolicy.EVERY),
        ("transport.ack=every:7", "ack_every", 7),
        ("transport.ack=per_message", "ack_policy", AckPolicy.PER_MESSAGE),
        ("transport.ack=out_of_band", "ack_policy", AckPolicy.OUT_OF_BAND),
        ("transport.window=bdp", "window_policy", WindowPolicy.BDP),
        ("transport.qps_per_peer=16", "qps_per_peer", 16),
        ("transport.timeout=4ms", "timeout_ps", 4 * 10**9),
        ("transport.header_size=0B", "header_bytes", 0),
        ("transport.send_latency=1us", "send_latency_ps", 10**6),
        ("transport.receive_latency=2us", "receive_latency_ps", 2 * 10**6),
        ("transport.congestion_control=none", "congestion_control", ""),
        ("transport.congestion_control=hpcc", "congestion_control", "ns3::Hpcc"),
    ],
)
def test_each_choice(override: str, field: str, value: object) -> None:
    assert getattr(model(override), field) == value


def test_options() -> None:
    options = engine_options(load_scenario({}))
    assert (options.seed, options.max_events, options.max_time_ps, options.fault) == (1, -1, -1, "")
    keys = ["seed=7", "system.endpoint_delay=10ns", "limits.max_events=5", "limits.max_time=1s"]
    options = engine_options(load_scenario({}, [*keys, "ns3.defaults.ns3::X::Y=3"]), fault="swap_sizes")
    assert (options.seed, options.endpoint_delay_ps, options.max_events, options.max_time_ps) == (7, 10_000, 5, 10**12)
    assert options.ns3_defaults == {"ns3::X::Y": "3"}
    assert options.fault == "swap_sizes"


def attributes(*overrides: str) -> dict[str, str]:
    return dict(engine_options(load_scenario({}, overrides)).attributes)


def test_defaults_set_no_attribute() -> None:
    assert attributes() == {}
    assert attributes("switch.pfc_alpha=0.125", "switch.ecn_kmin=auto") == {}


@pytest.mark.parametrize(
    ("override", "attribute", "text"),
    [
        ("switch.buffer=8MB", "Buffer", "8000000"),
        ("switch.buffer=unlimited", "Buffer", "0"),
        ("switch.pfc=false", "Pfc", "false"),
        ("switch.lossless=[0, 3, 7]", "LosslessMask", "137"),
        ("switch.lossless=[]", "LosslessMask", "0"),
        ("switch.pfc_alpha=0.0625", "PfcAlpha", "0.0625"),
        ("switch.reserve=0B", "Reserve", "0"),
        ("switch.headroom=50kB", "Headroom", "50000"),
        ("switch.xon_offset=3KiB", "XonOffset", "3072"),
        ("switch.pause_quanta=500", "PauseQuanta", "500"),
        ("switch.pfc_response_quanta=0", "ResponseQuanta", "0"),
        ("switch.ecn=false", "Ecn", "false"),
        ("switch.ecn_kmin=400kB", "EcnKmin", "400000"),
        ("switch.ecn_kmax=30kB/10Gbps", "EcnKmax", "30000/10Gbps"),
        ("switch.ecn_kmax=1.6Tbps=2MB,2.5Gbps=1kB", "EcnKmax", "2.5Gbps=1000,1600Gbps=2000000"),
        ('switch.ecn_kmax={"25Gbps" = "100kB"}', "EcnKmax", "25Gbps=100000"),
        ("switch.ecn_pmax=1", "EcnPmax", "1.0"),
        ("switch.ecn_mark_at=dequeue", "EcnMarkAt", "dequeue"),
        ("switch.scheduling=dwrr", "Scheduling", "dwrr"),
        ("switch.forwarding=cut_through", "CutThrough", "true"),
    ],
)
def test_a_key_of_switches_is_an_attribute(override: str, attribute: str, text: str) -> None:
    assert attributes(override) == {f"ns3::FabricSwitch::{attribute}": text}


@pytest.mark.parametrize(
    ("override", "attribute", "text"),
    [
        ("transport.recovery=selective_repeat", "Recovery", "selective_repeat"),
        ("transport.cnp=ack_flag", "CnpOnAck", "true"),
        ("transport.cc_scope=peer", "CongestionScope", "peer"),
    ],
)
def test_a_key_of_the_nic_is_an_attribute(override: str, attribute: str, text: str) -> None:
    assert attributes(override) == {f"ns3::RoceNic::{attribute}": text}


@pytest.mark.parametrize(
    ("override", "attribute", "text"),
    [
        ("transport.dcqcn.byte_counter=off", "ns3::Dcqcn::ByteCounter", "0"),
        ("transport.dcqcn.min_rate=1Gbps", "ns3::Dcqcn::MinRate", "1000000000bps"),
        ("transport.hpcc.max_stage=3", "ns3::Hpcc::MaxStage", "3"),
        ("transport.timely.low_threshold=20us", "ns3::Timely::LowThreshold", "20000000ps"),
        ("transport.swift.decrease=0.5", "ns3::Swift::Decrease", "0.5"),
    ],
)
def test_a_key_of_the_control_in_use_is_an_attribute(override: str, attribute: str, text: str) -> None:
    control = override.split(".")[1]
    assert attributes(f"transport.congestion_control={control}", override) == {attribute: text}


def test_telemetry_is_hpccs() -> None:
    assert model().telemetry_bytes == 0
    assert model("transport.congestion_control=hpcc").telemetry_bytes == 42
    assert model("transport.congestion_control=hpcc", "transport.hpcc.telemetry_size=1B").telemetry_bytes == 1


def test_striping_is_known_to_results() -> None:
    assert model("transport.qps_per_peer=4", "transport.qp_policy=striped").is_striped
    assert not model("transport.qps_per_peer=4").is_striped


def test_keys_that_depend_on_another() -> None:
    weights = attributes("switch.scheduling=dwrr", "switch.weights=[4,3,2,1,1,1,1]")
    assert weights["ns3::FabricSwitch::Weights"] == "4,3,2,1,1,1,1"
    lossy = attributes("switch.lossless=[0]", "switch.egress_alpha=0.5")
    assert lossy["ns3::FabricSwitch::EgressAlpha"] == "0.5"
    assert attributes("transport.qps_per_peer=4", "transport.qp_policy=striped") == {
        "ns3::RoceNic::QpPolicy": "striped"
    }


def test_dctcp_marks_at_a_step() -> None:
    step = {"ns3::FabricSwitch::EcnKmin": "30000/10Gbps", "ns3::FabricSwitch::EcnKmax": "30000/10Gbps"}
    assert attributes("transport.congestion_control=dctcp") == step
    given = attributes("transport.congestion_control=dctcp", "switch.ecn_kmax=65kB")
    assert given == {**step, "ns3::FabricSwitch::EcnKmax": "65000"}
    assert attributes("transport.congestion_control=dctcp", "switch.ecn=false") == {"ns3::FabricSwitch::Ecn": "false"}


@pytest.mark.parametrize(
    ("overrides", "part"),
    [
        (("switch.ecn=false",), "'dcqcn' acts on marks"),
        (("switch.ecn=false", "transport.congestion_control=dctcp"), "'dctcp' acts on marks"),
        (("transport.congestion_control=hpcc", "platform.kind=ring", "platform.ranks=14"), "ways pass 6;"),
        (("transport.congestion_control=hpcc", "platform.kind=torus", "platform.dims=8x8"), "ways pass 7;"),
    ],
)
def test_what_a_control_never_gets_to_know(overrides: tuple[str, ...], part: str) -> None:
    (text,) = control_warnings(load_scenario({}, overrides))
    assert part in text


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("switch.ecn=false", "transport.congestion_control=hpcc"),
        ("transport.congestion_control=hpcc", "platform.kind=ring", "platform.ranks=13"),
        ("transport.congestion_control=hpcc", "platform.kind=torus", "platform.dims=4x4x4"),
        ("transport.congestion_control=none", "switch.ecn=false"),
    ],
)
def test_controls_that_get_to_know_all(overrides: tuple[str, ...]) -> None:
    assert control_warnings(load_scenario({}, overrides)) == ()
