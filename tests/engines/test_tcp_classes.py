# SPDX-License-Identifier: GPL-2.0-only
"""ns-3's classes that TCP's parameters name are there, with the attributes that these become."""

from __future__ import annotations

import pytest

import astra_py._ns3_ext as native
from astra_py.config import Scenario, load_scenario
from astra_py.config.host import HostConfig
from astra_py.config.ns3 import mapped_attributes
from astra_py.config.tcp import TCP_RECOVERIES, TCP_VARIANTS, TcpConfig
from astra_py.engines.resolve import host_model

#: Attributes of ns-3's TCP that parameters set, socket by socket.
OF_SOCKETS = [name for name, mapped in mapped_attributes(Scenario) if mapped.table is TcpConfig]


@pytest.mark.parametrize("name", [*TCP_VARIANTS.values(), *TCP_RECOVERIES.values()])
def test_ns3_has_every_variant_and_recovery(name: str) -> None:
    assert isinstance(native.attributes(name), dict)


@pytest.mark.parametrize("attribute", OF_SOCKETS)
def test_ns3_has_every_attribute_of_sockets(attribute: str) -> None:
    name, _, last = attribute.rpartition("::")
    assert last in native.attributes(name)


def test_hosts_have_the_defaults_of_their_class() -> None:
    model = host_model(load_scenario({}, ["transport.kind=tcp"]))
    defaults = {name: fields["default"] for name, fields in native.attributes("ns3::HostStack").items()}
    assert defaults == {
        "Cores": str(model.cores),
        "Rss": model.rss.name.lower(),
        "PerMessage": f"+{model.per_message_ps}ps",
        "PerSegment": f"+{model.per_segment_ps}ps",
        "PerPacket": f"+{model.per_packet_ps}ps",
        "PerMergedPacket": f"+{model.per_merged_packet_ps}ps",
        "CopyRate": str(model.copy_rate_bps),
        "Tso": str(model.has_tso).lower(),
        "Gro": str(model.has_gro).lower(),
        "RxDelay": f"+{model.rx_delay_ps}ps",
        "RxFrames": str(model.rx_frames),
        "Staging": model.staging.name.lower(),
        "StagingRate": str(model.staging_rate_bps),
        "StagingChunk": str(model.staging_chunk_bytes),
    }
    mapped = {name.rpartition("::")[2] for name, each in mapped_attributes(Scenario) if each.table is HostConfig}
    assert mapped == defaults.keys()


@pytest.mark.parametrize(
    ("attribute", "value", "key", "held"),
    [
        ("HostStack::Cores", 3, "cores", 3),
        ("HostStack::CopyRate", 10**9, "copy_rate", 10**9),
        ("HostStack::CopyRate", 0, "copy_rate", None),
        ("HostStack::PerPacket", "2us", "per_packet", 2 * 10**6),
        ("HostStack::Tso", True, "tso", True),
        ("HostStack::Rss", "socket_index", "rss", "socket_index"),
    ],
)
def test_an_attribute_sets_its_parameter(attribute: str, value: object, key: str, held: object) -> None:
    given = {"transport": {"kind": "tcp"}, "ns3": {"defaults": {f"ns3::{attribute}": value}}}
    assert getattr(load_scenario(given).host, key) == held
