# SPDX-License-Identifier: GPL-2.0-only
"""The packet engine in the exact regime: the closed recurrences, to the picosecond."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.analysis.recurrences import (
    Endpoint,
    Level,
    Link,
    direct_all_to_all,
    direct_exchange,
    hierarchical_all_reduce,
    hierarchical_all_to_all,
    one_message,
    packet_lines,
    ring_steps,
    stepwise,
)
from astra_py.collectives import Group, SystemModel, build_template
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns
from astra_py.engines.packet import PacketEngine
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.platforms import build_platform
from engine_cases import one_instance, run_packet
from oracle_cases import Case
from reference_sim import OUT_OF_BAND, Node, Op, Transport

rates = st.integers(10**8, 10**12)
delays = st.integers(1_000, 10**8)
latencies = st.sampled_from([0, 1, 300_000, 1_234_567])
payloads = st.sampled_from([64, 333, 1000, 1024, 2048, 4096, 9000])


def exact_case(
    nodes: Sequence[Node],
    wires: Sequence[tuple[int, int]],
    links: Sequence[Link],
    ends: Endpoint,
    ops: Sequence[Op] = (),
) -> Case:
    ranks = sum(node.rank >= 0 for node in nodes)
    return Case(
        name="exact",
        nodes=tuple(nodes),
        links=tuple((*wire, link.rate_bps, link.delay_ps) for wire, link in zip(wires, links, strict=True)),
        transport=Transport(
            payload=ends.payload,
            ack_policy=OUT_OF_BAND,
            send_latency_ps=ends.send_latency_ps,
            receive_latency_ps=ends.receive_latency_ps,
        ),
        ops=tuple(ops),
        join_ps=(0,) * ranks,
        group=tuple(range(ranks)),
        endpoint_delay_ps=ends.endpoint_delay_ps,
    )


def chain(links: Sequence[Link], latencies_ps: Sequence[int], ends: Endpoint, size: int) -> Case:
    """One message from rank 0 to rank 1 over ``links``."""
    h = len(links)
    nodes = [Node(0), Node(1), *(Node(-1, latency) for latency in latencies_ps)]
    way = [0, *range(2, h + 1), 1]
    wires = [(min(a, b), max(a, b)) for a, b in pairwise(way)]
    return exact_case(nodes, wires, links, ends, [Op(0, 1, size)])


def star(links: Sequence[Link], latency_ps: int, ends: Endpoint) -> Case:
    ranks = len(links)
    nodes = [*(Node(r) for r in range(ranks)), Node(-1, latency_ps)]
    return exact_case(nodes, [(r, ranks) for r in range(ranks)], links, ends)


def moments(columns: EngineColumns) -> tuple[int, int, int]:
    return (
        int(columns.message_sent_ps[0]),
        int(columns.message_delivered_ps[0]),
        int(columns.message_delivered_bytes[0]),
    )


@given(
    links=st.lists(st.builds(Link, rates, delays), min_size=1, max_size=6),
    latencies_ps=st.lists(latencies, min_size=5, max_size=5),
    payload=payloads,
    size=st.integers(0, 40_000),
    overheads=st.tuples(latencies, latencies),
)
def test_one_message(
    links: list[Link], latencies_ps: list[int], payload: int, size: int, overheads: tuple[int, int]
) -> None:
    ends = Endpoint(payload, *overheads)
    between = latencies_ps[: len(links) - 1]
    columns = run_packet(chain(links, between, ends, size))
    assert moments(columns) == (*one_message(size, ends, links, between), size)


@pytest.mark.parametrize("payload", [1000, 1024, 2048, 4096])
@pytest.mark.parametrize("packets", [0, 1, 5])
@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("h", [1, 2, 6])
def test_sizes_round_a_packet(payload: int, packets: int, extra: int, h: int) -> None:
    size = max(0, packets * payload + extra)
    links = [Link(100 * 10**9 // (1 + j % 2), 500_000) for j in range(h)]
    between, ends = [300_000] * (h - 1), Endpoint(payload)
    columns = run_packet(chain(links, between, ends, size))
    assert moments(columns) == (*one_message(size, ends, links, between), size)


def test_message_of_more_than_32_bits() -> None:
    links, ends, size = [Link(400 * 10**9, 500_000)], Endpoint(9000), 2**32 + 1
    assert moments(run_packet(chain(links, [], ends, size))) == (*one_message(size, ends, links, []), size)


def test_delays_from_a_nanosecond_to_ten_seconds() -> None:
    links, ends = [Link(10**9, 1_000), Link(10**12, 10 * 10**12)], Endpoint(4096)
    assert moments(run_packet(chain(links, [0], ends, 10_000))) == (*one_message(10_000, ends, links, [0]), 10_000)


@settings(max_examples=40)
@given(data=st.data(), ranks=st.integers(2, 17), size=st.integers(17, 60_000), payload=payloads)
def test_ring_all_reduce(data: st.DataObject, ranks: int, size: int, payload: int) -> None:
    links = data.draw(st.lists(st.builds(Link, rates, delays), min_size=ranks, max_size=ranks))
    latency = data.draw(latencies)
    ends = Endpoint(payload, *(data.draw(latencies) for _ in range(3)))
    template = build_template("all_reduce", "ring", ranks, size)
    columns = run_packet(star(links, latency, ends), template)

    peers, sizes = ring_steps(ranks, size)
    expected = stepwise(peers, sizes, ends, links, links, latency)
    delivered: dict[int, list[int]] = {rank: [] for rank in range(ranks)}
    for src, time in zip(columns.message_src.tolist(), columns.message_delivered_ps.tolist(), strict=True):
        delivered[src].append(time)
    assert [sorted(delivered[rank]) for rank in range(ranks)] == [list(times) for times in zip(*expected, strict=True)]
    assert columns.end_ps == max(map(max, expected)) + ends.endpoint_delay_ps


@settings(max_examples=40)
@given(
    ranks=st.integers(2, 17),
    part=st.integers(1, 6_000),
    payload=payloads,
    link=st.builds(Link, rates, delays),
    latency=latencies,
    overheads=st.tuples(latencies, latencies, latencies),
)
def test_direct_all_to_all(
    ranks: int, part: int, payload: int, link: Link, latency: int, overheads: tuple[int, int, int]
) -> None:
    ends = Endpoint(payload, *overheads)
    template = build_template("all_to_all", "direct", ranks, ranks * part)
    columns = run_packet(star([link] * ranks, latency, ends), template)

    expected = direct_all_to_all(ranks, ranks * part, ends, link, link, latency)
    distance = (columns.message_dst - columns.message_src - 1) % ranks
    assert columns.message_delivered_ps.tolist() == [expected[d] for d in distance.tolist()]
    assert len(columns.message_src) == ranks * (ranks - 1)


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["all_reduce", "reduce_scatter", "all_gather"]),
    ranks=st.integers(2, 17),
    part=st.integers(1, 6_000),
    payload=payloads,
    link=st.builds(Link, rates, delays),
    latency=latencies,
    overheads=st.tuples(latencies, latencies, latencies),
)
def test_direct_exchanges_of_segments(
    kind: str, ranks: int, part: int, payload: int, link: Link, latency: int, overheads: tuple[int, int, int]
) -> None:
    ends = Endpoint(payload, *overheads)
    columns = run_packet(star([link] * ranks, latency, ends), build_template(kind, "direct", ranks, ranks * part))

    lines, start, expected = packet_lines(part, payload), ends.endpoint_delay_ps, []
    for _ in range(2 if kind == "all_reduce" else 1):
        expected += direct_exchange(lines, ranks - 1, start, ends, link, link, latency)
        start = max(expected) + ends.endpoint_delay_ps
    for rank in range(ranks):
        assert sorted(columns.message_delivered_ps[columns.message_src == rank].tolist()) == sorted(expected)
    assert columns.end_ps == start


SHAPES = [(n, local) for n in range(1, 18) for local in range(1, 18) if 2 <= n * local <= 17]


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["all_reduce", "all_to_all"]),
    algorithms=st.tuples(*[st.sampled_from(["ring", "direct"])] * 2),
    shape=st.sampled_from(SHAPES),
    part=st.integers(1, 3_000),
    payload=payloads,
    rates_gbps=st.tuples(st.integers(1, 4_000), st.integers(1, 800)),
    delays_ps=st.tuples(delays, delays),
    efficiency_ppm=st.integers(500_000, 1_000_000),
    latency=latencies,
    overheads=st.tuples(latencies, latencies, latencies),
)
def test_hierarchical(
    kind: str,
    algorithms: tuple[str, str],
    shape: tuple[int, int],
    part: int,
    payload: int,
    rates_gbps: tuple[int, int],
    delays_ps: tuple[int, int],
    efficiency_ppm: int,
    latency: int,
    overheads: tuple[int, int, int],
) -> None:
    """Machines with all NICs on one leaf switch, so that no two flows meet."""
    machines, local = shape
    ranks, ends = machines * local, Endpoint(payload, *overheads)
    size = ranks * part
    scenario = load_scenario(
        {
            "platform": {
                "kind": "zionex",
                "nodes": machines,
                "accelerators_per_node": local,
                "ranks_per_leaf": ranks,
                "spines": 1,
                "link_rate": f"{rates_gbps[1]}Gbps",
                "link_delay": f"{delays_ps[1]}ps",
                "switch_latency": f"{latency}ps",
                "scale_up": {
                    "rate": f"{rates_gbps[0]}Gbps",
                    "latency": f"{delays_ps[0]}ps",
                    "efficiency": efficiency_ppm / 10**6,
                },
            },
            "transport": {
                "ack": "out_of_band",
                "payload": f"{payload}B",
                "send_latency": f"{overheads[0]}ps",
                "receive_latency": f"{overheads[1]}ps",
            },
            "system": {"endpoint_delay": f"{overheads[2]}ps"},
        }
    )
    platform = build_platform(scenario.platform)
    group = Group(tuple(range(ranks)), platform.arrays().rank_machine)
    system = SystemModel(all_reduce_inside=algorithms[0], all_reduce_between=algorithms[1])
    template = build_template(kind, "hierarchical", group, size, system)
    columns = PacketEngine().run(
        one_instance(template, range(ranks), [0] * ranks), platform, transport_model(scenario), engine_options(scenario)
    )

    inside = Level(Link(rates_gbps[0] * 10**9, delays_ps[0]), 0, efficiency_ppm)
    between = Level(Link(rates_gbps[1] * 10**9, delays_ps[1]), latency)
    if kind == "all_reduce":
        levels = (algorithms[0], inside), (algorithms[1], between)
        expected = hierarchical_all_reduce(machines, local, size, ends, *levels)
    else:
        expected = hierarchical_all_to_all(machines, local, size, ends, inside, between)
    phase = template.phase[columns.message_op]
    last = [int(columns.message_delivered_ps[phase == p].max()) for p in sorted(set(phase.tolist()))]
    assert [time + ends.endpoint_delay_ps for time in last] == expected
    assert columns.end_ps == expected[-1]
