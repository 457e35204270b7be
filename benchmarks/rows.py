# SPDX-License-Identifier: GPL-2.0-only
"""The fixed set of benchmarks: what is run, what peers take for it, and what it is held to.

Peers' figures were measured once on another machine of the same kind, CPU seconds of one core: ASTRA-sim 2 on ns-3,
SimAI's ns-3 (of the HPCC family), htsim's RoCE without DCQCN. They are no part of what the command measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ROWS", "Bar", "Figure", "Peer", "Program", "Row", "Series", "named"]

ASTRA_SIM, SIMAI, HTSIM = "ASTRA-sim ns-3", "SimAI ns-3", "htsim RoCE"


class Figure(StrEnum):
    """A figure of a measured row; the value is its name in texts."""

    NET_CPU_S = "CPU s"
    WHOLE_CPU_S = "CPU s of the whole process"
    TIMES_LESS = "times less CPU than {peer}"
    HOPS_PER_S = "packet-hops a CPU second"
    EVENTS_PER_HOP = "events a packet-hop"
    TIMES_BARE = "times a bare event loop"
    MEMORY = "bytes of memory"


@dataclass(frozen=True)
class Peer:
    """CPU seconds that another simulator takes for the same packets."""

    name: str
    cpu_s: float


@dataclass(frozen=True)
class Program:
    """The plain ns-3 program of ``plain_ns3_tcp``, measured beside the row.

    Attributes
    ----------
    ranks, bytes_per_peer, mtu_bytes : its direct all-to-all.
    """

    ranks: int
    bytes_per_peer: int
    mtu_bytes: int
    name: str = "plain ns-3 TCP"

    def arguments(self, *, is_empty: bool) -> list[str]:
        """Its command line, with one byte from each to each other where it is to be empty."""
        size = 1 if is_empty else self.bytes_per_peer
        keys = {"ranks": self.ranks, "bytesPerPeer": size, "isOneFlow": "false", "mtu": self.mtu_bytes}
        return [*(f"--{key}={value}" for key, value in keys.items()), "--rate=100Gbps", "--delay=500ns"]


@dataclass(frozen=True)
class Bar:
    """What a figure must reach (``least``) or stay within; ``goal`` is what is hoped for beyond it."""

    figure: Figure
    limit: float
    goal: float | None = None

    @property
    def is_least(self) -> bool:
        """Whether more is better."""
        return self.figure in (Figure.TIMES_LESS, Figure.HOPS_PER_S)

    def is_met(self, value: float, limit: float | None = None) -> bool:
        """Whether ``value`` is within the limit, or another one."""
        limit = self.limit if limit is None else limit
        return value >= limit if self.is_least else value <= limit


class Series(StrEnum):
    """Rows that are drawn as one line; the value is what the line is of."""

    ALL_TO_ALL = "all-to-all, 1 MiB a rank, leaf-spine"
    PERMUTATION = "permutation, 1 MB a rank, fat tree"
    RING = "ring all-reduce, 1 MiB, one switch"
    BYTES = "all-to-all on a fat tree of 128"


@dataclass(frozen=True)
class Row:
    """One benchmark.

    Attributes
    ----------
    name : on the command line.
    title : what it is.
    command : arguments of ``astra-py``, without ``--json``.
    one_byte : the override, or the value of ``--sizes``, that makes the same command send next to nothing.
    peers : who else was measured; the first one is what bars compare with.
    bars : beside those of :attr:`all_bars`.
    series, place : the line that it is a point of, and where: ranks, or bytes.
    takes_minutes : run only when asked for.
    """

    name: str
    title: str
    command: tuple[str, ...]
    one_byte: str
    peers: tuple[Peer | Program, ...] = ()
    bars: tuple[Bar, ...] = ()
    series: Series | None = None
    place: int = 0
    takes_minutes: bool = False

    @property
    def empty_command(self) -> tuple[str, ...]:
        """The same command at one byte."""
        if "--sizes" in self.command:
            at = self.command.index("--sizes") + 1
            return (*self.command[:at], self.one_byte, *self.command[at + 1 :])
        return (*self.command, self.one_byte)

    @property
    def has_packets(self) -> bool:
        """Whether it is the packet engine's."""
        return "engine=flow" not in self.command and "engine=analytic" not in self.command

    @property
    def is_roce(self) -> bool:
        """Whether RoCE carries its packets."""
        return self.has_packets and "transport.kind=tcp" not in self.command

    @property
    def all_bars(self) -> tuple[Bar, ...]:
        """Its own bars, and those of every run of packets over RoCE."""
        return (*self.bars, *_EVERY) if self.is_roce else self.bars


