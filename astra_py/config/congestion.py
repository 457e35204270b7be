# SPDX-License-Identifier: GPL-2.0-only
"""``[transport.dcqcn]`` and its like: the parameters of the congestion controls, a table each."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.condition import Condition, OfTransport, Requirement
from astra_py.config.rules import Choice, Count, Flag, Number, QuantityRule
from astra_py.config.table import FieldError, Ns3Attribute, Table, parameter
from astra_py.units import RATE, SIZE, TIME, parse_time

__all__ = [
    "CONGESTION_TABLES",
    "DcqcnConfig",
    "DctcpConfig",
    "HpccConfig",
    "SwiftConfig",
    "TimelyConfig",
]

#: Longest time of a control's parameter: thousands of them in a row still fit a 64-bit count of picoseconds.
_LONGEST_TIME = parse_time("100s")
_MOST_BYTES = 2**40
_MOST_EVENTS = 1000
_MOST_PACKETS = 1e6
_LEAST_PACKETS = 1e-6

_SHARE = Number(least=0, most=1)
_PACKETS = Number(least=_LEAST_PACKETS, most=_MOST_PACKETS)
_DURATION = QuantityRule(TIME, most=_LONGEST_TIME)
_PERIOD = QuantityRule(TIME, least=parse_time("1ns"), most=_LONGEST_TIME)
_RATE = QuantityRule(RATE, least=1)

_DCQCN = "DCQCN, SIGCOMM 2015"
_HPCC = "HPCC, SIGCOMM 2019"
_TIMELY = "TIMELY, SIGCOMM 2015"
_TIMELY_AGAIN = "TIMELY's parameters in Zhu et al., CoNEXT 2016, table 2"
_SWIFT = "Swift, SIGCOMM 2020"
_DCTCP = "DCTCP, SIGCOMM 2010"
_AS_HTSIM = "assumed, as htsim does"


def _only(control: str) -> Requirement:
    return OfTransport(
        "roce",
        Condition(
            "congestion_control", f"transport.congestion_control = {control!r}", lambda chosen: chosen == control
        ),
    )


def _attribute(name: str, suffix: str = "", **words: str) -> Ns3Attribute:
    return Ns3Attribute((name,), suffix, words=words)


class DcqcnConfig(Table):
    """DCQCN: rates that are cut when CNPs come and recover by a timer and a byte counter."""

    key: ClassVar[str] = "transport.dcqcn"
    only: ClassVar[Requirement | None] = _only("dcqcn")

    gain: Annotated[float, _SHARE] = parameter(
        1 / 256,
        "Weight g of the newest notice in alpha, the estimate of congestion.",
        source=f"{_DCQCN}, section 5: g = 1/256",
        ns3=_attribute("ns3::Dcqcn::Gain"),
    )
    alpha_interval: Annotated[int, _PERIOD] = parameter(
        "55us",
        "Time without CNPs after which alpha decays, and again after each such time; with alpha_update = "
        "'per_interval' the time between alpha's updates.",
        source=f"{_DCQCN}, section 3.1: K = 55 us",
        ns3=_attribute("ns3::Dcqcn::AlphaInterval"),
    )
    alpha_update: Annotated[str, Choice("per_cnp", "per_interval")] = parameter(
        "per_cnp",
        "When alpha takes notice of CNPs: with each of them (the paper), or at the end of each interval, by whether it "
        "had any (NICs, and the simulators made after them).",
        ns3=_attribute("ns3::Dcqcn::AlphaUpdate"),
    )
    increase_timer: Annotated[int, _PERIOD] = parameter(
        "55us",
        "Time between increases by the timer.",
        source=f"{_DCQCN}, section 5: T = 55 us",
        ns3=_attribute("ns3::Dcqcn::IncreaseTimer"),
    )
    byte_counter: Annotated[int | None, QuantityRule(SIZE, least=1, most=_MOST_BYTES, words={"off": None})] = parameter(
        "10MB",
        "Line bytes between increases by the byte counter. 'off': there are none, and the timer alone decides.",
        source=f"{_DCQCN}, section 5: B = 10 MB",
        ns3=_attribute("ns3::Dcqcn::ByteCounter", "B", off="0"),
    )
    fast_recovery: Annotated[int, Count(most=_MOST_EVENTS)] = parameter(
        5,
        "Increases F of the timer or of the byte counter that only go towards the target rate.",
        source=f"{_DCQCN}, section 3.1: F = 5",
        ns3=_attribute("ns3::Dcqcn::FastRecovery"),
    )
    additive_increase: Annotated[int, _RATE] = parameter(
        "40Mbps",
        "What the target rate rises by after fast recovery, R_AI.",
        source=f"{_DCQCN}, section 5: 40 Mb/s",
        ns3=_attribute("ns3::Dcqcn::AdditiveIncrease"),
    )
    hyper_increase: Annotated[int, _RATE] = parameter(
        "400Mbps",
        "What the target rate rises by when timer and byte counter both have more than fast_recovery increases, R_HAI.",
        source="assumed: ten times R_AI, as in QCN (IEEE 802.1Qau: 5 and 50 Mb/s)",
        ns3=_attribute("ns3::Dcqcn::HyperIncrease"),
    )
    min_rate: Annotated[int, _RATE] = parameter(
        "100Mbps",
        "Rate below which no flow is cut.",
        source="configuration of HPCC's published simulator",
        ns3=_attribute("ns3::Dcqcn::MinRate"),
    )
    decrease_interval: Annotated[int, _DURATION] = parameter(
        "0us",
        "Shortest time between two cuts; CNPs in between make one cut at its end.",
        source=f"{_DCQCN}, section 3.1: each CNP cuts",
        ns3=_attribute("ns3::Dcqcn::DecreaseInterval"),
    )
    clamp_target: Annotated[bool, Flag()] = parameter(
        True,
        "Whether each cut makes the rate before it the target rate (the paper); otherwise only a cut after an increase "
        "does (the default of NICs).",
        ns3=_attribute("ns3::Dcqcn::ClampTarget"),
    )
    cnp_interval: Annotated[int, _DURATION] = parameter(
        "50us",
        "Shortest time between two CNPs that a receiver sends for a flow.",
        source=f"{_DCQCN}, section 3.1: N = 50 us",
        ns3=_attribute("ns3::Dcqcn::CnpInterval"),
    )
    cnp_delay: Annotated[int, _DURATION] = parameter(
        "0us",
        "From a marked packet's last byte to its CNP at the receiver's port.",
        source="ideal endpoints",
        ns3=_attribute("ns3::Dcqcn::CnpDelay"),
    )


class HpccConfig(Table):
    """HPCC: windows that follow what each port on the way says of its load."""

    key: ClassVar[str] = "transport.hpcc"
    only: ClassVar[Requirement | None] = _only("hpcc")

    target_utilization: Annotated[float, Number(least=0.01, most=1)] = parameter(
        0.95,
        "Utilization eta of the busiest link that is aimed at.",
        source=f"{_HPCC}, section 5.1",
        ns3=_attribute("ns3::Hpcc::TargetUtilization"),
    )
    max_stage: Annotated[int, Count(most=_MOST_EVENTS)] = parameter(
        5,
        "Additive increases in a row after which one is multiplicative.",
        source=f"{_HPCC}, section 5.1",
        ns3=_attribute("ns3::Hpcc::MaxStage"),
    )
    additive_increase: Annotated[int, QuantityRule(SIZE, most=_MOST_BYTES)] = parameter(
        "80B",
        "What the window rises by, W_AI, in line bytes.",
        source=f"{_HPCC}, section 5.1",
        ns3=_attribute("ns3::Hpcc::AdditiveIncrease", "B"),
    )
    base_round_trip: Annotated[
        int | None, QuantityRule(TIME, least=parse_time("1ns"), most=_LONGEST_TIME, words={"auto": None})
    ] = parameter(
        "auto",
        "Round trip T over empty links, the same for all flows. 'auto': that of each flow's own way.",
        source=f"{_HPCC}, section 3.2: the known base round trip",
        ns3=_attribute("ns3::Hpcc::BaseRoundTrip", auto="0ps"),
    )
    min_rate: Annotated[int, _RATE] = parameter(
        "100Mbps",
        "Rate below which no flow is slowed.",
        source="configuration of HPCC's published simulator",
        ns3=_attribute("ns3::Hpcc::MinRate"),
    )
    telemetry_size: Annotated[int, QuantityRule(SIZE, least=1, most=1024)] = parameter(
        "42B",
        "Telemetry in a data packet: 2 B, and 8 B for each of up to 5 switches.",
        source=f"{_HPCC}, section 4.1",
        ns3=_attribute("ns3::Hpcc::TelemetrySize", "B"),
    )


class TimelyConfig(Table):
    """TIMELY: rates that follow the gradient of the round-trip time."""

    key: ClassVar[str] = "transport.timely"
    only: ClassVar[Requirement | None] = _only("timely")

    low_threshold: Annotated[int, _DURATION] = parameter(
        "50us",
        "Round trip T_low below which the rate always rises.",
        source=f"{_TIMELY}, section 4.3",
        ns3=_attribute("ns3::Timely::LowThreshold"),
    )
    high_threshold: Annotated[int, _DURATION] = parameter(
        "500us",
        "Round trip T_high above which the rate always falls.",
        source=f"{_TIMELY}, section 4.3",
        ns3=_attribute("ns3::Timely::HighThreshold"),
    )
    min_round_trip: Annotated[int, _PERIOD] = parameter(
        "20us",
        "Round trip that gradients are relative to.",
        source=_TIMELY_AGAIN,
        ns3=_attribute("ns3::Timely::MinRoundTrip"),
    )
    gradient_weight: Annotated[float, _SHARE] = parameter(
        0.875,
        "Weight alpha of the newest difference between round trips.",
        source=_TIMELY_AGAIN,
        ns3=_attribute("ns3::Timely::GradientWeight"),
    )
    decrease: Annotated[float, _SHARE] = parameter(
        0.8, "Factor beta of decreases.", source=_TIMELY_AGAIN, ns3=_attribute("ns3::Timely::Decrease")
    )
    additive_increase: Annotated[int, _RATE] = parameter(
        "10Mbps",
        "What the rate rises by at a completion, delta.",
        source=_TIMELY_AGAIN,
        ns3=_attribute("ns3::Timely::AdditiveIncrease"),
    )
    hyper_after: Annotated[int, Count(least=1, most=_MOST_EVENTS)] = parameter(
        5,
        "Completions with negative gradients in a row that make increases larger.",
        source=f"{_TIMELY}, algorithm 1",
        ns3=_attribute("ns3::Timely::HyperAfter"),
    )
    hyper_factor: Annotated[int, Count(least=1, most=_MOST_EVENTS)] = parameter(
        5,
        "How many times larger they are, N.",
        source=f"{_TIMELY}, algorithm 1",
        ns3=_attribute("ns3::Timely::HyperFactor"),
    )
    segment: Annotated[int, QuantityRule(SIZE, least=1, most=_MOST_BYTES)] = parameter(
        "16KiB",
        "Acknowledged payload that makes a completion.",
        source=_TIMELY_AGAIN,
        ns3=_attribute("ns3::Timely::Segment", "B"),
    )
    min_rate: Annotated[int, _RATE] = parameter(
        "100Mbps",
        "Rate below which no flow is slowed.",
        source="configuration of HPCC's published simulator",
        ns3=_attribute("ns3::Timely::MinRate"),
    )

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.low_threshold > self.high_threshold:
            high = self.text("high_threshold")
            raise FieldError(
                "low_threshold",
                f"{self.text('low_threshold')!r} is above {self.key_path('high_threshold')} = {high!r}",
                f"at most {high}",
            )


class SwiftConfig(Table):
    """Swift: windows that hold the round trip at a target delay."""

    key: ClassVar[str] = "transport.swift"
    only: ClassVar[Requirement | None] = _only("swift")

    base_target: Annotated[int, _DURATION] = parameter(
        "20us",
        "Target delay of a round trip without switches and with many packets in the window.",
        source=_AS_HTSIM,
        ns3=_attribute("ns3::Swift::BaseTarget"),
    )
    hop_target: Annotated[int, _DURATION] = parameter(
        "2us",
        "What the target rises by with each switch on the way.",
        source="assumed: a switch and a 500 ns link, there and back",
        ns3=_attribute("ns3::Swift::HopTarget"),
    )
    flow_range: Annotated[int, _DURATION] = parameter(
        "100us",
        "What the target rises by at most as the window falls, fs_range.",
        source=_AS_HTSIM,
        ns3=_attribute("ns3::Swift::FlowRange"),
    )
    flow_min_window: Annotated[float, _PACKETS] = parameter(
        0.1,
        "Packets in the window below which the target rises no more, fs_min_cwnd.",
        source=f"{_SWIFT}, section 3.5",
        ns3=_attribute("ns3::Swift::FlowMinWindow"),
    )
    flow_max_window: Annotated[float, _PACKETS] = parameter(
        100,
        "Packets in the window above which the target does not rise, fs_max_cwnd.",
        source=f"{_SWIFT}, section 3.5",
        ns3=_attribute("ns3::Swift::FlowMaxWindow"),
    )
    additive_increase: Annotated[float, Number(least=0, most=_MOST_PACKETS)] = parameter(
        1.0,
        "Packets that the window rises by in a round trip below the target, ai.",
        source=_AS_HTSIM,
        ns3=_attribute("ns3::Swift::AdditiveIncrease"),
    )
    decrease: Annotated[float, _SHARE] = parameter(
        0.8, "Factor beta of decreases.", source=_AS_HTSIM, ns3=_attribute("ns3::Swift::Decrease")
    )
    max_decrease: Annotated[float, _SHARE] = parameter(
        0.5,
        "Largest part of the window that a decrease takes, max_mdf.",
        source=_AS_HTSIM,
        ns3=_attribute("ns3::Swift::MaxDecrease"),
    )
    reset_after: Annotated[int, Count(least=1, most=_MOST_EVENTS)] = parameter(
        5,
        "Timeouts in a row that reset the window to min_window.",
        source=_AS_HTSIM,
        ns3=_attribute("ns3::Swift::ResetAfter"),
    )
    min_window: Annotated[float, _PACKETS] = parameter(
        0.001,
        "Smallest window, in packets; below 1 packets are paced.",
        source=_SWIFT,
        ns3=_attribute("ns3::Swift::MinWindow"),
    )
    max_window: Annotated[float, _PACKETS] = parameter(
        1000, "Largest window, in packets.", source=_AS_HTSIM, ns3=_attribute("ns3::Swift::MaxWindow")
    )

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.flow_min_window >= self.flow_max_window:
            high = f"{self.flow_max_window:g}"
            raise FieldError(
                "flow_min_window",
                f"{self.flow_min_window:g} is not below {self.key_path('flow_max_window')} = {high}",
                f"below {high}",
            )
        if self.min_window > self.max_window:
            high = f"{self.max_window:g}"
            raise FieldError(
                "min_window",
                f"{self.min_window:g} is above {self.key_path('max_window')} = {high}",
                f"at most {high}",
            )


class DctcpConfig(Table):
    """DCTCP: windows that are cut once a round trip, in proportion to the share of marked packets."""

    key: ClassVar[str] = "transport.dctcp"
    only: ClassVar[Requirement | None] = _only("dctcp")

    gain: Annotated[float, _SHARE] = parameter(
        1 / 16,
        "Weight g of the newest share of marked packets in alpha.",
        source=f"{_DCTCP}, section 4",
        ns3=_attribute("ns3::Dctcp::Gain"),
    )
    initial_window: Annotated[int | None, QuantityRule(SIZE, least=1, most=_MOST_BYTES, words={"bdp": None})] = (
        parameter(
            "bdp",
            "Window of a new flow, in payload; at least one packet. 'bdp': what the line carries in a round trip over "
            "empty links.",
            source="assumed: RDMA NICs start at line rate",
            ns3=_attribute("ns3::Dctcp::InitialWindow", "B", bdp="0"),
        )
    )


#: The table of each congestion control that has parameters, by the name that transport.congestion_control gives it.
CONGESTION_TABLES: dict[str, type[Table]] = {
    "dcqcn": DcqcnConfig,
    "hpcc": HpccConfig,
    "timely": TimelyConfig,
    "swift": SwiftConfig,
    "dctcp": DctcpConfig,
}
