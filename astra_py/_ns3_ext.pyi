# SPDX-License-Identifier: GPL-2.0-only
# Written by `make stubs` from the bindings; not edited by hand.
"""
The packet engine: event core, fabric, RoCE and schedule executor, in ns-3.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing

__all__: list[str] = [
    "CongestionTrial",
    "EventQueueTrial",
    "HostTrial",
    "NetworkRun",
    "PacketRun",
    "RouteTable",
    "attributes",
    "bare_event_loop",
    "run_analytic",
    "run_flow",
    "trace_sources",
]

class CongestionTrial:
    """
    The congestion control of one flow, moved step by step: times in ps, sizes in bytes, rates in bit/s.
    """
    def __init__(
        self,
        type_name: str,
        attributes: collections.abc.Mapping[str, str],
        *,
        line_rate_bps: typing.SupportsInt | typing.SupportsIndex,
        base_round_trip_ps: typing.SupportsInt | typing.SupportsIndex,
        hops: typing.SupportsInt | typing.SupportsIndex,
        payload_bytes: typing.SupportsInt | typing.SupportsIndex,
        packet_line_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None:
        """
        A new flow under the control of that ns-3 class, its attributes as text. Raises ConfigError when there is no such class, attribute or value.
        """
    def ack(
        self,
        now_ps: typing.SupportsInt | typing.SupportsIndex,
        *,
        newly_acked_bytes: typing.SupportsInt | typing.SupportsIndex = 0,
        in_flight_bytes: typing.SupportsInt | typing.SupportsIndex = 0,
        acked_psn: typing.SupportsInt | typing.SupportsIndex = 0,
        sent_psn: typing.SupportsInt | typing.SupportsIndex = 0,
        packets: typing.SupportsInt | typing.SupportsIndex = 1,
        marked_packets: typing.SupportsInt | typing.SupportsIndex = 0,
        round_trip_ps: typing.SupportsInt | typing.SupportsIndex = -1,
        telemetry: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ]
        ] = [],
        path: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None:
        """
        An acknowledgement; a hop of telemetry is (time_ps, sent_bytes, queue_bytes, rate_bps).
        """
    def cnp(self, now_ps: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        A congestion notification.
        """
    def inspect(self) -> dict[str, float]:
        """
        The control's inner state by name.
        """
    def loss(self, now_ps: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        The receiver told of a gap.
        """
    def sent(
        self, now_ps: typing.SupportsInt | typing.SupportsIndex, line_bytes: typing.SupportsInt | typing.SupportsIndex
    ) -> None:
        """
        A packet starts on the wire.
        """
    def timeout(self, now_ps: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Nothing was heard of packets.
        """
    def timer(self, now_ps: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        The time of next_timer_ps has come.
        """
    @property
    def cnp_delay_ps(self) -> int: ...
    @property
    def cnp_interval_ps(self) -> int: ...
    @property
    def has_acted(self) -> bool: ...
    @property
    def next_timer_ps(self) -> int: ...
    @property
    def rate_bps(self) -> int: ...
    @property
    def telemetry_bytes(self) -> int: ...
    @property
    def uses_cnp(self) -> bool: ...
    @property
    def uses_ecn(self) -> bool: ...
    @property
    def uses_round_trip(self) -> bool: ...
    @property
    def window_bytes(self) -> int: ...

class EventQueueTrial:
    """
    The queue of pending events by itself; times in ps.
    """
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def forget(self, arguments: collections.abc.Set[typing.SupportsInt | typing.SupportsIndex]) -> None:
        """
        Take out all events with one of these arguments.
        """
    def pop(self) -> int:
        """
        Take the first event by time, then order.
        """
    def push(
        self,
        time_ps: typing.SupportsInt | typing.SupportsIndex,
        order: typing.SupportsInt | typing.SupportsIndex,
        argument: typing.SupportsInt | typing.SupportsIndex,
    ) -> None:
        """
        Put in an event, not before the one taken last.
        """

class HostTrial:
    """
    The host stack of one machine alone, on a clock of its own: what it is asked for at which times, and what became of it. Times in ps, sizes in bytes.
    """
    def __init__(
        self,
        attributes: collections.abc.Mapping[str, str],
        *,
        local_ranks: typing.SupportsInt | typing.SupportsIndex = 1,
        seed: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> None:
        """
        A machine with these attributes of ns3::HostStack, as text. Raises ConfigError when there is no such attribute or value.
        """
    def core_accounts(self, core: typing.SupportsInt | typing.SupportsIndex) -> dict:
        """
        By kind of work: how many pieces are done, and the time that they took.
        """
    def core_of(
        self,
        src: typing.SupportsInt | typing.SupportsIndex,
        dst: typing.SupportsInt | typing.SupportsIndex,
        priority: typing.SupportsInt | typing.SupportsIndex,
        index: typing.SupportsInt | typing.SupportsIndex,
    ) -> int:
        """
        The core of a connection.
        """
    def receive(
        self,
        at_ps: typing.SupportsInt | typing.SupportsIndex,
        *,
        port: typing.SupportsInt | typing.SupportsIndex = 0,
        core: typing.SupportsInt | typing.SupportsIndex = 0,
        flow: typing.SupportsInt | typing.SupportsIndex = 0,
        sequence: typing.SupportsInt | typing.SupportsIndex = 1,
        payload_bytes: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 16,
        ecn: typing.SupportsInt | typing.SupportsIndex = 2,
    ) -> None:
        """
        A segment comes to a NIC: flags are TCP's, ecn those of IPv4 (2: ECT(0), 3: CE).
        """
    def run(self) -> list:
        """
        Do it all. What happened, in order: (time_ps, "done" or "sent", number, 0), or (time_ps, "received", flow, payload).
        """
    def send(
        self,
        at_ps: typing.SupportsInt | typing.SupportsIndex,
        *,
        core: typing.SupportsInt | typing.SupportsIndex = 0,
        flow: typing.SupportsInt | typing.SupportsIndex = 0,
        payload_bytes: typing.SupportsInt | typing.SupportsIndex,
        number: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None:
        """
        TCP hands a segment down.
        """
    def stage(
        self,
        at_ps: typing.SupportsInt | typing.SupportsIndex,
        *,
        local_rank: typing.SupportsInt | typing.SupportsIndex = 0,
        is_out: bool,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        number: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None:
        """
        A copy between an accelerator and the host.
        """
    def work(
        self,
        at_ps: typing.SupportsInt | typing.SupportsIndex,
        *,
        core: typing.SupportsInt | typing.SupportsIndex,
        kind: str,
        amount: typing.SupportsInt | typing.SupportsIndex = 1,
        number: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None:
        """
        Work of a core: message, segment, packet, or copy, whose amount is bytes.
        """
    @property
    def events(self) -> int:
        """
        Events so far.
        """
    @property
    def pending_events(self) -> int:
        """
        Events of the host that have not come.
        """

class NetworkRun:
    """
    A network driven by sends, receives and timers, with callbacks.
    """
    def __init__(self, engine: str, platform: typing.Any, transport: typing.Any, options: typing.Any) -> None: ...
    def close(self) -> None:
        """
        Take everything out of ns-3 again; harmless when done twice.
        """
    def counts(self) -> dict:
        """
        What the network counted so far: the columns of EngineColumns but for the messages.
        """
    def leftovers(self) -> list:
        """
        Calls without their match and messages that never came, as dictionaries.
        """
    def messages(self) -> dict:
        """
        What happened to each message so far, as columns.
        """
    def now(self) -> int:
        """
        Simulated time in ps.
        """
    def recv(
        self,
        dst: typing.SupportsInt | typing.SupportsIndex,
        src: typing.SupportsInt | typing.SupportsIndex,
        size_bytes: typing.SupportsInt | typing.SupportsIndex,
        tag: typing.SupportsInt | typing.SupportsIndex,
        on_received: collections.abc.Callable[[], None],
    ) -> None:
        """
        Be told of a message.
        """
    def run(self) -> str:
        """
        Run until all is over; returns why it came back.
        """
    def schedule(
        self, delay_ps: typing.SupportsInt | typing.SupportsIndex, function: collections.abc.Callable[[], None]
    ) -> None:
        """
        Call back after a delay.
        """
    def send(
        self,
        src: typing.SupportsInt | typing.SupportsIndex,
        dst: typing.SupportsInt | typing.SupportsIndex,
        size_bytes: typing.SupportsInt | typing.SupportsIndex,
        tag: typing.SupportsInt | typing.SupportsIndex,
        on_sent: collections.abc.Callable[[], None],
    ) -> None:
        """
        Send a message, now.
        """
    @property
    def node_ids(self) -> list[int]:
        """
        Where the platform's nodes are in ns-3's NodeList.
        """

class RouteTable:
    """
    Shortest paths, with equal ones chosen by the platform's routing, as flows take them.
    """
    def __init__(self, platform: typing.Any, seed: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def first_channels(
        self, src: typing.SupportsInt | typing.SupportsIndex, dst: typing.SupportsInt | typing.SupportsIndex
    ) -> numpy.typing.NDArray[numpy.int32]:
        """
        First channels of all shortest ways of a pair of ranks: i32, in order of link.
        """
    def next_channels(
        self, dst: typing.SupportsInt | typing.SupportsIndex, node: typing.SupportsInt | typing.SupportsIndex
    ) -> numpy.typing.NDArray[numpy.int32]:
        """
        Channels by which a frame that passes through a node may go on to a rank: i32.
        """
    def paths(
        self,
        src: numpy.typing.NDArray[numpy.int32],
        dst: numpy.typing.NDArray[numpy.int32],
        qp: numpy.typing.NDArray[numpy.int32],
    ) -> tuple:
        """
        Ways of flows: (ptr i64[k + 1], channel i32[...]), rows compressed.

        src, dst (ranks) and qp (queue pair numbers) are i32[k]. Raises ConfigError when there is no way.
        """
    def ways(
        self,
        src: typing.SupportsInt | typing.SupportsIndex,
        dst: typing.SupportsInt | typing.SupportsIndex,
        most: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple:
        """
        All shortest ways of a pair of ranks: (ptr i64[k + 1], channel i32[...]).

        Raises ConfigError when there is none, or more than `most`.
        """

class PacketRun:
    """
    A schedule on a platform in ns-3; one at a time in a process.
    """
    def __init__(
        self, platform: typing.Any, schedule: typing.Any, transport: typing.Any, options: typing.Any
    ) -> None: ...
    def close(self) -> None:
        """
        Take everything out of ns-3 again; harmless when done twice.
        """
    def run(self, progress: typing.Any) -> dict:
        """
        Run to the end, once; returns the columns of EngineColumns by name.
        """
    @property
    def node_ids(self) -> list[int]:
        """
        Where the platform's nodes are in ns-3's NodeList.
        """

def attributes(type_name: str) -> dict:
    """
    Attributes of an ns-3 class by name: help, default, type, is_settable.
    """

def bare_event_loop(
    pending: typing.SupportsInt | typing.SupportsIndex, events: typing.SupportsInt | typing.SupportsIndex
) -> float:
    """
    CPU seconds of that many events that only schedule another one each, with so many pending all the time.
    """

def run_analytic(platform: typing.Any, schedule: typing.Any, transport: typing.Any, options: typing.Any) -> dict:
    """
    Run a schedule on LogGP; returns the columns of EngineColumns by name.
    """

def run_flow(platform: typing.Any, schedule: typing.Any, transport: typing.Any, options: typing.Any) -> dict:
    """
    Run a schedule on max-min fair flows; returns the columns of EngineColumns by name.
    """

def trace_sources(type_name: str) -> dict:
    """
    Trace sources of an ns-3 class: name to help.
    """