#: What every row of RoCE packets is held to.
_EVERY = (Bar(Figure.EVENTS_PER_HOP, 1.3), Bar(Figure.TIMES_BARE, 2.5))
_GB = 1e9


#: Arguments of a command, and what of them changes at one byte.
_Command = tuple[tuple[str, ...], str]


def _all_to_all(size: str, *keys: str) -> _Command:
    return ("collective", "all_to_all", "--sizes", size, *keys), "1B"


def _all_reduce(algorithm: str, size: str, *keys: str) -> _Command:
    return ("collective", "all_reduce", "--algorithm", algorithm, "--sizes", size, *keys), "1B"


def _permutation(size: str, *keys: str) -> _Command:
    key = "background.flows.size"
    return ("run", "benchmarks/scenarios/permutation.toml", f"{key}={size}", *keys), f"{key}=1B"


def _dlrm_a(nodes: int) -> _Command:
    keys = ("engine=packet", f"platform.nodes={nodes}", "workload.iterations=1")
    return ("run", "workloads/dlrm_a_net_128.toml", *keys), _NO_BYTES


def _communication(*keys: str) -> _Command:
    return ("run", "benchmarks/scenarios/dlrm_communication.toml", *keys), _NO_BYTES


#: Leaves a byte of each collective of a training job.
_NO_BYTES = "workload.comm_scale=1e-9"
_SMALL = "transport.payload=1000B"
_TREE, _LEAVES = "platform.kind=fat_tree", "platform.kind=leaf_spine"
_TCP = (
    "transport.kind=tcp",
    "transport.tcp.mtu=9000B",
    "transport.tcp.delayed_ack_timeout=1ms",
    "transport.tcp.send_buffer=4MiB",
    "transport.tcp.receive_buffer=4MiB",
    "switch.buffer=1GB",
)

_PACKETS: tuple[Row, ...] = (
    Row(
        "ring_8",
        "one switch, ring all-reduce of 8 x 16 MiB, 1,000 B",
        *_all_reduce("ring", "16MiB", "platform.ranks=8", _SMALL),
        peers=(Peer(ASTRA_SIM, 8.35),),
        bars=(Bar(Figure.TIMES_LESS, 20, 40),),
    ),
    Row(
        "all_to_all_128",
        "one switch, direct all-to-all of 128 x 1 MiB, 1,000 B",
        *_all_to_all("1MiB", "platform.ranks=128", _SMALL),
        peers=(Peer(ASTRA_SIM, 10.2),),
        bars=(Bar(Figure.TIMES_LESS, 40, 60),),
    ),
    Row(
        "ring_128",
        "one switch, ring all-reduce of 128 x 1 MiB, 1,000 B",
        *_all_reduce("ring", "1MiB", "platform.ranks=128", _SMALL),
        peers=(Peer(ASTRA_SIM, 20.2),),
        bars=(Bar(Figure.TIMES_LESS, 40, 60),),
    ),
    Row(
        "dlrm_communication",
        "communication of ASTRA-SIM's DLRM, 128 ranks, 1,000 B",
        *_communication(),
        peers=(Peer(ASTRA_SIM, 90),),
        bars=(Bar(Figure.TIMES_LESS, 40, 60),),
    ),
    Row(
        "dlrm_communication_beside",
        "the same beside one background flow of 4 MB",
        *_communication("background.beside.kind=incast", "background.beside.senders=1", "background.beside.size=4MB"),
    ),
    Row(
        "star_8",
        "star of 8, all-to-all of 56 MB a host",
        *_all_to_all("64MB", "platform.ranks=8"),
        peers=(Peer(SIMAI, 0.55),),
    ),
    Row(
        "fat_tree_16",
        "fat tree of 16, all-to-all of 16 MB a rank",
        *_all_to_all("16MB", _TREE, "platform.ranks=16"),
        peers=(Peer(HTSIM, 0.43), Peer(SIMAI, 1.9)),
        bars=(Bar(Figure.HOPS_PER_S, 2.9e6, 4.5e6),),
    ),
    Row(
        "fat_tree_128",
        "fat tree of 128, all-to-all of 1 MiB a rank",
        *_all_to_all("1MiB", _TREE, "platform.ranks=128"),
        peers=(Peer(HTSIM, 0.81), Peer(SIMAI, 1.55)),
        bars=(Bar(Figure.HOPS_PER_S, 2.5e6, 4e6), Bar(Figure.TIMES_LESS, 3)),
        series=Series.BYTES,
        place=2**20,
    ),
    Row(
        "permutation_128",
        "fat tree of 128, permutation of 16 MB",
        *_permutation("16MB"),
        peers=(Peer(HTSIM, 6.3), Peer(SIMAI, 20.8)),
    ),
    Row(
        "permutation_1024",
        "fat tree of 1,024, permutation of 1 MB, 400 Gb/s",
        *_permutation("1MB", "platform.ranks=1024", "platform.link_rate=400Gbps"),
        peers=(Peer(HTSIM, 5.9),),
        bars=(Bar(Figure.WHOLE_CPU_S, 3), Bar(Figure.MEMORY, _GB)),
    ),
    Row(
        "fat_tree_1024",
        "fat tree of 1,024, all-to-all of 1 MiB a rank",
        *_all_to_all("1MiB", _TREE, "platform.ranks=1024"),
        bars=(Bar(Figure.WHOLE_CPU_S, 20), Bar(Figure.MEMORY, 3 * _GB)),
    ),
    Row(
        "tcp_8",
        "one switch, DCTCP, all-to-all of 8 x 7 x 8 MB, MTU 9,000",
        *_all_to_all("64MB", *_TCP, "platform.ranks=8"),
        peers=(Program(8, 8_000_000, 9000),),
        bars=(Bar(Figure.TIMES_LESS, 1.7),),
    ),
    Row(
        "leaf_spine_128",
        "leaf-spine of 128 at 400 Gb/s, all-to-all of 16 MiB a rank",
        *_all_to_all("16MiB", _LEAVES, "platform.ranks=128", "platform.link_rate=400Gbps"),
    ),
    Row(
        "incast_64",
        "incast of 64 x 1 MB with DCQCN and PFC",
        ("run", "workloads/incast_64.toml", "transport.congestion_control=dcqcn"),
        "background.incast.size=1B",
    ),
    Row(
        "spray_128",
        "leaf-spine of 128, packets sprayed, all-to-all of 1 MiB a rank",
        *_all_to_all("1MiB", _LEAVES, "platform.ranks=128", "platform.routing=spray"),
    ),
    Row("dlrm_a_net_16", "`dlrm_a_net` on 16 GPUs, one iteration, NVLink too", *_dlrm_a(2)),
    Row(
        "dlrm_a_net_128",
        "`dlrm_a_net` on 128 GPUs, one iteration, NVLink too",
        *_dlrm_a(16),
        bars=(Bar(Figure.WHOLE_CPU_S, 300),),
        takes_minutes=True,
    ),
)

