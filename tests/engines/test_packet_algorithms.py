# SPDX-License-Identifier: GPL-2.0-only
"""Every algorithm on the packet engine to the picosecond: against the oracle, and a recurrence where one holds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from astra_py.analysis.recurrences import Endpoint, Link, halving_doubling_steps, stepwise
from astra_py.collectives import Group, SystemModel, Template, algorithm_names, build_template
from astra_py.collectives.partition import equal_matrix
from astra_py.engines.routes import route_paths
from astra_py.errors import ConfigError
from astra_py.workloads import COLLECTIVE_KINDS
from collective_cases import CHOSEN_AT_ISSUE
from engine_cases import platform_of, run_packet
from oracle_cases import Case
from reference_sim import OUT_OF_BAND, Node, Op, Transport

ALGORITHMS = [
    (kind, name) for kind in COLLECTIVE_KINDS for name in algorithm_names(kind) if name not in CHOSEN_AT_ISSUE
]


def star(ranks: int, link: Link, latency_ps: int, transport: Transport, endpoint_delay_ps: int, ops: list[Op]) -> Case:
    """All ranks at one switch, as one group; all join at once."""
    return Case(
        name="star",
        nodes=(*(Node(rank) for rank in range(ranks)), Node(-1, latency_ps)),
        links=tuple((rank, ranks, link.rate_bps, link.delay_ps) for rank in range(ranks)),
        transport=transport,
        ops=tuple(ops),
        join_ps=(0,) * ranks,
        group=tuple(range(ranks)),
        endpoint_delay_ps=endpoint_delay_ps,
    )


def ops_of(template: Template) -> list[Op]:
    """The template's operations as the oracle takes them."""
    edges = [*zip(template.dep_op.tolist(), template.dep_on.tolist(), strict=True)]
    rows = [tuple(edges[a:b]) for a, b in pairwise(template.dep_ptr.tolist())]
    columns = (template.src, template.dst, template.size_bytes, template.duration_ps, template.is_send)
    return [
        Op(src, dst if is_send else None, size if is_send else 0, duration, deps)
        for src, dst, size, duration, is_send, deps in zip(*(c.tolist() for c in columns), rows, strict=True)
    ]


@pytest.mark.parametrize("ranks", [2, 5, 6, 8])
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS)
def test_every_algorithm_as_the_oracle_has_it(kind: str, algorithm: str, ranks: int) -> None:
    """Uneven segments, acknowledgements on the wire, reductions that take time."""
    if kind == "sendrecv" and ranks > 2:
        pytest.skip("sendrecv has two ranks")
    size = 0 if kind == "barrier" else 9_001
    system = SystemModel(local_memory_bandwidth_bps=10**12, piece_bytes=3_000, endpoint_delay_ps=7_000)
    group = Group(tuple(range(ranks)), np.arange(ranks, dtype=np.int32) * 2 // ranks)
    payload = equal_matrix(size, ranks) if kind == "all_to_all_v" else size
    try:
        template = build_template(kind, algorithm, group, payload, system)
    except ConfigError as error:
        pytest.skip(str(error))
    case = star(ranks, Link(10**11, 500_000), 300_000, Transport(payload=1024), 7_000, ops_of(template))

    def route(src: int, dst: int, qp: int) -> list[int]:
        _, channels = route_paths(platform_of(case), 1, np.array([src]), np.array([dst]), np.array([qp]))
        return [int(channel) for channel in channels]

    oracle, columns = case.simulate(route), run_packet(case, template)
    is_send = template.is_send
    found = dict(zip(columns.message_op.tolist(), columns.message_delivered_ps.tolist(), strict=True))
    assert found == {op: oracle.delivered[op] for op in np.flatnonzero(is_send).tolist()}
    acked = dict(zip(columns.message_op.tolist(), columns.message_acked_ps.tolist(), strict=True))
    assert acked == {op: oracle.acked[op] for op in np.flatnonzero(is_send).tolist()}
    assert columns.op_end_ps[1::2].tolist() == [oracle.end_ps[rank] for rank in range(ranks)]


@pytest.mark.parametrize("size", [1_000_000, 1_000_001, 123_457, 16])
@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_halving_doubling_follows_the_recurrence(ranks: int, size: int) -> None:
    """Of a power of two of ranks: else the messages of several ranks meet at those that stand in for two."""
    link, latency, ends = Link(10**11, 500_000), 300_000, Endpoint(4096, 11_000, 13_000, 10_000)
    transport = Transport(payload=4096, ack_policy=OUT_OF_BAND, send_latency_ps=11_000, receive_latency_ps=13_000)
    template = build_template("all_reduce", "halving_doubling", ranks, size)
    columns = run_packet(star(ranks, link, latency, transport, 10_000, []), template)
    expected = stepwise(*halving_doubling_steps(ranks, size), ends, [link] * ranks, [link] * ranks, latency)
    delivered: dict[int, list[int]] = {rank: [] for rank in range(ranks)}
    for src, time in zip(columns.message_src.tolist(), columns.message_delivered_ps.tolist(), strict=True):
        delivered[src].append(time)
    assert [sorted(delivered[rank]) for rank in range(ranks)] == [list(times) for times in zip(*expected, strict=True)]
    assert columns.end_ps == max(map(max, expected)) + ends.endpoint_delay_ps


@pytest.mark.parametrize("ranks", range(2, 18))
def test_halving_doubling_sends_what_its_recurrence_has(ranks: int) -> None:
    """Peers and sizes step by step, for every number of ranks."""
    template = build_template("all_reduce", "halving_doubling", ranks, 100_003)
    peers, sizes = halving_doubling_steps(ranks, 100_003)
    expected = [
        (rank, step_peers[rank], step_sizes[rank])
        for step_peers, step_sizes in zip(peers, sizes, strict=True)
        for rank in range(ranks)
        if step_peers[rank] >= 0
    ]
    columns = (template.src, template.dst, template.size_bytes)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == sorted(expected)
