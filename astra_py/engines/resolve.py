# SPDX-License-Identifier: GPL-2.0-only
"""From a scenario to the flat figures that an engine takes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from astra_py.collectives.schedule import EdgeOn
from astra_py.config.by_rate import SizeByRate
from astra_py.config.ns3 import attributes_of
from astra_py.config.switch import RED_KMAX, RED_KMIN
from astra_py.config.tcp import TCP_RECOVERIES, TCP_VARIANTS
from astra_py.engines.base import (
    AckPolicy,
    EngineOptions,
    Progress,
    SwitchModel,
    TimeRounding,
    TransportModel,
    WindowPolicy,
)
from astra_py.engines.capture import capture_of
from astra_py.engines.tcp_model import HostModel, Rss, SocketPolicy, Staging, TcpConnect, TcpModel

if TYPE_CHECKING:
    from astra_py.config import Scenario
    from astra_py.platforms import Platform

__all__ = [
    "CONTROL_CLASSES",
    "control_warnings",
    "ecn_thresholds",
    "engine_options",
    "host_model",
    "switch_model",
    "tcp_model",
    "transport_model",
    "transport_notes",
]

#: ns-3's class of each congestion control; "none" has none.
CONTROL_CLASSES = {
    "dcqcn": "ns3::Dcqcn",
    "hpcc": "ns3::Hpcc",
    "timely": "ns3::Timely",
    "swift": "ns3::Swift",
    "dctcp": "ns3::Dctcp",
}
#: Those that act on marks.
_MARKED_CONTROLS = ("dcqcn", "dctcp")
#: Most nodes that stamp a packet (HPCC, SIGCOMM 2019, section 4.1: a path of five hops).
_TELEMETRY_HOPS = 5
#: Where DCTCP marks every frame: its marks are a step (HPCC, SIGCOMM 2019, section 5.1, after DCTCP, SIGCOMM 2010).
_DCTCP_STEP = SizeByRate(30_000, 10 * 10**9)


def transport_model(scenario: Scenario) -> TransportModel:
    """Return the transport of ``scenario`` in base units, every choice made."""
    transport = scenario.transport
    if transport.kind == "tcp":
        return _tcp_transport(scenario)
    if transport.window is None:
        window_policy, window_bytes = WindowPolicy.NONE, 0
    elif transport.window == "bdp":
        window_policy, window_bytes = WindowPolicy.BDP, 0
    else:
        window_policy, window_bytes = WindowPolicy.FIXED, transport.window
    return TransportModel(
        payload_bytes=transport.payload,
        header_bytes=-1 if transport.header_size is None else transport.header_size,
        ack_bytes=-1 if transport.ack_size is None else transport.ack_size,
        ack_policy=AckPolicy[transport.ack.policy.upper()],
        ack_every=transport.ack.every,
        is_ack_class_shared=transport.ack_queue == "shared",
        window_policy=window_policy,
        window_bytes=window_bytes,
        qps_per_peer=transport.qps_per_peer or 0,
        timeout_ps=-1 if transport.timeout is None else transport.timeout,
        send_latency_ps=transport.send_latency,
        receive_latency_ps=transport.receive_latency,
        notify_on=EdgeOn[transport.notify_on.upper()],
        time_rounding=TimeRounding[transport.time_rounding.upper()],
        congestion_control=CONTROL_CLASSES.get(transport.congestion_control, ""),
        is_striped=transport.qp_policy == "striped",
        telemetry_bytes=_telemetry_bytes(scenario),
    )


def _tcp_transport(scenario: Scenario) -> TransportModel:
    """TCP, and what goes over scale-up links beside it."""
    transport, tcp = scenario.transport, tcp_model(scenario)
    return TransportModel(
        payload_bytes=tcp.segment_bytes,
        header_bytes=tcp.header_line_bytes,
        ack_bytes=tcp.ack_line_bytes,
        ack_policy=AckPolicy.EVERY,
        ack_every=tcp.delayed_ack_segments,
        is_ack_class_shared=True,
        window_policy=WindowPolicy.NONE,
        window_bytes=0,
        qps_per_peer=tcp.sockets_per_peer,
        timeout_ps=-1,
        send_latency_ps=transport.send_latency,
        receive_latency_ps=transport.receive_latency,
        notify_on=EdgeOn[transport.notify_on.upper()],
        time_rounding=TimeRounding[transport.time_rounding.upper()],
        is_striped=tcp.socket_policy == SocketPolicy.STRIPED,
        tcp=tcp,
        host=host_model(scenario),
    )


def tcp_model(scenario: Scenario) -> TcpModel:
    """Return TCP's figures."""
    tcp = scenario.transport.tcp
    return TcpModel(
        mtu_bytes=tcp.mtu,
        has_timestamps=tcp.timestamps,
        has_sack=tcp.sack,
        has_window_scaling=tcp.window_scale,
        has_ecn=tcp.ecn,
        has_nagle=tcp.nagle,
        variant=TCP_VARIANTS[scenario.transport.congestion_control],
        recovery=TCP_RECOVERIES[tcp.recovery],
        send_buffer_bytes=-1 if tcp.send_buffer is None else tcp.send_buffer,
        receive_buffer_bytes=-1 if tcp.receive_buffer is None else tcp.receive_buffer,
        initial_window_segments=tcp.initial_window,
        min_rto_ps=tcp.min_rto,
        initial_rtt_ps=tcp.initial_rtt,
        delayed_ack_segments=tcp.delayed_ack,
        delayed_ack_timeout_ps=tcp.delayed_ack_timeout,
        data_retries=tcp.data_retries,
        sockets_per_peer=tcp.sockets_per_peer,
        socket_policy=SocketPolicy[tcp.socket_policy.upper()],
        unsent_limit_bytes=-1 if tcp.unsent_limit is None else tcp.unsent_limit,
        connect=TcpConnect[tcp.connect.upper()],
    )


