# SPDX-License-Identifier: GPL-2.0-only
"""Which parameter of a scenario moves which part of a collective's time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from astra_py.analysis.message_path import ACKNOWLEDGEMENTS
from astra_py.analysis.stretches import Part, Stretch
from astra_py.config.platform_kinds import BUILT, FILE, LEAVES
from astra_py.platforms.node_kind import NodeKind
from astra_py.platforms.routing import RoutingKind

if TYPE_CHECKING:
    from astra_py.results.record import RunRecord

__all__ = ["MEANINGS", "knob_of"]

#: What each part is, in the words of a sentence.
MEANINGS = {
    Part.PAYLOAD: "serialisation of payload",
    Part.HEADERS: "header and ACK bytes on the wire",
    Part.PROPAGATION: "propagation",
    Part.SWITCHING: "switch latency",
    Part.QUEUEING: "queueing behind other data",
    Part.HOST: "work and latency of endpoints and hosts",
    Part.POOLS: "waiting for what is limited in number",
    Part.WINDOW: "waiting for the transport's window",
    Part.PAUSES: "pauses",
    Part.CONTROL: "throttling by congestion control",
    Part.RECOVERY: "recovery of losses",
    Part.JOINING: "waiting for ranks that joined late",
    Part.UNEXPLAINED: "unexplained",
}
_KNOBS = {
    Part.PAYLOAD: "platform.link_rate",
    Part.HEADERS: "transport.payload",
    Part.PROPAGATION: "platform.link_delay",
    Part.SWITCHING: "platform.switch_latency",
    Part.QUEUEING: "platform.link_rate",
    Part.WINDOW: "transport.window",
    Part.PAUSES: "switch.buffer",
    Part.CONTROL: "transport.congestion_control",
    Part.JOINING: "",
    Part.UNEXPLAINED: "",
}
#: Of parts on scale-up links, where other parameters count.
_SCALE_UP_KNOBS = {
    Part.PAYLOAD: "platform.scale_up.rate",
    Part.HEADERS: "platform.scale_up.efficiency",
    Part.PROPAGATION: "platform.scale_up.latency",
    Part.SWITCHING: "platform.scale_up.latency",
    Part.QUEUEING: "platform.scale_up.rate",
}
#: Of parts on PCIe, between accelerators, hosts and NICs of their own.
_PCIE_KNOBS = {
    Part.PAYLOAD: "platform.pcie.rate",
    Part.HEADERS: "platform.pcie.efficiency",
    Part.PROPAGATION: "platform.pcie.latency",
    Part.SWITCHING: "platform.pcie.latency",
    Part.QUEUEING: "platform.pcie.rate",
}
#: The class of links that they are.
_PCIE = "pcie"
#: Of parts on links between switches, where there are leaves and spines.
_FABRIC_KNOBS = {Part.PAYLOAD: "platform.fabric_rate", Part.QUEUEING: "platform.oversubscription"}
#: By the detail of a stretch.
_DETAILS = {
    ACKNOWLEDGEMENTS: "transport.ack",
    "send latency": "transport.send_latency",
    "receive latency": "transport.receive_latency",
    "endpoint delay": "system.endpoint_delay",
    "local work": "system.local_memory_bandwidth",
    "before the post": "system.protocol",
    "start of the flow": "",
}
#: By the pool that was waited for; any other one limits messages of one collective.
_POOLS = {"admission": "system.admission", "channels": "system.channels"}


def knob_of(part: Part, stretches: Iterable[Stretch], record: RunRecord, platform_kind: str) -> str:
    """The key that moves most of a part's time; empty where there is none.

    Parameters
    ----------
    part : the part.
    stretches : a path; those of other parts are left out.
    record : the run that it is of.
    platform_kind : ``platform.kind``, which decides which keys there are.
    """
    time: dict[str, int] = {}
    for each in stretches:
        if each.part == part:
            key = _key(each, record, platform_kind)
            time[key] = time.get(key, 0) + each.length_ps
    return max(time, key=lambda key: time[key]) if time else ""


def _key(stretch: Stretch, record: RunRecord, platform_kind: str) -> str:
    key = _any_key(stretch, record, platform_kind)
    if not key.startswith("platform.") or platform_kind in BUILT:
        return key
    # what a file or a function of the user's makes has its figures there
    return "platform.file" if platform_kind == FILE else "platform.kind"


def _any_key(stretch: Stretch, record: RunRecord, platform_kind: str) -> str:
    if stretch.detail in _DETAILS:
        return _DETAILS[stretch.detail]
    if stretch.part == Part.POOLS:
        return _POOLS.get(stretch.detail, "collective.in_flight")
    if stretch.part == Part.RECOVERY:
        return _recovery_key(record)
    if stretch.channel >= 0 and record.channel_efficiency[stretch.channel] > 0:
        return _scale_up_key(stretch, record)
    if platform_kind in LEAVES and stretch.channel >= 0 and _is_between_switches(stretch.channel, record):
        if stretch.part == Part.QUEUEING and _is_hashed_upwards(stretch.channel, record):
            return "platform.routing"
        return _FABRIC_KNOBS.get(stretch.part, _KNOBS[stretch.part])
    return _KNOBS[stretch.part]


def _scale_up_key(stretch: Stretch, record: RunRecord) -> str:
    arrays, part, link = record.arrays, stretch.part, stretch.channel // 2
    if arrays.class_names[arrays.link_class[link]] == _PCIE:
        return _PCIE_KNOBS.get(part, _KNOBS[part])
    key = _SCALE_UP_KNOBS.get(part, _KNOBS[part])
    # where an accelerator has several links of the class, the rate of each is a figure of its own
    ends = arrays.link_a[link], arrays.link_b[link]
    accelerator = ends[0] if arrays.node_rank[ends[0]] >= 0 else ends[1]
    is_alike = (arrays.link_class == arrays.link_class[link]) & (
        (arrays.link_a == accelerator) | (arrays.link_b == accelerator)
    )
    is_striped = np.count_nonzero(is_alike) > 1
    return "platform.scale_up.switch_rates" if is_striped and key == "platform.scale_up.rate" else key


def _recovery_key(record: RunRecord) -> str:
    """How losses are recovered, where packets after a lost one were thrown away; else what lost them."""
    counters = record.columns.counters
    if counters["out_of_order_packets"]:
        return "transport.recovery"
    return "switch.pfc" if counters["buffer_drops"] > counters["dropped_frames"] else "platform.link_loss"


def _is_between_switches(channel: int, record: RunRecord) -> bool:
    kind = record.arrays.node_kind
    return all(kind[ends[channel]] == NodeKind.SWITCH for ends in record.channel_ends)


def _is_hashed_upwards(channel: int, record: RunRecord) -> bool:
    """Whether the hash alone makes a queue up from a leaf: it has as much up as down, and flows keep their ways."""
    if record.arrays.routing.kind not in (RoutingKind.ECMP, RoutingKind.ENHANCED_ECMP):
        return False
    (sender, receiver), kind = record.channel_ends, record.arrays.node_kind
    rate, leaf = np.repeat(record.arrays.link_rate_bps, 2), sender[channel]
    down = int(rate[(receiver == leaf) & (kind[sender] != NodeKind.SWITCH)].sum())
    up = int(rate[(sender == leaf) & (kind[receiver] == NodeKind.SWITCH)].sum())
    return 0 < down <= up
