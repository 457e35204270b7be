# SPDX-License-Identifier: GPL-2.0-only
"""Messages over TCP as runs of the product, with all their checks, and as cases of the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import astra_py as ap
from astra_py.platforms import Platform
from astra_py.platforms.platform import NodeKind
from behaviour.flows import Flow, graph_of, run_flows
from reference_port import Channel, Node
from reference_tcp import Host, Message, Tcp, TcpSimulator

#: Slow start without an end and without marks: nothing but windows, ACKs and the wire decides.
PLAIN = ("transport.kind=tcp", "transport.congestion_control=newreno", "transport.tcp.ecn=false")
ROOMY = ("transport.tcp.send_buffer=256MiB", "transport.tcp.receive_buffer=256MiB", "switch.buffer=unlimited")
MICROSECOND = 10**6


def star(rates_bps: Sequence[int], delays_ps: Sequence[int], latency_ps: int = 0) -> Platform:
    """A rank for each rate on one switch."""
    ranks = len(rates_bps)
    kinds = [NodeKind.ACCELERATOR] * ranks + [NodeKind.SWITCH]
    links = [(rank, ranks, rate, delay) for rank, (rate, delay) in enumerate(zip(rates_bps, delays_ps, strict=True))]
    return graph_of(kinds, links, latency_ps=latency_ps)


def tree(rates_bps: Sequence[int], delays_ps: Sequence[int], latency_ps: int = 0) -> Platform:
    """As :func:`star`, but half of the ranks on a switch each, and the last rate and delay between these."""
    ranks = len(rates_bps) - 1
    kinds = [NodeKind.ACCELERATOR] * ranks + [NodeKind.SWITCH] * 2
    ends = [(rank, ranks + (2 * rank >= ranks)) for rank in range(ranks)] + [(ranks, ranks + 1)]
    links = [(*end, rate, delay) for end, rate, delay in zip(ends, rates_bps, delays_ps, strict=True)]
    return graph_of(kinds, links, latency_ps=latency_ps)


def run_tcp(flows: Iterable[Flow], *overrides: str, **given: Any) -> ap.Result:
    """Run the flows over TCP in slow start and through all checks; a later override of a key replaces earlier ones."""
    keys = {key.partition("=")[0]: key for key in (*PLAIN, *ROOMY, *overrides)}
    return run_flows(flows, *keys.values(), **given)


def simulate(platform: Platform, result: ap.Result, tcp: Tcp, host: Host = Host()) -> TcpSimulator:  # noqa: B008  (frozen)
    """The oracle's run of the messages that ``result`` has, as they were posted there."""
    a = platform.arrays()
    rank_of = {int(rank): node for node, rank in enumerate(a.node_rank) if rank >= 0}
    nodes = [Node(int(rank), int(latency)) for rank, latency in zip(a.node_rank, a.node_latency_ps, strict=True)]
    channels = []
    for ends, rate, delay in zip(zip(a.link_a, a.link_b, strict=True), a.link_rate_bps, a.link_delay_ps, strict=True):
        for tx, rx in (ends, ends[::-1]):
            channels.append(Channel(int(tx), int(rx), int(rate), int(delay)))

    def way(node: int, to: int, came_by: int = -1) -> list[int] | None:
        """The way in a tree."""
        if node == to:
            return []
        for number, channel in enumerate(channels):
            if channel.tx == node and number != came_by ^ 1:
                rest = way(channel.rx, to, number)
                if rest is not None:
                    return [number, *rest]
        return None

    def route(src: int, dst: int, index: int) -> list[int]:
        found = way(rank_of[src], rank_of[dst])
        assert found is not None
        return found

    columns = (result.messages[name] for name in ("src", "dst", "size_bytes", "posted_ps"))
    messages = [Message(*map(int, row)) for row in zip(*columns, strict=True)]
    return TcpSimulator(nodes, channels, route, messages, tcp, host=host).run()
