# SPDX-License-Identifier: GPL-2.0-only
"""The oracle's pauses, marks, drops, losses and repetitions, each on a case small enough to do by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from reference_port import Channel, Node
from reference_roce import OUT_OF_BAND, PER_MESSAGE, SENT, QueuePair, Transport
from reference_sim import Op, Simulator
from reference_switch import LOSS, MARK, Buffer, Switch, draw, mix64

# At 80 Gb/s a byte takes 100 ps. 902 B are padded to 904: 1,002 B on the line first in a message, 986 B later, of which
# a buffer counts 982 and 966. Ranks far away have links of a tenth of the rate: a frame waits there for ten.
FAST, SLOW = 80 * 10**9, 8 * 10**9
FULL = 902
FIRST, LATER, ACK, PAUSE, QUANTUM, HOP = 100_200, 98_600, 8_600, 8_400, 6_400, 1_000_000
FIRST_BYTES, LATER_BYTES = 982, 966
AT_SWITCH = FIRST + HOP
NEVER = 10**12


def run(
    ops: Sequence[Op],
    switch: Switch,
    rates: Sequence[int] = (FAST, FAST),
    loss: float = 0.0,
    seed: int = 1,
    **figures: object,
) -> Simulator:
    """Ranks on one switch: channel 2 r goes up from rank r, 2 r + 1 down to it; ``loss`` is that of rank 0's link."""
    ranks = len(rates)
    nodes = [*(Node(r) for r in range(ranks)), Node()]
    ends = [pair for r in range(ranks) for pair in ((r, ranks), (ranks, r))]
    channels = [Channel(*pair, rates[min(pair)], HOP, loss=0.0 if min(pair) else loss) for pair in ends]
    transport = Transport(**({"payload": FULL, "ack_policy": OUT_OF_BAND, "cnp_interval_ps": NEVER} | figures))  # type: ignore[arg-type]
    way = lambda src, dst, qp: (2 * src, 2 * dst + 1)  # noqa: E731
    return Simulator(nodes, channels, way, transport, ops, [0] * ranks, switch=switch, seed=seed).run()


def buffer(shared: int, ranks: int = 2, priorities: int = 2, **figures: object) -> Switch:
    """A buffer with so much that is shared, beside a reserve of a first frame and a headroom of ten later ones."""
    own = {"reserve": FIRST_BYTES, "headroom": 10 * LATER_BYTES, "lossless_mask": 255} | figures
    switch = Switch(**own)  # type: ignore[arg-type]
    lossless = sum(switch.is_lossless(q) for q in range(priorities))
    size = shared + ranks * (priorities * switch.reserve + lossless * switch.headroom)
    return Switch(buffer=size, **own)  # type: ignore[arg-type]


LOSS_RATE = 0.2


def seed_that_loses(*numbers: int, channel: int = 0) -> int:
    """Return a seed that loses just these of the first nine frames of a channel of rank 0's link, none of the other."""
    below = int(LOSS_RATE * 2**64)
    frames = [(c, n) for n in range(9) for c in (0, 1)]
    expected = [c == channel and n in numbers for c, n in frames]
    return next(seed for seed in count() if [draw(seed, LOSS, c, n) < below for c, n in frames] == expected)


# Pauses. With nothing shared the first frame pauses, while the next ones follow it through the switch.
EFFECT = AT_SWITCH + PAUSE + HOP + 60 * QUANTUM
BEFORE_EFFECT = 2 + (EFFECT - FIRST - 1) // LATER  # packets that start before
LAST_LEAVES = AT_SWITCH + FIRST + (BEFORE_EFFECT - 1) * LATER
RESUMED = LAST_LEAVES + PAUSE + HOP + 60 * QUANTUM


def test_pause_acts_a_response_time_after_it_came_and_resume_too() -> None:
    sim = run([Op(0, 1, (BEFORE_EFFECT + 1) * FULL)], buffer(0))
    assert sim.pauses[0] == [EFFECT, 0, 0, RESUMED]
    assert sim.sent == [RESUMED + LATER]
    assert sim.delivered == [RESUMED + 2 * (LATER + HOP)]