_ENGINES = tuple(
    Row(
        f"{engine}_{ranks}",
        f"{engine} engine, halving-doubling all-reduce of 16 MiB on {ranks:,} ranks",
        *_all_reduce("halving_doubling", "16MiB", _LEAVES, f"platform.ranks={ranks}", f"engine={engine}"),
    )
    for engine in ("flow", "analytic")
    for ranks in (1024, 16384)
)


def _point(series: Series, name: str, place: int, command: _Command) -> Row:
    what = f"{place:,} ranks" if series is not Series.BYTES else f"{place >> 20} MiB a rank"
    return Row(name, f"{series}, {what}", *command, series=series, place=place)


_SERIES = (
    *(
        _point(Series.ALL_TO_ALL, f"leaf_spine_{n}_ranks", n, _all_to_all("1MiB", _LEAVES, f"platform.ranks={n}"))
        for n in (8, 32, 128, 512, 1024)
    ),
    *(
        _point(Series.PERMUTATION, f"permutation_{n}_ranks", n, _permutation("1MB", f"platform.ranks={n}"))
        for n in (16, 128, 1024)
    ),
    *(
        _point(Series.RING, f"ring_{n}_ranks", n, _all_reduce("ring", "1MiB", f"platform.ranks={n}"))
        for n in (8, 32, 128, 512)
    ),
    *(
        _point(Series.BYTES, f"fat_tree_{n}_MiB", n << 20, _all_to_all(f"{n}MiB", _TREE, "platform.ranks=128"))
        for n in (4, 16)
    ),
)

#: Every row, in the order of the table.
ROWS: tuple[Row, ...] = (*_PACKETS, *_ENGINES, *_SERIES)


def named(names: Sequence[str]) -> list[Row]:
    """The rows of these names.

    Raises
    ------
    ValueError : there is no row of one of them.
    """
    by_name = {row.name: row for row in ROWS}
    if unknown := [name for name in names if name not in by_name]:
        raise ValueError(f"there is no row {unknown[0]!r}; allowed: {', '.join(by_name)}")
    return [by_name[name] for name in names]
