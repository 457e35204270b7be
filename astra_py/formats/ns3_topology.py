# SPDX-License-Identifier: GPL-2.0-only
"""The format ``ns3_topology``: the networks of HPCC's simulator on ns-3, of ASTRA-sim's ns-3 backend and of SimAI.

Line 1 counts: ``nodes switches links``; SimAI's has six fields, ``nodes GPUs-per-server NVSwitches switches links
GPU-type``. Line 2 names the nodes that are switches, SimAI's NVSwitches first; all others are hosts, and rank r is the
r-th of them in order of their numbers. Each further line is a link, ``a b rate delay error``, where ``error`` is the
probability that a packet is lost (their error model counts packets). There, hosts do not forward, and switches take no
time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from astra_py.config import PlatformConfig
from astra_py.errors import TopologyError
from astra_py.formats.file_platform import FilePlatform, require_dims
from astra_py.formats.head import Head
from astra_py.formats.lines import Line, read_lines
from astra_py.formats.ns3_units import ns3_rate_bps, ns3_time_ps
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.platforms import Platform
from astra_py.units import format_rate, format_time

__all__ = ["NS3_TOPOLOGY"]

_HEADER, _SIMAI_HEADER = "nodes switches links", "nodes GPUs-per-server NVSwitches switches links GPU-type"
_LINK = "a b rate delay error"

#: Nodes of the largest network: ids beyond it are a mistake, and every id up to the largest is a node.
_MOST_NODES = 2**21


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """The header: counts of nodes, NVSwitches, other switches and links, and GPUs of a server (0: no servers)."""

    nodes: int
    nvswitches: int
    switches: int
    links: int
    per_server: int = 0
    gpu: str = ""

    @classmethod
    def of(cls, line: Line) -> _Counts:
        if len(line.fields) == 6:
            nodes, per_server, nvswitches, switches, links = (
                line.whole(i, name, most=_MOST_NODES if i < 4 else 2**40)
                for i, name in enumerate(_SIMAI_HEADER.split()[:5])
            )
            counts = cls(
                nodes=nodes,
                nvswitches=nvswitches,
                switches=switches,
                links=links,
                per_server=per_server,
                gpu=line.fields[5],
            )
        elif len(line.fields) == 3:
            nodes, switches = (line.whole(i, name, most=_MOST_NODES) for i, name in ((0, "nodes"), (1, "switches")))
            counts = cls(nodes=nodes, nvswitches=0, switches=switches, links=line.whole(2, "links", most=2**40))
        else:
            raise line.error(f"{len(line.fields)} fields; allowed: {_HEADER!r}, or SimAI's {_SIMAI_HEADER!r}")
        if counts.hosts < 1:
            raise line.error(f"of {counts.nodes} nodes, {counts.nodes - counts.hosts} are switches; no host is left")
        if counts.per_server and counts.hosts % counts.per_server:
            raise line.error(f"{counts.hosts} GPUs are not whole servers of {counts.per_server}")
        if len(line.fields) == 6 and not counts.per_server:
            raise line.error("field 2, GPUs-per-server, is 0; allowed: 1 or more")
        return counts

    def machine(self, config: PlatformConfig, rank: int) -> int | None:
        """The machine of a rank: its server, or its place along the other dimensions of ``platform.dims``."""
        size = config.dims[0] if config.dims is not None else self.per_server
        return rank // size if size else None

    @property
    def hosts(self) -> int:
        """Nodes that are no switches."""
        return self.nodes - self.nvswitches - self.switches


class _Link(NamedTuple):
    """A link: its ends, class, rate (bit/s), delay (ps) and loss."""

    a: int
    b: int
    link_class: str
    rate_bps: int
    delay_ps: int
    loss: float

    def __str__(self) -> str:
        loss = f" loss {self.loss:g}" if self.loss else ""
        return f"{self.link_class} {format_rate(self.rate_bps)} {format_time(self.delay_ps)}{loss}"


def _recognises(path: Path, head: Head) -> bool:
    """A header of counts, then switches, then a link of ``a b rate delay error``."""
    lines = head.lines
    if head.is_gzip or len(lines) < 2 or len(lines[0]) not in (3, 6):
        return False
    header = lines[0] if len(lines[0]) == 3 else lines[0][:5]
    link = lines[-1] if len(lines) == 2 else lines[2]
    return all(map(str.isdecimal, header)) and (_is_link(link) or all(map(str.isdecimal, lines[1])))


def _is_link(fields: list[str]) -> bool:
    return len(fields) == 5 and fields[0].isdecimal() and fields[1].isdecimal() and fields[2].endswith(("ps", "/s"))


def _read(path: Path, options: Options) -> Document:
    config = options.platform or PlatformConfig(kind="file", file=str(path))
    header, *rest = read_lines(path, TopologyError)
    counts = _Counts.of(header)
    switches, links = _switches(header, counts, rest)
    if len(links) < counts.links:
        raise header.error(f"{counts.links} links are declared and {len(links)} follow")
    if len(links) > counts.links:
        raise links[counts.links].error(f"{counts.links} links are declared, and this is one of {len(links)}")
    require_dims(path, config, counts.hosts)
    if counts.nodes > 2 * counts.links + 1:
        raise header.error(f"{counts.links} links cannot join {counts.nodes} nodes")
    ends = [_link(line, counts.nodes, switches) for line in links]
    return Document(
        format=NS3_TOPOLOGY.name,
        path=path,
        content=lambda: _build(path, config, counts, switches, ends),
        summary=tuple(_summary(path, config, counts, ends)),
        ignored=(f"the GPU type {counts.gpu!r}; platform.accelerator says what ranks compute with",)
        if counts.gpu
        else (),
        ranks=counts.hosts,
    )


def _switches(header: Line, counts: _Counts, rest: list[Line]) -> tuple[dict[int, bool], list[Line]]:
    """The switches, each with whether it is an NVSwitch, and the lines of links, which follow."""
    wanted = counts.nvswitches + counts.switches
    found: dict[int, bool] = {}
    used = 0
    # their program reads numbers whatever the lines: the switches may stand in one or in several
    while len(found) < wanted:
        if used == len(rest):
            raise header.error(f"{wanted} switches are declared and {len(found)} follow")
        line = rest[used]
        used += 1
        for index in range(len(line.fields)):
            node = line.whole(index, "a switch", most=counts.nodes - 1)
            if node in found:
                raise line.error(f"switch {node} is there twice")
            if len(found) == wanted:
                raise line.error(f"{wanted} switches are declared, and {node} is one more")
            found[node] = len(found) < counts.nvswitches
    return found, rest[used:]


def _link(line: Line, count: int, switches: dict[int, bool]) -> _Link:
    """A line's link."""
    line.require(_LINK)
    a, b = (line.whole(index, "a node", most=count - 1) for index in (0, 1))
    if a == b:
        raise line.error(f"the link joins node {a} to itself; allowed: two nodes")
    loss = line.decimal(4, "the probability of a loss", "a number from 0 to below 1")
    if not 0 <= loss < 1:
        raise line.error(f"field 5, the probability of a loss, is {line.fields[4]}; allowed: from 0 to below 1")
    try:
        rate, delay = ns3_rate_bps(line.fields[2]), ns3_time_ps(line.fields[3])
    except ValueError as error:
        raise line.error(str(error)) from None
    is_scale_up = switches.get(a, False) or switches.get(b, False)
    if is_scale_up and loss:
        raise line.error(f"a link of an NVSwitch loses nothing, and here {line.fields[4]} of its packets are lost")
    between = a in switches and b in switches
    return _Link(a, b, "nvlink" if is_scale_up else "fabric" if between else "host", rate, delay, float(loss))


