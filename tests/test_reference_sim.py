# SPDX-License-Identifier: GPL-2.0-only
"""The oracle itself: against the closed recurrences, and each of its rules on a case small enough to do by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.analysis.recurrences import (
    Endpoint,
    Link,
    advance,
    direct_all_to_all,
    equal_rates,
    halving_doubling_steps,
    one_message,
    packet_lines,
    ring_steps,
    serialisation_ps,
    stepwise,
)
from reference_port import Channel, Node
from reference_roce import ACKED, DELIVERED, EVERY, OUT_OF_BAND, PER_MESSAGE, SENT, Transport
from reference_sim import Op, Route, Simulator

GBPS = 10**9
rates = st.integers(10**8, 10**12)
delays = st.integers(1_000, 10**8)
latencies = st.sampled_from([0, 1, 300_000, 1_234_567])


def chain(links: Sequence[Link], latencies_ps: Sequence[int]) -> tuple[list[Node], list[Channel], Route]:
    """Rank 0, switches, rank 1; the way back has the same figures."""
    h = len(links)
    nodes = [Node(0), *(Node(-1, s) for s in latencies_ps), Node(1)]
    channels = [Channel(j, j + 1, links[j].rate_bps, links[j].delay_ps) for j in range(h)]
    channels += [Channel(j + 1, j, links[j].rate_bps, links[j].delay_ps) for j in range(h)]
    there, back = range(h), range(2 * h - 1, h - 1, -1)
    return nodes, channels, lambda src, dst, qp: there if src == 0 else back


def star(up: Sequence[Link], down: Sequence[Link], latency_ps: int) -> tuple[list[Node], list[Channel], Route]:
    """Ranks on one switch: channel 2 r goes up from rank r, 2 r + 1 down to it."""
    ranks = len(up)
    nodes = [*(Node(r) for r in range(ranks)), Node(-1, latency_ps)]
    channels = []
    for r in range(ranks):
        channels += [Channel(r, ranks, up[r].rate_bps, up[r].delay_ps)]
        channels += [Channel(ranks, r, down[r].rate_bps, down[r].delay_ps)]
    return nodes, channels, lambda src, dst, qp: (2 * src, 2 * dst + 1)


def even_star(ranks: int, latency_ps: int = 0) -> tuple[list[Node], list[Channel], Route]:
    """80 Gb/s, a byte every 100 ps, and links of 1 us."""
    links = [Link(80 * GBPS, 1_000_000)] * ranks
    return star(links, links, latency_ps)


def run_stepwise(
    platform: tuple[list[Node], list[Channel], Route],
    ends: Endpoint,
    peers: Sequence[Sequence[int]],
    sizes: Sequence[Sequence[int]],
) -> list[list[int | None]]:
    """Delivery times [step][sender] of the oracle."""
    ranks = len(peers[0])
    ops: list[Op] = []
    for step, (step_peers, step_sizes) in enumerate(zip(peers, sizes, strict=True)):
        for rank in range(ranks):
            before = [(step - 1) * ranks + r for r in range(ranks) if step and peers[step - 1][r] == rank]
            deps = tuple((op, DELIVERED) for op in before)
            ops.append(Op(rank, step_peers[rank], step_sizes[rank], deps=deps))
    delivered = Simulator(*platform, transport(ends), ops, [0] * ranks, ends.endpoint_delay_ps).run().delivered
    return [delivered[k : k + ranks] for k in range(0, len(ops), ranks)]


def transport(ends: Endpoint) -> Transport:
    return Transport(
        payload=ends.payload,
        ack_policy=OUT_OF_BAND,
        send_latency_ps=ends.send_latency_ps,
        receive_latency_ps=ends.receive_latency_ps,
    )


@given(
    links=st.lists(st.builds(Link, rates, delays), min_size=1, max_size=6),
    latencies_ps=st.lists(latencies, min_size=5, max_size=5),
    payload=st.sampled_from([64, 333, 1000, 1024, 4096, 9000]),
    size=st.integers(0, 20_000),
    overheads=st.tuples(latencies, latencies),
)
def test_one_message_follows_the_recurrence(
    links: list[Link], latencies_ps: list[int], payload: int, size: int, overheads: tuple[int, int]
) -> None:
    ends = Endpoint(payload, *overheads)
    between = latencies_ps[: len(links) - 1]
    sim = Simulator(*chain(links, between), transport(ends), [Op(0, 1, size)], [0, 0]).run()
    assert (sim.sent[0], sim.delivered[0]) == one_message(size, ends, links, between)
    assert sim.delivered[0] is not None
    back = sum(link.delay_ps for link in links) + sum(between)
    assert sim.acked[0] == sim.delivered[0] - ends.receive_latency_ps + back


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 8192, 100_001])
@pytest.mark.parametrize("h", range(1, 7))
def test_recurrence_has_its_closed_form_at_equal_rates(h: int, size: int) -> None:
    lines = packet_lines(size, 4096)
    links = [Link(100 * GBPS, 1_000 * (j + 1)) for j in range(h)]
    _, arrived = advance(0, lines, links, [300_000] * (h - 1), [0] * h)
    assert arrived == equal_rates(lines, 100 * GBPS, [link.delay_ps for link in links], 300_000)


@settings(max_examples=40)
@given(
    data=st.data(), ranks=st.integers(2, 17), size=st.integers(0, 60_000), payload=st.sampled_from([333, 1000, 4096])
)
def test_ring_follows_the_recurrence(data: st.DataObject, ranks: int, size: int, payload: int) -> None:
    one_way = st.lists(st.builds(Link, rates, delays), min_size=ranks, max_size=ranks)
    up, down, latency = data.draw(one_way), data.draw(one_way), data.draw(latencies)
    ends = Endpoint(payload, *(data.draw(latencies) for _ in range(3)))
    steps = ring_steps(ranks, size)
    assert run_stepwise(star(up, down, latency), ends, *steps) == stepwise(*steps, ends, up, down, latency)


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_halving_doubling_follows_the_recurrence(ranks: int) -> None:
    links = [Link(100 * GBPS, 500_000)] * ranks
    ends = Endpoint(1000, 7_000, 11_000, 13_000)
    steps = halving_doubling_steps(ranks, ranks * 5_001)
    assert run_stepwise(star(links, links, 300_000), ends, *steps) == stepwise(*steps, ends, links, links, 300_000)


@settings(max_examples=40)
@given(
    ranks=st.integers(2, 17),
    part=st.integers(0, 6_000),
    payload=st.sampled_from([333, 1000, 4096]),
    up=st.builds(Link, rates, delays),
    down=st.builds(Link, rates, delays),
    latency=latencies,
    qps=st.integers(0, 2),
)
def test_direct_follows_the_recurrence(
    ranks: int, part: int, payload: int, up: Link, down: Link, latency: int, qps: int
) -> None:
    ends = Endpoint(payload, 7_000, 11_000, 13_000)
    ops = [Op(r, (r + k) % ranks, part) for r in range(ranks) for k in range(1, ranks)]
    platform = star([up] * ranks, [down] * ranks, latency)
    figures = Transport(payload=payload, ack_policy=OUT_OF_BAND, qps_per_peer=qps, send_latency_ps=7_000,
                        receive_latency_ps=11_000)  # fmt: skip
    sim = Simulator(*platform, figures, ops, [0] * ranks, 13_000).run()
    assert sim.delivered == direct_all_to_all(ranks, ranks * part, ends, up, down, latency) * ranks


# Rule by rule, at a byte every 100 ps. 902 B are padded to 904: 1,002 B on the line first in a message, 986 B later.
FULL = 902
FIRST, LATER, ACK, HOP = 100_200, 98_600, 8_600, 1_000_000


def run(ops: Sequence[Op], ranks: int = 2, latency_ps: int = 0, **figures: object) -> Simulator:
    sim = Simulator(*even_star(ranks, latency_ps), Transport(payload=FULL, **figures), ops, [0] * ranks)  # type: ignore[arg-type]
    return sim.run()


def test_frames_have_their_bytes() -> None:
    sim = run([Op(0, 1, 2 * FULL), Op(0, 1, 0)])
    assert [(port.frames, port.line_bytes) for port in sim.ports[:2]] == [(3, 1002 + 986 + 98), (3, 3 * 86)]
    assert [(port.frames, port.line_bytes) for port in sim.ports[2:]] == [(3, 3 * 86), (3, 1002 + 986 + 98)]
    assert serialisation_ps(1002, 80 * GBPS) == FIRST


def test_ack_is_made_by_the_last_byte_and_comes_back_the_same_way() -> None:
    sim = run([Op(0, 1, FULL)], latency_ps=300_000)
    assert sim.sent == [FIRST]
    assert sim.delivered == [2 * (FIRST + HOP) + 300_000]
    assert sim.acked == [2 * (FIRST + HOP) + 300_000 + 2 * (ACK + HOP) + 300_000]


def test_ack_goes_before_waiting_data_but_not_before_a_frame_under_way() -> None:
    # The ACK waits for the frame under way at rank 1, and then for the same frame on the way down to rank 0.
    sim = run([Op(0, 1, FULL), Op(1, 0, 40 * FULL)])
    later = -(-(2 * (FIRST + HOP) - FIRST) // LATER)
    assert sim.acked[0] == 2 * FIRST + later * LATER + ACK + 2 * HOP
    assert sim.sent[1] == FIRST + 39 * LATER + ACK


def test_shared_class_makes_the_ack_wait_behind_data_in_the_switch() -> None:
    # Ranks 1 and 2 fill the way down to rank 0, where the ACKs of rank 0's own message wait for their turn.
    ops = [Op(1, 0, 40 * FULL), Op(2, 0, 40 * FULL), Op(0, 1, FULL)]
    own, shared = run(ops, 3), run(ops, 3, is_ack_class_shared=True)
    assert own.acked[2] is not None
    assert shared.acked[2] is not None
    assert shared.acked[2] - own.acked[2] > 5 * LATER


@pytest.mark.parametrize(("policy", "every", "acks"), [(EVERY, 4, 3 + 1), (EVERY, 1, 11 + 1), (PER_MESSAGE, 1, 1 + 1)])
def test_ack_policies_count(policy: str, every: int, acks: int) -> None:
    # Messages of 11 packets and of 1: every fourth and the last of each.
    sim = run([Op(0, 1, 11 * FULL), Op(0, 1, 1)], ack_policy=policy, ack_every=every)
    assert sim.ports[2].frames == acks
    assert None not in sim.acked


def test_every_counts_from_the_last_ack_of_whatever_reason() -> None:
    assert run([Op(0, 1, 3 * FULL)] * 2, ack_policy=EVERY, ack_every=4).ports[2].frames == 2


@pytest.mark.parametrize(("window", "in_flight"), [(1, 1), (FULL, 1), (FULL + 1, 2), (2 * FULL, 2)])
def test_window_may_be_exceeded_by_less_than_a_packet(window: int, in_flight: int) -> None:
    sim = run([Op(0, 1, 4 * FULL)], window=window)
    first_ack = 2 * (FIRST + HOP) + 2 * (ACK + HOP)
    if in_flight == 1:
        assert sim.sent[0] == first_ack + 2 * (2 * (LATER + HOP) + 2 * (ACK + HOP)) + LATER
    else:
        assert sim.sent[0] == first_ack + 2 * LATER


@pytest.mark.parametrize("policy", [EVERY, PER_MESSAGE])
def test_packet_that_fills_the_window_asks_for_its_ack(policy: str) -> None:
    # The window holds two packets; an ACK for the second makes room for two more.
    sim = run([Op(0, 1, 6 * FULL)], ack_policy=policy, ack_every=9, window=2 * FULL)
    assert sim.acked[0] is not None
    assert sim.ports[2].frames == 3


def test_queue_pairs_take_turns_from_own_plus_one() -> None:
    # Rank 1 of 4: the turns are 2, 3, 0; then only 3 and 0 have a second packet.
    sim = run([Op(1, 0, 2 * FULL), Op(1, 3, 2 * FULL), Op(1, 2, FULL)], 4)
    assert sim.sent == [3 * FIRST + 2 * LATER, 3 * FIRST + LATER, FIRST]


def test_messages_go_round_robin_over_the_queue_pairs() -> None:
    # 0 and 2 share a queue pair, so 1 ends before 2 starts its second packet.
    ops = [Op(0, 1, FULL), Op(0, 1, 2 * FULL), Op(0, 1, 2 * FULL)]
    assert run(ops, qps_per_peer=2).sent == [FIRST, 3 * FIRST + LATER, 3 * FIRST + 2 * LATER]
    assert run(ops, qps_per_peer=1).sent == [FIRST, 2 * FIRST + LATER, 3 * FIRST + 2 * LATER]
    assert run(ops, qps_per_peer=0).sent == [FIRST, 3 * FIRST + LATER, 3 * FIRST + 2 * LATER]


@pytest.mark.parametrize("latency_ps", [0, 300_000])
def test_simultaneous_arrivals_go_on_in_order_of_their_channels(latency_ps: int) -> None:
    sim = run([Op(2, 0, FULL), Op(1, 0, FULL)], 3, latency_ps)
    assert sim.delivered == [2 * (FIRST + HOP) + latency_ps + FIRST, 2 * (FIRST + HOP) + latency_ps]


def line_of_ranks() -> tuple[list[Node], list[Channel], Route]:
    """Rank 1 passes on what goes between 0 and 2; channels 0 and 1 join 0 to 1, 2 and 3 join 1 to 2."""
    ends = [(0, 1), (1, 0), (1, 2), (2, 1)]
    ways = {(0, 1): (0,), (1, 0): (1,), (1, 2): (2,), (2, 1): (3,), (0, 2): (0, 2), (2, 0): (3, 1)}
    channels = [Channel(tx, rx, 80 * GBPS, HOP) for tx, rx in ends]
    return [Node(0), Node(1, 7), Node(2)], channels, lambda src, dst, qp: ways[src, dst]


def test_rank_passes_on_before_it_sends_its_own() -> None:
    ops = [Op(0, 2, FULL), Op(1, 2, 40 * FULL)]
    sim = Simulator(*line_of_ranks(), Transport(payload=FULL, ack_policy=OUT_OF_BAND), ops, [0] * 3).run()
    later = -(-(HOP + 7) // LATER)
    assert sim.delivered == [FIRST + later * LATER + FIRST + HOP, FIRST + 39 * LATER + FIRST + HOP]


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize(("left", "right", "ack_wait", "data_wait"), [(0, 2, FIRST, 0), (2, 0, 0, ACK)])
def test_idle_rank_serves_what_comes_by_the_lower_channel(
    is_shared: bool, left: int, right: int, ack_wait: int, data_wait: int
) -> None:
    # Two last bytes reach rank 1 at once: of data to be passed on from left to right, and of a message from the right.
    _, channels, route = line_of_ranks()
    figures = Transport(payload=FULL, is_ack_class_shared=is_shared)
    ops = [Op(left, right, FULL), Op(right, 1, FULL)]
    sim = Simulator([Node(0), Node(1), Node(2)], channels, route, figures, ops, [0] * 3).run()
    assert sim.acked[1] == FIRST + HOP + ack_wait + ACK + HOP
    assert sim.delivered[0] == FIRST + HOP + data_wait + FIRST + HOP


@pytest.mark.parametrize("is_shared", [False, True])
def test_rank_sends_its_ack_before_what_waits_to_be_passed_on(is_shared: bool) -> None:
    # Rank 1's own frame for rank 2 is under way when, first, data for rank 2 comes by and, then, rank 2's message.
    nodes, channels, route = line_of_ranks()
    ops = [Op(1, 2, FULL), Op(0, 2, FULL), Op(2, 1, FULL)]
    join = [FIRST // 4, FIRST + HOP, FIRST // 3]
    figures = Transport(payload=FULL, is_ack_class_shared=is_shared)
    sim = Simulator(nodes, channels, route, figures, ops, join).run()
    assert sim.acked[2] == join[1] + FIRST + ACK + HOP
    assert sim.delivered[1] == join[1] + FIRST + ACK + FIRST + HOP


def test_rank_passes_on_acks_of_a_shared_class_in_turn_with_data() -> None:
    # The ACK for rank 2's message follows rank 0's data to rank 1, whose own frame is under way: which goes on first?
    ops = [Op(2, 0, FULL), Op(0, 2, 40 * FULL), Op(1, 2, 60 * FULL)]
    own, shared = (
        Simulator(*line_of_ranks(), Transport(payload=FULL, is_ack_class_shared=is_shared), ops, [0] * 3).run().acked[0]
        for is_shared in (False, True)
    )
    assert own is not None
    assert shared is not None
    assert (shared - own) % LATER == 0
    assert shared > own


@pytest.mark.parametrize(
    ("data_from", "ack_from", "is_data_queued", "wait"), [(1, 2, False, FIRST), (2, 1, False, 0), (1, 2, True, 0)]
)
def test_port_whose_frame_leaves_now_is_idle_unless_more_is_queued(
    data_from: int, ack_from: int, is_data_queued: bool, wait: int
) -> None:
    # As the first data frame leaves the switch for rank 0, the second one and an ACK reach it.
    ops = [Op(data_from, 0, FULL), Op(data_from, 0, FULL), Op(0, ack_from, FULL)]
    join = [0, 0, 0, 2 * HOP + ACK + FIRST // 2]
    join[data_from] = 2 * HOP + ACK
    if is_data_queued:
        ops.append(Op(3, 0, FULL))
    sim = Simulator(*even_star(4), Transport(payload=FULL), ops, join).run()
    assert sim.acked[2] == 2 * (FIRST + HOP) + (ACK + HOP) + wait + ACK + HOP


def test_frames_of_one_channel_take_their_places_as_they_arrived() -> None:
    # Rank 1 passes rank 0's data on after as long as an empty message takes; the ACK for that one goes by rank 2 too.
    line, channels, route = line_of_ranks()
    nodes = [line[0], Node(1, 9_800), line[2]]
    channels.append(Channel(2, 0, 80 * GBPS, HOP))
    ops = [Op(0, 2, FULL), Op(0, 1, 0, deps=((0, SENT),))]
    detour = lambda src, dst, qp: (2, 4) if (src, dst) == (1, 0) else route(src, dst, qp)  # noqa: E731
    sim = Simulator(nodes, channels, detour, Transport(payload=FULL), ops, [0] * 3).run()
    assert sim.delivered == [2 * (FIRST + HOP) + 9_800, FIRST + 9_800 + HOP]
    assert sim.acked[1] == 2 * (FIRST + HOP) + 9_800 + 2 * ACK + HOP


def test_what_follows_after_no_time_goes_before_timers() -> None:
    ops = [Op(1, 0, FULL), Op(0, duration_ps=2 * (FIRST + HOP))]
    ops += [Op(0, 1, FULL, deps=((1, SENT),)), Op(0, 1, FULL, deps=((0, DELIVERED),))]
    sim = run(ops)
    assert sim.posted[2] == sim.posted[3] == sim.delivered[0]
    assert sim.sent[2] == sim.sent[3] + FIRST  # type: ignore[operator]


def test_dependants_learn_late_of_all_but_sent() -> None:
    ops = [Op(0, 1, FULL), *(Op(0, 1, 0, deps=((0, moment),)) for moment in (SENT, DELIVERED, ACKED))]
    ops += [Op(1, duration_ps=500, deps=((0, DELIVERED),)), Op(1, 0, 0, deps=((4, SENT),))]
    sim = Simulator(*even_star(2), Transport(payload=FULL, notify_on=ACKED), ops, [0, 100], 10).run()
    assert sim.sent[0] == 10 + FIRST
    assert sim.delivered[0] == 10 + 2 * (FIRST + HOP)
    assert sim.posted[1:4] == [sim.sent[0], sim.delivered[0] + 10, sim.acked[0] + 10]  # type: ignore[operator]
    assert sim.posted[4:] == [sim.delivered[0] + 10, sim.delivered[0] + 510]
    assert sim.end_ps[1] == max(t for t in sim.acked[:4] if t is not None) + 10


def test_rank_that_joins_late_starts_late() -> None:
    sim = Simulator(*even_star(2), Transport(payload=FULL), [Op(0, 1, 0), Op(1, 0, 0)], [0, 5 * HOP], 10).run()
    assert sim.posted == [10, 5 * HOP + 10]
    assert sim.end_ps == [sim.delivered[1] + 10, 5 * HOP + 10 + 9_800]  # type: ignore[operator]


@pytest.mark.parametrize(("line_bytes", "ns"), [(1036, 21), (48, 1), (108, 2), (228, 5)])
def test_whole_nanoseconds_are_the_nearest(line_bytes: int, ns: int) -> None:
    links = [Link(400 * GBPS, 1_000)] * 2
    figures = Transport(payload=9_000, header=0, ack_policy=OUT_OF_BAND, is_ns_nearest=True)
    sim = Simulator(*star(links, links, 0), figures, [Op(0, 1, line_bytes)], [0, 0]).run()
    assert sim.sent == [ns * 1_000]
