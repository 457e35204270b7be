# SPDX-License-Identifier: GPL-2.0-only
"""A key that is named is one that the platform's kind has: to change it is allowed."""

import pytest

from astra_py.analysis.knobs import knob_of
from astra_py.analysis.stretches import Part, Stretch
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.config.platform_kinds import BUILT
from astra_py.engines.watch import Watch
from astra_py.platforms.node_kind import NodeKind

PARTS = (Part.PAYLOAD, Part.HEADERS, Part.PROPAGATION, Part.SWITCHING, Part.QUEUEING)
VALUES = {
    "routing": "spray",
    "rate": "200Gbps",
    "delay": "1us",
    "latency": "1us",
    "efficiency": "0.5",
    "payload": "1024B",
}
MACHINES = ("platform.nodes=2", "platform.accelerators_per_node=4")
PLATFORMS = dict.fromkeys(BUILT, ()) | {
    "zionex": (*MACHINES, "platform.nics_per_node=2"),
    "rail_optimized": (*MACHINES, "platform.nic_policy=hash"),
    "dgx_h100": ("platform.nodes=1",),
}
ROUTING = ("ecmp", "spray")


def value_of(key):
    if key == "platform.scale_up.switch_rates":
        return "200Gbps,200Gbps"
    return "1" if key.endswith("oversubscription") else VALUES[key.rpartition(".")[2].rpartition("_")[2]]


def record_of(*overrides):
    return one_collective(load_scenario({}, overrides), "all_reduce", 2**16).record(watch=Watch())


@pytest.mark.parametrize("routing", ROUTING)
@pytest.mark.parametrize("kind", PLATFORMS)
def test_each_key_of_a_link_may_be_changed(kind, routing):
    overrides = (f"platform.kind={kind}", f"platform.routing={routing}", *PLATFORMS[kind])
    record = record_of(*overrides)
    sender = record.channel_ends[0]
    keys = set()
    for channel in range(len(sender)):
        is_switch = record.arrays.node_kind[sender[channel]] == NodeKind.SWITCH
        for part in PARTS:
            if part != Part.SWITCHING or (is_switch and record.arrays.node_latency_ps[sender[channel]]):
                keys.add(knob_of(part, [Stretch(0, 1, part, channel)], record, kind))
    assert "platform.link_rate" in keys or kind == "dgx_h100"
    has_pcie = kind in ("zion", "zionex", "rail_optimized", "pcie_servers")
    assert any(key.startswith("platform.pcie") for key in keys) == has_pcie
    assert ("platform.scale_up.switch_rates" in keys) == kind.startswith("dgx")
    has_scale_up = bool((record.channel_efficiency > 0).any()) and kind != "pcie_servers"
    assert any(key.startswith("platform.scale_up") for key in keys) == has_scale_up
    for key in keys:
        load_scenario({}, (*overrides, f"{key}={value_of(key)}"))


@pytest.mark.parametrize(("kind", "key"), [("file", "platform.file"), ("my_own", "platform.kind")])
def test_figures_of_a_file_or_a_function_are_there(kind, key):
    record = record_of("platform.ranks=2")
    assert knob_of(Part.PAYLOAD, [Stretch(0, 1, Part.PAYLOAD, 0)], record, kind) == key
    assert knob_of(Part.HEADERS, [Stretch(0, 1, Part.HEADERS, 0)], record, kind) == "transport.payload"
    assert knob_of(Part.JOINING, [Stretch(0, 1, Part.JOINING, -1, "rank 1")], record, kind) == ""
