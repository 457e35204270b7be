# SPDX-License-Identifier: GPL-2.0-only
"""``[transport]``: what carries a message from NIC to NIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ValidationInfo, field_validator

from astra_py.config.congestion import (
    CONGESTION_TABLES,
    DcqcnConfig,
    DctcpConfig,
    HpccConfig,
    SwiftConfig,
    TimelyConfig,
)
from astra_py.config.presets import preset_transport, transport_presets
from astra_py.config.rules import Choice, Count, FileRule, QuantityRule, Rule
from astra_py.config.table import Condition, FieldError, Ns3Attribute, OfTransport, Table, parameter
from astra_py.config.tcp import TCP_VARIANTS, TcpConfig
from astra_py.errors import did_you_mean
from astra_py.units import SIZE, TIME, format_size, parse_time

__all__ = ["CONGESTION_CONTROLS", "Ack", "TransportConfig"]

#: Names of the congestion controls of each kind of transport.
CONGESTION_CONTROLS = {"roce": ("none", *CONGESTION_TABLES), "tcp": tuple(TCP_VARIANTS)}
_CONTROLS = tuple(CONGESTION_CONTROLS.items())

_MOST_ACK_EVERY = 65_535
_LONGEST_LATENCY = parse_time("100s")

_ROCE = OfTransport("roce")
_ONLY_ACK_FRAMES = OfTransport(
    "roce", Condition("ack", "transport.ack other than 'out_of_band'", lambda ack: ack.policy != "out_of_band")
)
_ONLY_CONTROLLED = OfTransport(
    "roce",
    Condition("congestion_control", "transport.congestion_control other than 'none'", lambda name: name != "none"),
)
_ONLY_DCQCN = OfTransport(
    "roce", Condition("congestion_control", "transport.congestion_control = 'dcqcn'", lambda name: name == "dcqcn")
)
_ONLY_SEVERAL_QPS = OfTransport(
    "roce",
    Condition("qps_per_peer", "transport.qps_per_peer above 1", lambda count: count is not None and count > 1),
)


def _figure(names: tuple[str, ...], suffix: str | None) -> Ns3Attribute:
    """Attributes that reach the engine as figures of the TransportModel."""
    return Ns3Attribute(names, suffix, is_figure=True)


@dataclass(frozen=True)
class Ack:
    """When a receiver acknowledges: the policy, and for ``every`` the number of packets (else 1)."""

    policy: Literal["per_packet", "every", "per_message", "out_of_band"]
    every: int = 1


class AckRule(Rule):
    """The texts of :class:`Ack`."""

    type_name = "name"
    allowed = f"'per_packet' or 'every:N' (N from 1 to {_MOST_ACK_EVERY}) or 'per_message' or 'out_of_band'"

    def read(self, value: Any) -> Ack:
        if value in ("per_packet", "per_message", "out_of_band"):
            return Ack(value)
        if not isinstance(value, str) or not value.startswith("every:"):
            names = ("per_packet", "every:N", "per_message", "out_of_band")
            hint = did_you_mean(value, names) if isinstance(value, str) else ""
            raise ValueError(f"{value!r} is unknown{hint}")
        digits = value.removeprefix("every:")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9 and 1 <= int(digits) <= _MOST_ACK_EVERY):
            raise ValueError(f"{value!r} is out of range")
        return Ack("every", int(digits))

    def write(self, value: Ack) -> str:
        return f"every:{value.every}" if value.policy == "every" else value.policy


class PresetRule(Rule):
    """The name of a preset that ships with the package."""

    type_name = "name"

    @property
    def allowed(self) -> str:
        return " or ".join(map(repr, transport_presets()))

    def read(self, value: Any) -> str:
        return Choice(*transport_presets()).read(value)


class ControlRule(Rule):
    """The name of a congestion control; which are allowed depends on ``transport.kind``."""

    type_name = "name"

    @property
    def allowed(self) -> str:
        return "; ".join(f"with transport.kind = {kind!r} {Choice(*names).allowed}" for kind, names in _CONTROLS)

    def read(self, value: Any) -> str:
        return Choice(*(name for _, names in _CONTROLS for name in names)).read(value)


class TransportConfig(Table):
    """A transport: segmentation, acknowledgement, windows, recovery and endpoint latencies."""

    key: ClassVar[str] = "transport"

    kind: Annotated[str, Choice(*CONGESTION_CONTROLS)] = parameter(
        "roce",
        "Protocol: RoCEv2 (reliable connections, RDMA WRITE), or TCP/IP with the hosts that run it. A scenario may "
        "have keys for both; those of the other one are named and not used.",
    )
    preset: Annotated[str, PresetRule()] = parameter(
        "ideal",
        "A named set of values for keys of this table and of switch; keys that are given override it. One of another "
        "transport.kind than is given changes nothing.",
    )
    file: Annotated[str | None, FileRule("a file of transport settings", words={"none": None})] = parameter(
        "none",
        "File of another simulator's transport and switch settings, in a format that `astra-py inspect` knows: HPCC's "
        "and ASTRA-sim's RoCE configuration. Keys that are given override it, and it overrides the preset.",
        only=_ROCE,
    )
    payload: Annotated[int, QuantityRule(SIZE, least=64, most=9000)] = parameter(
        "4096B",
        "Largest payload of a packet.",
        source="largest InfiniBand and RoCE MTU (IBTA volume 1, 9.4)",
        only=_ROCE,
        ns3=_figure(("ns3::RoceNic::Payload",), suffix="B"),
    )
    header_size: Annotated[int | None, QuantityRule(SIZE, most=1024, words={"roce": None})] = parameter(
        "roce",
        "Line bytes of a data packet beside its payload, preamble and gap included. "
        "'roce': 82, and 98 on a message's first packet.",
        source="IEEE 802.3, RFC 791, RFC 768, IBTA annex A17",
        only=_ROCE,
        ns3=_figure(("ns3::RoceNic::HeaderSize",), suffix="B"),
    )
    ack: Annotated[Ack, AckRule()] = parameter(
        "per_packet",
        "When a receiver acknowledges. 'out_of_band': per packet, after the way's propagation time and without bytes.",
        source="assumed",
        only=_ROCE,
        ns3=_figure(("ns3::RoceNic::AckPolicy", "ns3::RoceNic::AckEvery"), suffix=None),
    )
    ack_size: Annotated[int | None, QuantityRule(SIZE, least=1, most=1024, words={"roce": None})] = parameter(
        "roce",
        "Line bytes of an acknowledgement, preamble and gap included. 'roce': 86.",
        source="IEEE 802.3, RFC 791, RFC 768, IBTA annex A17",
        only=_ONLY_ACK_FRAMES,
        ns3=_figure(("ns3::RoceNic::AckSize",), suffix="B"),
    )
    ack_queue: Annotated[str, Choice("own", "shared")] = parameter(
        "own",
        "Where switches queue acknowledgements: in a class of their own strictly before data, or in one FIFO with the "
        "data. At the NIC they always go first.",
        source="assumed",
        only=_ONLY_ACK_FRAMES,
        ns3=_figure(("ns3::RoceNic::IsAckClassShared",), suffix=None),
    )
    window: Annotated[int | Literal["bdp"] | None, QuantityRule(SIZE, least=1, words={"none": None, "bdp": "bdp"})] = (
        parameter(
            "none",
            "Most unacknowledged payload of a queue pair. 'bdp': rate times unloaded round trip of the pair.",
            source="RNICs have none",
            only=_ROCE,
            ns3=_figure(("ns3::RoceNic::WindowPolicy", "ns3::RoceNic::Window"), suffix=None),
        )
    )
    qps_per_peer: Annotated[int | None, Count(least=1, most=4096, words={"per_message": None})] = parameter(
        1,
        "Queue pairs from a rank to each other rank, messages round robin over them. 'per_message': a new one for each "
        "message.",
        source="assumed",
        only=_ROCE,
        ns3=_figure(("ns3::RoceNic::QpsPerPeer",), suffix=""),
    )
    qp_policy: Annotated[str, Choice("round_robin", "striped")] = parameter(
        "round_robin",
        "How messages take the queue pairs of a peer: one each in turn, or every message split over all of them.",
        source="assumed",
        only=_ONLY_SEVERAL_QPS,
        ns3=Ns3Attribute(("ns3::RoceNic::QpPolicy",), suffix=""),
    )
    congestion_control: Annotated[str, ControlRule()] = parameter(
        "dcqcn",
        "Congestion control. RoCE: 'none' is line rate, and the window; the others are of SIGCOMM 2015 (dcqcn, "
        "timely), 2019 (hpcc), 2020 (swift) and 2010 (dctcp); what their acknowledgements tell, those out of band tell "
        "too. TCP: those of ns-3.",
        source="what RoCE NICs ship with: DCQCN, SIGCOMM 2015; TCP in data centres: DCTCP, RFC 8257",
        by_transport={"tcp": "dctcp"},
    )
    cc_scope: Annotated[str, Choice("queue_pair", "peer")] = parameter(
        "queue_pair",
        "What has one rate and window: each queue pair, or all those to one peer together.",
        source="assumed",
        only=_ONLY_CONTROLLED,
        ns3=Ns3Attribute(("ns3::RoceNic::CongestionScope",), suffix=""),
    )
    cnp: Annotated[str, Choice("frame", "ack_flag")] = parameter(
        "frame",
        "How a receiver tells of marks: by a CNP, a frame of 98 line bytes, or by a flag in its acknowledgements as in "
        "HPCC's simulator.",
        source="DCQCN, SIGCOMM 2015, section 3.1",
        only=_ONLY_DCQCN,
        ns3=Ns3Attribute(("ns3::RoceNic::CnpOnAck",), suffix="", words={"frame": "false", "ack_flag": "true"}),
    )
    recovery: Annotated[str, Choice("go_back_n", "selective_repeat")] = parameter(
        "go_back_n",
        "What a sender repeats after a loss: everything from the first packet that is missing, or what is known to be "
        "missing (IRN, SIGCOMM 2018).",
        source="RoCE NICs: DCQCN, SIGCOMM 2015, section 2.2",
        only=_ROCE,
        ns3=Ns3Attribute(("ns3::RoceNic::Recovery",), suffix=""),
    )
    timeout: Annotated[int | None, QuantityRule(TIME, least=1000, most=_LONGEST_LATENCY, words={"auto": None})] = (
        parameter(
            "auto",
            "Retransmission timeout, doubled on each repeat. 'auto': four unloaded round trips of the pair and the "
            "time to drain the largest buffer on the way.",
            source="assumed",
            only=_ROCE,
            ns3=_figure(("ns3::RoceNic::Timeout",), suffix=None),
        )
    )
    send_latency: Annotated[int, QuantityRule(TIME, most=_LONGEST_LATENCY)] = parameter(
        "0ns",
        "Time from a message's post to its first byte at the NIC's port.",
        source="ideal endpoints",
        ns3=_figure(("ns3::RoceNic::SendLatency",), suffix=""),
    )
    receive_latency: Annotated[int, QuantityRule(TIME, most=_LONGEST_LATENCY)] = parameter(
        "0ns",
        "Time from a message's last byte at the receiver's port to its delivery.",
        source="ideal endpoints",
        ns3=_figure(("ns3::RoceNic::ReceiveLatency",), suffix=""),
    )
    notify_on: Annotated[str, Choice("delivered", "acked")] = parameter(
        "delivered",
        "When the receiver's side of a collective learns of a message: when it is delivered, or only when the sender "
        "has its last acknowledgement, as in ASTRA-sim on ns-3.",
    )
    time_rounding: Annotated[str, Choice("ps_ceil", "ns_nearest")] = parameter(
        "ps_ceil",
        "How a serialisation time becomes whole: up to the next picosecond, or to the nearest nanosecond for "
        "comparison with simulators that keep those.",
        ns3=_figure(("ns3::Fabric::TimeRounding",), suffix=""),
    )
    dcqcn: DcqcnConfig = DcqcnConfig()
    hpcc: HpccConfig = HpccConfig()
    timely: TimelyConfig = TimelyConfig()
    swift: SwiftConfig = SwiftConfig()
    dctcp: DctcpConfig = DctcpConfig()
    tcp: TcpConfig = TcpConfig()

    @field_validator("congestion_control", mode="before")
    @classmethod
    def _check_control(cls, value: Any, others: ValidationInfo) -> Any:
        """Refuse a control of another kind of transport, and name the nearest one of this kind."""
        kind = others.data.get("kind")
        if kind is None or not isinstance(value, str):
            return value
        if kind == "tcp":
            value = value.replace("-", "_")  # Linux writes its own so
        names = CONGESTION_CONTROLS[kind]
        allowed = f"with transport.kind = {kind!r} {Choice(*names).allowed}"
        if elsewhere := [other for other, known in _CONTROLS if value in known and value not in names]:
            raise FieldError("", f"{value!r} is a congestion control of transport.kind = {elsewhere[0]!r}", allowed)
        if value not in names:
            raise FieldError("", f"{value!r} is unknown{did_you_mean(value, names)}", allowed)
        return value

    @property
    def put_aside(self) -> tuple[str, ...]:  # noqa: D102  (as the base)
        is_of_another = preset_transport(self.preset) not in (None, self.kind)
        return (*((self.key_path("preset"),) if is_of_another else ()), *super().put_aside)

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.kind == "tcp":
            self._check_tcp()
        else:
            self._check_roce()

    def _check_tcp(self) -> None:
        if self.congestion_control == "dctcp" and not self.tcp.ecn:
            raise FieldError(
                "tcp.ecn", "False leaves transport.congestion_control = 'dctcp' without the marks it acts on", "true"
            )

    def _check_roce(self) -> None:
        if self.congestion_control == "dcqcn" and self.cnp == "ack_flag" and self.dcqcn.cnp_delay:
            raise FieldError(
                "dcqcn.cnp_delay",
                f"{self.dcqcn.text('cnp_delay')!r} would mean nothing with transport.cnp = 'ack_flag'",
                "0us, or transport.cnp = 'frame'",
            )
        if isinstance(self.window, int) and self.window < self.payload:
            raise FieldError(
                "window",
                f"{self.text('window')!r} does not hold a packet of transport.payload = {format_size(self.payload)}",
                f"'none' or 'bdp' or at least {format_size(self.payload)}",
            )