def test_nothing_is_paused_where_all_has_left_before_the_effect() -> None:
    sim = run([Op(0, 1, FULL)], buffer(0))
    assert [port.frames for port in sim.ports] == [1, 2, 0, 1]  # PAUSE and RESUME
    assert [port.line_bytes for port in sim.ports] == [1002, 2 * 84, 0, 1002]
    assert sim.pauses == [[EFFECT, 0, 0, EFFECT + FIRST]]


@pytest.mark.parametrize("quanta", [0, 1, 500])
def test_response_time_is_settable(quanta: int) -> None:
    sim = run([Op(0, 1, FULL)], buffer(0, response_quanta=quanta))
    assert sim.pauses[0][0] == AT_SWITCH + PAUSE + HOP + quanta * QUANTUM


def test_pause_ends_after_its_quanta_where_the_next_one_is_late() -> None:
    # Four quanta, refreshed each two; but a frame for rank 0 keeps the refreshes waiting.
    ops = [Op(0, 1, 40 * FULL), Op(1, 0, 40 * FULL)]
    sim = run(ops, buffer(0, pause_quanta=4, headroom=10**5))
    first, second = [pause for pause in sim.pauses if pause[1] == 0][:2]
    assert first == [EFFECT, 0, 0, EFFECT + 4 * QUANTUM]
    assert second[0] == EFFECT + FIRST + PAUSE


def test_refreshes_prolong_a_pause() -> None:
    # Rank 0 has nothing left at the effect, but all of it is in the switch until the slow rank 1 has it.
    switch = buffer(0, headroom=10**5, pause_quanta=100)
    sim = run([Op(0, 1, BEFORE_EFFECT * FULL)], switch, (FAST, SLOW))
    held = 10 * (FIRST + (BEFORE_EFFECT - 1) * LATER)
    assert sim.pauses == [[EFFECT, 0, 0, EFFECT + held]]
    assert sim.ports[1].frames == 1 + held // (50 * QUANTUM) + 1


def test_pause_stops_its_own_priority_only() -> None:
    # Priority 3 comes while 0 is paused, and goes at once, although the NIC has much of 0.
    later = EFFECT + LATER
    ops = [Op(0, 1, 40 * FULL), Op(0, duration_ps=later, priority=3), Op(0, 2, FULL, deps=((1, SENT),), priority=3)]
    sim = run(ops, buffer(0, 3, 3, headroom=10**5), (FAST, SLOW, FAST))
    assert sim.pauses[0][:3] == [EFFECT, 0, 0]
    assert sim.sent[2] == later + FIRST
    assert sim.delivered[2] == later + 2 * (FIRST + HOP)


def test_nothing_is_refreshed_for_a_pause_that_is_over() -> None:
    # Refreshes are 320 ns apart. The first pause ends after one frame; at its 320 ns there is another one, 120 ns old.
    ops = [Op(0, 1, FULL), Op(0, duration_ps=200_000), Op(0, 1, 2 * FULL, deps=((1, SENT),))]
    sim = run(ops, buffer(0, pause_quanta=100))
    assert sim.ports[1].frames == 4  # PAUSE and RESUME, twice


def test_pause_holds_the_acks_of_a_shared_class() -> None:
    # Rank 2's message is at rank 0 while that is paused.
    ops = [Op(0, 1, 40 * FULL), Op(2, duration_ps=EFFECT), Op(2, 0, FULL, deps=((1, SENT),))]
    for is_shared in (False, True):
        figures = {"ack_policy": "per_packet", "is_ack_class_shared": is_shared}
        sim = run(ops, buffer(0, 3, headroom=10**5), (FAST, SLOW, FAST), **figures)
        start, _, _, end = sim.pauses[0]
        assert start < sim.delivered[2] < end  # type: ignore[operator]
        assert sim.acked[2] == (end if is_shared else sim.delivered[2]) + 2 * (ACK + HOP)  # type: ignore[operator]


