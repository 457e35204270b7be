# SPDX-License-Identifier: GPL-2.0-only
"""``[switch]``: buffers, pauses, marks and the order of service of every node that forwards Ethernet frames."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from astra_py.config.by_rate import SizeByRate, SizeByRateRule
from astra_py.config.condition import AllOf, AnyOf, Condition
from astra_py.config.rules import Choice, Count, Flag, Number, QuantityRule, Rule
from astra_py.config.table import Ns3Attribute, Table, parameter
from astra_py.units import SIZE

__all__ = ["RED_KMAX", "RED_KMIN", "SwitchConfig"]

#: Priorities of a port, as PFC counts them (IEEE 802.1Qbb).
PRIORITIES = 8
#: Those that collectives may have; the last one is that of acknowledgements.
DATA_PRIORITIES = 7
#: Most that a class weighs, the percentages of IEEE 802.1Qaz.
_MOST_WEIGHT = 100
#: Largest buffer, far above any switch's, so that thresholds and their products fit 64 bits.
_MOST_BUFFER = 2**40
#: Shortest pause, 2 kB of line: it is sent again at half of it, which must leave room for the frame that says so.
_LEAST_QUANTA = 32

#: Thresholds of "auto", but for DCTCP (HPCC, SIGCOMM 2019, section 5.1).
RED_KMIN, RED_KMAX = SizeByRate(100_000, 25 * 10**9), SizeByRate(400_000, 25 * 10**9)

_HAS_BUFFER = Condition("buffer", "switch.buffer other than 'unlimited'", lambda buffer: buffer is not None)
_HAS_PFC = Condition("pfc", "switch.pfc = true", bool)
_HAS_LOSSLESS = Condition("lossless", "some priorities in switch.lossless", bool)
_IS_LOSSLESS = AllOf(_HAS_BUFFER, _HAS_PFC, _HAS_LOSSLESS)
_HAS_LOSSY = AnyOf(
    Condition("pfc", "switch.pfc = false", lambda pfc: not pfc),
    Condition("lossless", "switch.lossless other than 'all'", lambda lossless: len(lossless) < PRIORITIES),
)
_HAS_ECN = Condition("ecn", "switch.ecn = true", bool)
_HAS_WEIGHTS = Condition("scheduling", "switch.scheduling = 'dwrr'", lambda scheduling: scheduling == "dwrr")
_CUTS_THROUGH = Condition("forwarding", "switch.forwarding = 'cut_through'", lambda way: way == "cut_through")


class PrioritySetRule(Rule):
    """Some of a port's priorities, as a list; held as an ascending tuple."""

    type_name = "list"
    allowed = f"'all' or a list of priorities from 0 to {PRIORITIES - 1} such as [0, 3]"

    def read(self, value: Any) -> tuple[int, ...]:
        if value == "all":
            return tuple(range(PRIORITIES))
        if not isinstance(value, list | tuple):
            raise ValueError(f"{value!r} is not a list of priorities")
        priorities = sorted(_PRIORITY.read(item) for item in value)
        if len(set(priorities)) < len(priorities):
            raise ValueError(f"{value!r} has a priority twice")
        return tuple(priorities)

    def write(self, value: tuple[int, ...]) -> str | list[int]:
        return "all" if len(value) == PRIORITIES else list(value)

    def to_ns3(self, value: tuple[int, ...]) -> str:
        return str(sum(1 << priority for priority in value))


class WeightsRule(Rule):
    """A weight for each priority of data."""

    type_name = "list"
    allowed = f"a list of {DATA_PRIORITIES} whole numbers from 1 to {_MOST_WEIGHT}, of priorities 0 to 6"

    def read(self, value: Any) -> tuple[int, ...]:
        if not isinstance(value, list | tuple) or len(value) != DATA_PRIORITIES:
            raise ValueError(f"{value!r} is not a list of {DATA_PRIORITIES} weights")
        return tuple(_WEIGHT.read(item) for item in value)

    def write(self, value: tuple[int, ...]) -> list[int]:
        return list(value)

    def to_ns3(self, value: tuple[int, ...]) -> str:
        return ",".join(map(str, value))