def host_model(scenario: Scenario) -> HostModel:
    """Return what TCP costs each machine."""
    host = scenario.host
    return HostModel(
        cores=host.cores,
        rss=Rss[host.rss.upper()],
        per_message_ps=host.per_message,
        per_segment_ps=host.per_segment,
        per_packet_ps=host.per_packet,
        per_merged_packet_ps=host.per_merged_packet,
        copy_rate_bps=host.copy_rate or 0,
        has_tso=host.tso,
        has_gro=host.gro,
        rx_delay_ps=host.rx_usecs,
        rx_frames=host.rx_frames or 0,
        staging=Staging[host.staging.upper()],
        staging_rate_bps=host.staging_rate,
        staging_chunk_bytes=host.staging_chunk,
    )


def _telemetry_bytes(scenario: Scenario) -> int:
    transport = scenario.transport
    return transport.hpcc.telemetry_size if transport.congestion_control == "hpcc" else 0


def transport_notes(scenario: Scenario) -> tuple[str, ...]:
    """A sentence on the keys that are for another kind of transport, where there are any."""
    if not (keys := scenario.put_aside):
        return ()
    return (f"transport.kind = {scenario.transport.kind!r} has no use for {', '.join(keys)}: they change nothing",)


def switch_model(scenario: Scenario) -> SwitchModel:
    """Return what results are held to of the switches of ``scenario``."""
    switch = scenario.switch
    return SwitchModel(
        buffer_bytes=-1 if switch.buffer == "auto" else switch.buffer or 0,
        lossless=switch.lossless if switch.pfc else (),
        reserve_bytes=-1 if switch.reserve is None else switch.reserve,
        headroom_bytes=-1 if switch.headroom is None else switch.headroom,
        response_quanta=switch.pfc_response_quanta,
        has_ecn=switch.ecn,
        chooses_per_packet=scenario.platform.routing in ("spray", "least_loaded"),
        cuts_through=switch.forwarding == "cut_through",
    )


def control_warnings(scenario: Scenario) -> tuple[str, ...]:
    """Sentences on what the congestion control never gets to know."""
    control, platform = scenario.transport.congestion_control, scenario.platform
    key = f"transport.congestion_control = {control!r}"
    if control in _MARKED_CONTROLS and not scenario.switch.ecn:
        return (f"{key} acts on marks, and with switch.ecn = false there are none",)
    if control == "hpcc" and platform.kind in ("ring", "torus"):
        grid = (platform.ranks,) if platform.kind == "ring" else platform.grid
        passed = sum(size // 2 for size in grid) - 1
        if passed > _TELEMETRY_HOPS:
            return (
                f"{key}: a packet has telemetry of the first {_TELEMETRY_HOPS} nodes that it passes, and the longest "
                f"ways pass {passed}; what is behind these is not known",
            )
    return ()


def ecn_thresholds(scenario: Scenario) -> tuple[SizeByRate, SizeByRate]:
    """Queues from which frames are marked at times, and always, with "auto" resolved."""
    switch = scenario.switch
    is_step = scenario.transport.congestion_control == "dctcp"
    low, high = (_DCTCP_STEP, _DCTCP_STEP) if is_step else (RED_KMIN, RED_KMAX)
    return switch.ecn_kmin or low, switch.ecn_kmax or high


def _attributes(scenario: Scenario) -> dict[str, str]:
    """The ns-3 attributes that the scenario's parameters set."""
    found = attributes_of(scenario.switch) | attributes_of(scenario.transport)
    if scenario.switch.ecn and scenario.transport.congestion_control == "dctcp":
        low, high = ecn_thresholds(scenario)
        found |= {"ns3::FabricSwitch::EcnKmin": low.to_ns3(), "ns3::FabricSwitch::EcnKmax": high.to_ns3()}
    return found


def engine_options(
    scenario: Scenario, *, platform: Platform | None = None, progress: Progress | None = None, fault: str = ""
) -> EngineOptions:
    """Return what an engine needs of ``scenario`` beside schedule, platform and transport.

    Parameters
    ----------
    scenario : the run's scenario.
    platform : where it runs; captures need it, and without it there are none.
    progress : called now and then while the engine runs.
    fault : for tests of the checks, see :class:`EngineOptions`.
    """
    limits = scenario.limits
    return EngineOptions(
        seed=scenario.seed,
        endpoint_delay_ps=scenario.system.endpoint_delay,
        compute_slowdown=Fraction(str(scenario.system.compute_slowdown)),
        max_events=-1 if limits.max_events is None else limits.max_events,
        max_time_ps=-1 if limits.max_time is None else limits.max_time,
        progress=progress,
        attributes=_attributes(scenario),
        ns3_defaults=dict(scenario.ns3.defaults),
        capture=None if platform is None else capture_of(scenario.pcap, platform, _telemetry_bytes(scenario)),
        link_bins=scenario.results.link_bins,
        # the planner's steps are operations that take time, whatever runs them
        analytic_mode=scenario.analytic.mode.replace("torchrec", "loggp"),
        fault=fault,
    )