def test_what_leaves_makes_room_for_what_comes_in_the_same_instant() -> None:
    ops = [Op(0, 1, FULL), Op(2, duration_ps=FIRST), Op(2, 1, FULL, deps=((1, SENT),))]
    sim = run(ops, buffer(FIRST_BYTES, 3, pfc=False, reserve=0, egress_alpha=100.0), (FAST, FAST, FAST))
    assert sim.ports[4].dropped == 0
    assert sim.delivered[2] == FIRST + 2 * (FIRST + HOP)


def test_rooms_of_a_lossless_class() -> None:
    switch = Switch(buffer=1_000 + 2_000 + 1_500, pfc_alpha=1.0)
    own = Buffer(switch, 1_000, {0: 2_000}, [0])
    steps = [
        (1_000, [0, 0, 1_000]),  # more than the 500 B that are free then: paused
        (600, [600, 0, 1_000]),
        (1_400, [2_000, 0, 1_000]),
        (900, [2_000, 900, 1_000]),
        (-1_500, [500, 900, 1_000]),
        (-1_000, [0, 400, 1_000]),
        (-400, [0, 0, 1_000]),
    ]
    for size, used in steps:
        if size > 0:
            assert own.charge(0, 0, size, 0)
        else:
            own.release(0, 0, -size)
        assert own.used[0, 0] == used
        assert own.paused == {(0, 0)}
    own.release(0, 0, 500)
    assert own.paused == set()
    assert own.free == 1_000


def test_share_may_be_used_up() -> None:
    own = Buffer(Switch(buffer=2_000, pfc_alpha=1.0), 0, {0: 0}, [0])
    assert own.charge(0, 0, 1_000, 0)
    assert own.paused == set()
    assert own.charge(0, 0, 1, 0)
    assert own.paused == {(0, 0)}


def test_lossy_class_has_its_reserve() -> None:
    own = Buffer(Switch(buffer=1_500, pfc=False, egress_alpha=9.0), 1_000, {0: 0}, [0])
    assert own.charge(0, 0, 600, 0)
    assert own.used[0, 0] == [0, 600, 0]
    assert not own.charge(0, 0, 501, 0)


@pytest.mark.parametrize(("offset", "frames_left"), [(0, 1), (163, 1), (164, 0), (5_000, 0)])
def test_share_is_alpha_of_what_is_free(offset: int, frames_left: int) -> None:
    # 982 B are no more than an eighth of 9,018 B; 1,948 B are more than one of 8,052 B. 966 B and an offset up to 163 B
    # are no more than one of 9,034 B, 1,129 B.
    sim = run([Op(0, 1, 2 * FULL)], buffer(10_000, xon_offset=offset), (FAST, SLOW))
    start = EFFECT + LATER
    first_leaves = AT_SWITCH + 10 * FIRST
    resumes = first_leaves if frames_left else first_leaves + 10 * LATER
    assert sim.pauses == [[start, 0, 0, resumes + PAUSE + HOP + 60 * QUANTUM]]


@pytest.mark.parametrize(
    ("headroom", "dropped"),
    [(5 * LATER_BYTES, 0), (4 * LATER_BYTES, 1), (3 * LATER_BYTES, 2), (3 * LATER_BYTES - 1, 3)],
)
def test_headroom_takes_what_comes_after_the_pause_and_no_more(headroom: int, dropped: int) -> None:
    # The first frame is in the reserve, and all that follow arrive before it has left.
    sim = run([Op(0, 1, 6 * FULL)], buffer(0, headroom=headroom), (FAST, SLOW))
    assert [port.dropped for port in sim.ports] == [dropped, 0, 0, 0]
    assert (sim.delivered[0] is None) == (dropped > 0)