_PRIORITY = Count(least=0, most=PRIORITIES - 1)
_WEIGHT = Count(least=1, most=_MOST_WEIGHT)


def _attribute(name: str, suffix: str | None = "", **words: str) -> Ns3Attribute:
    return Ns3Attribute((f"ns3::FabricSwitch::{name}",), suffix, words=words)


class SwitchConfig(Table):
    """Buffers, pauses, marks and the order of service of every node that forwards Ethernet frames."""

    key: ClassVar[str] = "switch"

    buffer: Annotated[
        int | Literal["auto"] | None,
        QuantityRule(SIZE, least=1, most=_MOST_BUFFER, words={"auto": "auto", "unlimited": None}),
    ] = parameter(
        "auto",
        "Packet buffer of a switch, shared by its ports. 'auto': 32 MB beside the reserve and headroom of its ports, "
        "however many there are. 'unlimited': nothing is paused or dropped.",
        source="32 MB: HPCC, SIGCOMM 2019, section 5.1",
        ns3=_attribute("Buffer", "B", auto="-1", unlimited="0"),
    )
    pfc: Annotated[bool, Flag()] = parameter(
        True,
        "Whether priority flow control (IEEE 802.1Qbb) keeps the lossless classes from dropping. TCP is made for "
        "fabrics that drop; with its default, keys of lossless classes are named and not used.",
        ns3=_attribute("Pfc"),
        by_transport={"tcp": False},
    )
    lossless: Annotated[tuple[int, ...], PrioritySetRule()] = parameter(
        "all",
        "Priorities that are paused and not dropped; 7 is that of acknowledgements. The others are lossy.",
        source="lossless RoCE: DCQCN, SIGCOMM 2015, section 2.2",
        only=_HAS_PFC,
        ns3=_attribute("LosslessMask", None),
    )
    pfc_alpha: Annotated[float, Number(least=0, most=64, is_least_allowed=False)] = parameter(
        0.125,
        "Part of the free shared buffer above which an ingress port's priority is paused.",
        source="1/8, for 11 % of HPCC, SIGCOMM 2019, section 5.1",
        only=_IS_LOSSLESS,
        ns3=_attribute("PfcAlpha"),
    )
    reserve: Annotated[int | None, QuantityRule(SIZE, most=_MOST_BUFFER, words={"auto": None})] = parameter(
        "auto",
        "Buffer kept for each ingress port and priority in use. 'auto': one largest frame and one PAUSE.",
        source="assumed",
        only=_HAS_BUFFER,
        ns3=_attribute("Reserve", "B", auto="-1"),
    )
    headroom: Annotated[int | None, QuantityRule(SIZE, most=_MOST_BUFFER, words={"auto": None})] = parameter(
        "auto",
        "Buffer kept for each ingress port and lossless priority in use, for what arrives after a PAUSE. 'auto': 2 x "
        "delay x rate + 2 largest frames, headers included, + switch.pfc_response_quanta, link by link, as astra-py "
        "headroom prints it.",
        source="IEEE 802.1Qbb, annex O",
        only=_IS_LOSSLESS,
        ns3=_attribute("Headroom", "B", auto="-1"),
    )
    xon_offset: Annotated[int, QuantityRule(SIZE, most=_MOST_BUFFER)] = parameter(
        "8388B",
        "How far below its threshold a paused priority resumes; by default two largest frames of 4,194 B.",
        source="assumed",
        only=_IS_LOSSLESS,
        ns3=_attribute("XonOffset", "B"),
    )
    pause_quanta: Annotated[int, Count(least=_LEAST_QUANTA, most=65_535)] = parameter(
        65_535,
        "How long a PAUSE holds, in quanta of 512 bit times; it is sent again at half of it.",
        source="IEEE 802.1Qbb: the largest",
        only=_IS_LOSSLESS,
        ns3=_attribute("PauseQuanta"),
    )
    pfc_response_quanta: Annotated[int, Count(most=65_535)] = parameter(
        60,
        "Quanta of 512 bit times from a PAUSE's last byte to its effect; faster Ethernet allows more.",
        source="IEEE 802.1Qbb at 10 Gb/s",
        only=_IS_LOSSLESS,
        ns3=_attribute("ResponseQuanta"),
    )
    egress_alpha: Annotated[float, Number(least=0, most=64, is_least_allowed=False)] = parameter(
        1.0,
        "Part of the free shared buffer above which an egress port's lossy priority drops.",
        source="assumed",
        only=AllOf(_HAS_BUFFER, _HAS_LOSSY),
        ns3=_attribute("EgressAlpha"),
    )
    ecn: Annotated[bool, Flag()] = parameter(
        True,
        "Whether frames are marked (RED) where their egress queue is long; those of a control that asks for marks.",
        ns3=_attribute("Ecn"),
    )
    ecn_kmin: Annotated[SizeByRate | None, SizeByRateRule(words={"auto": None})] = parameter(
        "auto",
        "Queue above which frames are marked at times. 'auto': 100kB/25Gbps, and 30kB/10Gbps with "
        "transport.congestion_control = 'dctcp', whose marks are a step.",
        source="HPCC, SIGCOMM 2019, section 5.1",
        only=_HAS_ECN,
        ns3=_attribute("EcnKmin", None, auto=RED_KMIN.to_ns3()),
    )
    ecn_kmax: Annotated[SizeByRate | None, SizeByRateRule(words={"auto": None})] = parameter(
        "auto",
        "Queue above which every frame is marked. 'auto': 400kB/25Gbps, and 30kB/10Gbps with "
        "transport.congestion_control = 'dctcp'.",
        source="HPCC, SIGCOMM 2019, section 5.1",
        only=_HAS_ECN,
        ns3=_attribute("EcnKmax", None, auto=RED_KMAX.to_ns3()),
    )
    ecn_pmax: Annotated[float, Number(least=0, most=1)] = parameter(
        0.2,
        "Probability of a mark at a queue of switch.ecn_kmax, rising from 0 at switch.ecn_kmin.",
        source="public configurations of HPCC's simulator",
        only=_HAS_ECN,
        ns3=_attribute("EcnPmax"),
    )
    ecn_mark_at: Annotated[str, Choice("enqueue", "dequeue")] = parameter(
        "enqueue",
        "When a frame is marked: by the queue that it finds, or by the one that it leaves behind.",
        source="assumed",
        only=_HAS_ECN,
        ns3=_attribute("EcnMarkAt"),
    )
    scheduling: Annotated[str, Choice("strict", "dwrr")] = parameter(
        "strict",
        "How a port serves the priorities of data: the highest first, or by deficit weighted round robin. "
        "Acknowledgements of a class of their own come first in both.",
        source="assumed",
        ns3=_attribute("Scheduling"),
    )
    weights: Annotated[tuple[int, ...], WeightsRule()] = parameter(
        [1, 1, 1, 1, 1, 1, 1],
        "Weights of priorities 0 to 6.",
        source="equal shares",
        only=_HAS_WEIGHTS,
        ns3=_attribute("Weights", None),
    )
    forwarding: Annotated[str, Choice("store_and_forward", "cut_through")] = parameter(
        "store_and_forward",
        "When a frame may leave: once its last byte arrived, or once its header did, where the egress port is idle and "
        "not faster than the ingress port.",
        source="assumed",
        ns3=_attribute("CutThrough", store_and_forward="false", cut_through="true"),
    )
    cut_through_header: Annotated[int, QuantityRule(SIZE, least=1, most=1024)] = parameter(
        "64B",
        "Line bytes of a frame that have to be there before it is forwarded.",
        source="assumed",
        only=_CUTS_THROUGH,
        ns3=_attribute("CutThroughHeader", "B"),
    )