def _build(
    path: Path, config: PlatformConfig, counts: _Counts, switches: dict[int, bool], links: list[_Link]
) -> Platform:
    nodes = FilePlatform(config, are_forwarding=False)
    rank = 0
    for node in range(counts.nodes):
        if node in switches:
            is_nvswitch = switches[node]
            nodes.add_switch(f"{'nvswitch' if is_nvswitch else 'switch'}{node}", is_scale_up=is_nvswitch)
        else:
            nodes.add_accelerator(f"host{node}", rank, machine=counts.machine(config, rank))
            rank += 1
    for link in links:
        nodes.add_link(*link[:5], loss=link.loss, is_scale_up=link.link_class == "nvlink")
    try:
        return nodes.build(path.stem)
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from None


def _summary(path: Path, config: PlatformConfig, counts: _Counts, links: list[_Link]) -> list[str]:
    kinds = Counter(map(str, links))
    servers = f" in servers of {counts.per_server}" if counts.per_server else ""
    nvswitches = f"{counts.nvswitches} NVSwitches, " if counts.nvswitches else ""
    return [
        f"{path}: {counts.hosts} hosts{servers}, {nvswitches}{counts.switches} switches, {counts.links} links; rank r "
        "is the r-th host in order of node numbers",
        "links: "
        + ", ".join(f"{count} of {kind}" for kind, count in kinds.most_common(8))
        + (f", and {len(kinds) - 8} other sorts" if len(kinds) > 8 else ""),
        f"switches take {format_time(config.switch_latency)} (platform.switch_latency; the format has none)",
    ]


NS3_TOPOLOGY = register_format(
    Format(
        name="ns3_topology",
        title="ns-3 topology (HPCC, ASTRA-sim, SimAI)",
        kind=Kind.PLATFORM,
        recognises=_recognises,
        read=_read,
    )
)