def test_drop_into_an_empty_buffer_does_not_pause_for_ever() -> None:
    sim = run([Op(0, 1, FULL)], buffer(0, reserve=100, headroom=100))
    assert [port.dropped for port in sim.ports] == [1, 0, 0, 0]
    assert sim.pauses == []


@pytest.mark.parametrize(("alpha", "dropped"), [(0.24, 5), (0.6, 4), (1.0, 3), (2.0, 2), (4.0, 1)])
def test_lossy_class_has_a_share_at_its_egress(alpha: float, dropped: int) -> None:
    # Where none is dropped there are 4,000, 3,018, 2,052, 1,086 B free and, with the frame, 982, 1,948, ... B queued.
    sim = run([Op(0, 1, 5 * FULL)], buffer(4_000, pfc=False, reserve=0, egress_alpha=alpha), (FAST, SLOW))
    assert sim.ports[0].dropped == dropped
    assert sim.pauses == []


def test_lossy_class_beyond_its_share_has_its_reserve() -> None:
    sim = run([Op(0, 1, 5 * FULL)], buffer(0, pfc=False, reserve=2_000), (FAST, SLOW))
    assert sim.ports[0].dropped == 3
    one = run([Op(0, 1, FULL)], buffer(0, pfc=False, reserve=1_000), (FAST, SLOW))
    assert one.delivered[0] is not None


def test_lossless_and_lossy_classes_live_together() -> None:
    ops = [Op(0, 1, 9 * FULL), Op(0, 1, 9 * FULL, priority=1)]
    sim = run(ops, buffer(4_000, 2, 3, lossless_mask=1, headroom=10**5), (FAST, SLOW))
    assert sim.delivered[0] is not None
    assert sim.delivered[1] is None
    assert {(c, q) for _, c, q, _ in sim.pauses} == {(0, 0)}


def test_figures_of_the_link_are_worked_out() -> None:
    assert Switch().headroom_of(100 * 10**9, 10**6, 4096) == 37_032
    assert Switch().headroom_of(97_000_000_001, 10**3, 1000) == 25 + 2_000 + 3_840
    assert Switch(response_quanta=1).headroom_of(8, 10**12, 0) == 2 + 64
    assert Switch().reserve_of(4_194) == 4_278


# Marks: all six frames are in the switch before the first one has left.
@pytest.mark.parametrize(
    ("threshold", "at_enqueue", "at_dequeue"), [(0, 5, 4), (981, 5, 3), (982, 4, 3), (1_948, 3, 2), (10_000, 0, 0)]
)
def test_step_marks_what_finds_more(threshold: int, at_enqueue: int, at_dequeue: int) -> None:
    # On coming, the frames find 0, 982, 1,948, ...; the first leaves none behind, the others 3,864, 2,898, ...
    for where, marked in (("enqueue", at_enqueue), ("dequeue", at_dequeue)):
        switch = Switch(ecn=True, ecn_kmin=threshold, ecn_kmax=threshold, ecn_mark_at=where)
        sim = run([Op(0, 1, 6 * FULL)], switch, (FAST, SLOW))
        assert [port.marked for port in sim.ports] == [0, 0, 0, marked]
    assert run([Op(0, 1, 6 * FULL)], Switch(ecn_kmin=0, ecn_kmax=0), (FAST, SLOW)).ports[3].marked == 0


def test_red_draws_between_its_thresholds_only() -> None:
    # Depths 0, 982, 1,948, 2,914, 3,880, 4,846 B: the third to the fifth are drawn for, the last is marked.
    switch = Switch(ecn=True, ecn_kmin=1_000, ecn_kmax=4_000, ecn_pmax=0.5)
    for seed in range(30):
        sim = run([Op(0, 1, 6 * FULL)], switch, (FAST, SLOW), seed=seed)
        chances = [0.5 * (depth - 1_000) / 3_000 for depth in (1_948, 2_914, 3_880)]
        drawn = sum(draw(seed, MARK, 3, n) / 2**64 < p for n, p in enumerate(chances))
        assert (sim.ports[3].draws, sim.ports[3].marked) == (3, drawn + 1)


