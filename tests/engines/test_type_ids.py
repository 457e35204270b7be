# SPDX-License-Identifier: GPL-2.0-only
"""The ns-3 classes of the engine: complete TypeIds, and the same defaults as the scenario's parameters."""

from __future__ import annotations

import pytest

import astra_py._ns3_ext as native
from astra_py.config import Scenario, load_scenario
from astra_py.config.ns3 import mapped_attributes, to_ns3
from astra_py.engines.resolve import transport_model

CONTROLS = ["ns3::Dcqcn", "ns3::Hpcc", "ns3::Timely", "ns3::Swift", "ns3::Dctcp"]
CLASSES = ["ns3::RoceNic", "ns3::FabricSwitch", "ns3::Fabric", "ns3::FabricDevice", "ns3::HostStack", *CONTROLS]


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_and_trace_source_says_what_it_is(name: str) -> None:
    for attribute, fields in native.attributes(name).items():
        assert attribute[0].isupper()
        assert fields["help"].endswith("."), attribute
        assert len(fields["help"]) > 15, attribute
    for source, text in native.trace_sources(name).items():
        assert source[0].isupper()
        assert text.endswith("."), source


def test_the_nic_and_the_device_have_trace_sources() -> None:
    moments = {f"Message{moment}" for moment in ("Posted", "Sent", "Delivered", "Acked")}
    assert set(native.trace_sources("ns3::RoceNic")) == moments | {
        *("Timeout", "GoBack", "SelectiveRepeat"),
        *("CnpSent", "CnpReceived", "Rate"),
    }
    frames = {"Enqueue", "PhyTxBegin", "FrameSent", "PhyRxEnd", "PhyTxDrop", "EcnMark", "BufferDrop"}
    assert set(native.trace_sources("ns3::FabricDevice")) == frames | {"PfcPause", "PfcResume"}


def test_defaults_are_those_of_the_scenario() -> None:
    scenario = load_scenario({}, [])
    model = transport_model(scenario)
    defaults = {name: fields["default"] for name, fields in native.attributes("ns3::RoceNic").items()}
    # Negative is "auto" on both sides, whatever its unit.
    assert defaults.pop("Timeout").startswith("-")
    assert model.timeout_ps < 0
    assert defaults == {
        "Payload": str(model.payload_bytes),
        "HeaderSize": str(model.header_bytes),
        "AckSize": str(model.ack_bytes),
        "AckPolicy": model.ack_policy.name.lower(),
        "AckEvery": str(model.ack_every),
        "IsAckClassShared": str(model.is_ack_class_shared).lower(),
        "WindowPolicy": model.window_policy.name.lower(),
        "Window": str(model.window_bytes),
        "QpsPerPeer": str(model.qps_per_peer),
        "QpPolicy": scenario.transport.qp_policy,
        "Recovery": scenario.transport.recovery,
        "CongestionControl": "0",  # a pointer to the one that model.congestion_control names
        "CongestionScope": scenario.transport.cc_scope,
        "CnpOnAck": str(scenario.transport.cnp == "ack_flag").lower(),
        "InitialPsn": "0",
        "SendLatency": f"+{model.send_latency_ps}ps",
        "ReceiveLatency": f"+{model.receive_latency_ps}ps",
    }
    assert native.attributes("ns3::Fabric")["TimeRounding"]["default"] == model.time_rounding.name.lower()
    latency = native.attributes("ns3::FabricSwitch")["ForwardingLatency"]["default"]
    assert latency == f"+{scenario.platform.switch_latency}ps"


def as_number(text: str) -> float | str:
    """A value of ns-3 as a number where it is one, whatever its spelling and unit."""
    try:
        return float(text.removesuffix("ps").removesuffix("bps"))
    except ValueError:
        return text


#: Parameters that reach ns-3 by their attributes' names.
BY_NAME = {
    attribute: mapped
    for attribute, mapped in mapped_attributes(Scenario)
    if mapped.tables[0] in ("switch", "transport") and not mapped.mapping.is_figure
}


@pytest.mark.parametrize("attribute", BY_NAME)
def test_a_parameter_has_the_default_of_its_attribute(attribute: str) -> None:
    name, _, last = attribute.rpartition("::")
    fields = native.attributes(name)[last]
    assert fields["is_settable"]
    mapped = BY_NAME[attribute]
    default = mapped.rule.read(mapped.table.model_fields[mapped.field].default)
    assert as_number(to_ns3(mapped.rule, default, mapped.mapping)) == as_number(fields["default"])


#: Figures of hosts, which have an attribute each.
OF_HOSTS = {name: mapped for name, mapped in mapped_attributes(Scenario) if mapped.tables == ("host",)}


@pytest.mark.parametrize("attribute", OF_HOSTS)
def test_a_figure_of_hosts_has_the_default_of_its_attribute(attribute: str) -> None:
    mapped = OF_HOSTS[attribute]
    default = native.attributes("ns3::HostStack")[attribute.rpartition("::")[2]]["default"]
    ours = to_ns3(mapped.rule, mapped.rule.read(mapped.table.model_fields[mapped.field].default), mapped.mapping)
    assert as_number(ours.removesuffix("bps")) == as_number(default)


@pytest.mark.parametrize("name", [*CONTROLS, "ns3::FabricSwitch", "ns3::HostStack"])
def test_every_attribute_is_a_parameter(name: str) -> None:
    parameters = {attribute for attribute, _ in mapped_attributes(Scenario)}
    assert {f"{name}::{attribute}" for attribute in native.attributes(name)} <= parameters


def test_an_unknown_class_is_an_error() -> None:
    with pytest.raises(Exception, match="no class"):
        native.attributes("ns3::Nothing")