def test_acks_are_not_marked() -> None:
    switch = Switch(ecn=True)
    sim = run([Op(1, 0, 6 * FULL)], switch, (SLOW, FAST), ack_policy="per_packet", is_ack_class_shared=True)
    assert [port.marked for port in sim.ports] == [0, 5, 0, 0]


@pytest.mark.parametrize(("interval", "cnps"), [(0, 5), (LATER * 10, 5), (LATER * 10 + 1, 3), (NEVER, 1)])
def test_marked_packets_make_notifications_but_not_too_often(interval: int, cnps: int) -> None:
    # The last five of six packets are marked, and come to the slow rank ten times as long apart as they were sent.
    sim = run([Op(0, 1, 6 * FULL)], Switch(ecn=True), (FAST, SLOW), cnp_interval_ps=interval)
    assert sim.ports[3].marked == 5
    assert (sim.ports[2].frames, sim.ports[2].line_bytes) == (cnps, cnps * 98)


def test_nothing_is_marked_without_control() -> None:
    sim = run([Op(0, 1, 6 * FULL)], Switch(ecn=True), (FAST, SLOW), cnp_interval_ps=None)
    assert [port.marked for port in sim.ports] == [0, 0, 0, 0]


# Losses and what is done about them.
def test_draws_are_those_of_splitmix() -> None:
    assert mix64(0) == 0xE220A8397B1DCDAF  # the first output of SplitMix64 from 0
    assert mix64(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4  # the second


def test_pauses_have_no_number() -> None:
    # PAUSE and RESUME go to rank 0 before the ACKs, the second of which is number 1 and lost.
    figures = {"ack_policy": "per_packet", "timeout_ps": 20 * HOP}
    sim = run([Op(0, 1, 2 * FULL)], buffer(0), loss=LOSS_RATE, seed=seed_that_loses(1, channel=1), **figures)
    assert (sim.ports[1].lost, sim.timeouts) == (1, 1)


@pytest.mark.parametrize(("is_selective", "repeats", "naks"), [(False, 3, 1), (True, 1, 2)])
def test_one_loss_costs_a_round_trip(is_selective: bool, repeats: int, naks: int) -> None:
    # The second of four packets is lost. The third tells; by the time its NAK is back all four are sent.
    seed = seed_that_loses(1)
    figures = {"ack_policy": "per_packet", "timeout_ps": NEVER, "is_selective": is_selective}
    sim = run([Op(0, 1, 4 * FULL)], Switch(), loss=LOSS_RATE, seed=seed, **figures)
    nak_made = FIRST + 2 * LATER + LATER + 2 * HOP
    nak_back = nak_made + 2 * (ACK + HOP)
    assert sim.sent == [FIRST + 3 * LATER]
    assert sim.delivered == [nak_back + repeats * LATER + LATER + 2 * HOP]
    assert (sim.repeats, sim.naks, sim.timeouts) == (repeats, naks, 0)
    assert (sim.ports[0].lost, sim.ports[0].frames, sim.ports[1].frames) == (1, 4 + repeats, 1 + naks + repeats)


@pytest.mark.parametrize("is_selective", [False, True])
@pytest.mark.parametrize(("lost", "resent"), [((0,), 1), ((0, 1), 1 + 2), ((0, 1, 2), 1 + 2 + 4)])
def test_timeout_doubles(is_selective: bool, lost: tuple[int, ...], resent: int) -> None:
    timeout = 5 * HOP
    figures = {"timeout_ps": timeout, "is_selective": is_selective}
    sim = run([Op(0, 1, FULL)], Switch(), loss=LOSS_RATE, seed=seed_that_loses(*lost), **figures)
    assert sim.sent == [FIRST]
    assert sim.delivered == [resent * timeout + 2 * (FIRST + HOP)]
    assert (sim.timeouts, sim.repeats) == (len(lost), len(lost))


def test_selective_repeat_sends_a_packet_twice_in_a_recovery_only_after_a_timeout() -> None:
    # The second packet is lost twice: the timer's time begins with its repetition, and all others are there by its end.
    seed = seed_that_loses(1, 4)
    figures = {"ack_policy": "per_packet", "timeout_ps": 20 * HOP, "is_selective": True}
    sim = run([Op(0, 1, 4 * FULL)], Switch(), loss=LOSS_RATE, seed=seed, **figures)
    repeated = FIRST + 3 * LATER + 2 * HOP + 2 * (ACK + HOP)
    assert sim.delivered == [repeated + 20 * HOP + 2 * (LATER + HOP)]
    assert (sim.timeouts, sim.repeats, sim.ports[0].frames) == (1, 2, 6)


def queue_pair(packets: int, **figures: object) -> QueuePair:
    qp = QueuePair((0, 0), 0, (), (), Transport(payload=FULL, timeout_ps=100, **figures))  # type: ignore[arg-type]
    qp.add(0, packets * FULL)
    return qp


def test_ack_that_comes_after_a_timeout_saves_repetitions_and_ends_the_doubling() -> None:
    qp = queue_pair(4)
    assert [qp.send(now)[0] for now in (1, 2, 3)] == [0, 1, 2]
    assert qp.deadline() == 101
    qp.time_out()
    assert qp.deadline() is None  # Nothing is sent again yet.
    assert qp.turn() == 0
    assert qp.send(110)[0] == 0
    assert qp.deadline() == 110 + 200
    qp.learn("ack", 2, 1, 120)
    assert qp.turn() == 2
    assert qp.send(130) == (2, False, False)
    assert qp.deadline() == 130 + 100


def test_selective_receiver_keeps_and_tells() -> None:
    qp = queue_pair(4, is_selective=True, ack_policy=PER_MESSAGE)
    assert qp.receive(1, False) == ("nak", [])
    assert qp.receive(1, False) == ("ack", [])
    assert qp.receive(3, True) == ("nak", [])
    assert qp.receive(0, False) == ("ack", [])  # While 3 is kept, and so is the next one.
    assert qp.expected == 2
    assert qp.receive(2, False) == ("ack", [0])


def test_go_back_n_receiver_keeps_nothing_and_tells_once_a_gap() -> None:
    qp = queue_pair(4, ack_policy=PER_MESSAGE)
    replies = [qp.receive(n, n == 3) for n in (1, 2, 0, 2, 3, 1, 0, 2, 3)]
    assert replies == [
        ("nak", []),
        ("", []),
        ("", []),
        ("nak", []),
        ("", []),
        ("", []),
        ("ack", []),
        ("", []),
        ("ack", [0]),
    ]


def test_selective_sender_repeats_what_it_knows_to_be_missing() -> None:
    qp = queue_pair(9, is_selective=True)
    for now in range(6):
        qp.send(now)
    qp.learn("nak", 1, 2, 10)
    assert qp.missing() == [1]
    qp.learn("ack", 1, 4, 11)
    assert qp.missing() == [1, 3]
    assert qp.deadline() is None  # It waits for the oldest.
    assert [qp.send(now)[0] for now in (12, 13, 14)] == [1, 3, 6]
    assert qp.deadline() == 12 + 100
    qp.time_out()
    assert qp.missing() == [1, 3, 5]  # 2 and 4 have come; 6 was sent after the time began.
    qp.learn("ack", 6, 5, 120)
    assert qp.missing() == []


def test_go_back_goes_no_further_than_what_is_acknowledged() -> None:
    # A timeout below the round trip repeats both packets; the ACKs of the first copies come while the second is sent.
    figures = {"ack_policy": "per_packet", "timeout_ps": 2 * HOP}
    sim = run([Op(0, 1, 2 * FULL)], Switch(), **figures)
    assert sim.delivered == [2 * (FIRST + HOP) + LATER]
    assert sim.timeouts >= 1
    assert sim.acked == [sim.delivered[0] + 2 * (ACK + HOP)]  # type: ignore[operator]
