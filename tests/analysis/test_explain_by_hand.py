# SPDX-License-Identifier: GPL-2.0-only
"""Each part by itself against arithmetic on paper: 100 Gb/s is 80 ps a byte, and links are 500 ns long."""

import pytest

from analysis_cases import EXACT, explained, parts_of, time_of
from astra_py.analysis.explain import explain
from astra_py.analysis.stretches import Part
from astra_py.workloads import CollectiveCall, TraceBuilder
from trace_cases import TraceRun

BYTE = 80
DELAY, LATENCY = 500_000, 300_000
LINKS = ("platform.link_rate=100Gbps", "platform.link_delay=500ns", "platform.switch_latency=300ns")
PAIR = (*LINKS, "platform.ranks=2")
#: A packet's headers on the line in B: of the first or only one of a message, and of the others; an ACK.
FIRST, OTHER, ACK = 98, 82, 86


def found(explanation):
    """The parts that occur, once it is sure that they add up."""
    parts = parts_of(explanation)
    assert sum(parts.values()) == time_of(explanation)
    return {part: time for part, time in parts.items() if time}


def lengths(explanation, part):
    return [each.length_ps for each in explanation.stretches[0] if each.part == part]


def test_a_message_over_three_links():
    ring = (*EXACT, "platform.kind=ring", "platform.ranks=6", "platform.link_rate=100Gbps", "platform.link_delay=500ns")
    # 4,096, 4,096 and 1,808 B: the first packet on three links, the others behind it on the last one
    assert found(explained("sendrecv", 10_000, *ring, group=(0, 3))) == {
        Part.PAYLOAD: BYTE * (3 * 4096 + 4096 + 1808),
        Part.HEADERS: BYTE * (3 * FIRST + OTHER + OTHER),
        Part.PROPAGATION: 3 * DELAY,
    }


def test_two_senders_of_one_port():
    given = (*EXACT, *LINKS, "platform.ranks=3", "collective.gather=direct")
    explanation = explained("gather", 3 * 8192, *given)
    # two packets of each: at the port each of the later one waits for one of the other
    assert found(explanation) == {
        Part.PAYLOAD: BYTE * 3 * 4096,
        Part.HEADERS: BYTE * (2 * FIRST + OTHER),
        Part.PROPAGATION: 2 * DELAY,
        Part.SWITCHING: LATENCY,
        Part.QUEUEING: BYTE * (2 * 4096 + FIRST + OTHER),
    }
    queues = {each.channel for each in explanation.stretches[0] if each.part == Part.QUEUEING}
    assert [explanation.record.channel_name(channel) for channel in queues] == ["switch0 -> rank0"]


def test_a_window_of_one_packet():
    explanation = explained("sendrecv", 4 * 4096, *EXACT, *PAIR, "transport.window=4096B", group=(0, 1))
    # until the last bit is at the receiver, by way of the switch, and the word of it back
    way = DELAY + LATENCY + DELAY
    assert lengths(explanation, Part.WINDOW) == [BYTE * (4096 + headers) + 2 * way for headers in (FIRST, OTHER, OTHER)]
    assert found(explanation)[Part.PAYLOAD] == BYTE * 5 * 4096


def test_a_window_of_the_unloaded_round_trip_holds_nothing_back():
    given = ("sendrecv", 40 * 4096, *EXACT, *PAIR)
    assert found(explained(*given, "transport.window=bdp", group=(0, 1))) == found(explained(*given, group=(0, 1)))
    # 4 x 0.5 us, 2 x 0.3 us and two links of a packet are 40,856 B at 100 Gb/s; with less than half of that it waits
    assert Part.WINDOW in found(explained(*given, "transport.window=18kB", group=(0, 1)))


@pytest.mark.parametrize(("seed", "repeats"), [(0, 0), (1, 2)])
def test_a_loss_costs_its_timeouts(seed, repeats):
    lossy = (*EXACT, *PAIR, "platform.link_loss=0.2", "transport.timeout=50us", f"seed={seed}")
    explanation = explained("sendrecv", 1000, *lossy, group=(0, 1))
    # twice as long each time
    assert found(explanation).get(Part.RECOVERY, 0) == 50_000_000 * (2**repeats - 1)
    assert explanation.record.columns.counters["timeouts"] == repeats


def test_an_acknowledgement_goes_before_data():
    given = (*PAIR, "transport.congestion_control=none", "collective.all_to_all=direct")
    exact = explained("all_to_all", 2 * 8 * 4096, *EXACT, *given)
    acked = explained("all_to_all", 2 * 8 * 4096, *given)
    # two packets come while there is still data to send, so that their ACKs go before it
    difference = {part: acked_time - parts_of(exact)[part] for part, acked_time in found(acked).items()}
    assert {part: time for part, time in difference.items() if time} == {Part.HEADERS: 2 * BYTE * ACK}
    on_nic = [
        each.length_ps
        for each in acked.stretches[0]
        if each.detail == "acknowledgements" and acked.record.channel_name(each.channel).startswith("rank")
    ]
    assert on_nic == [BYTE * ACK] * 2


def test_every_pause_of_a_path_is_one_of_the_table():
    spine = ("platform.kind=leaf_spine", "platform.ranks=16", "platform.oversubscription=4", "switch.buffer=400kB")
    explanation = explained("all_to_all", 2**19, *spine, "transport.congestion_control=none")
    columns = explanation.record.columns
    pauses = [each for each in explanation.stretches[0] if each.part == Part.PAUSES]
    assert pauses
    for each in pauses:
        begun = (columns.pause_channel == each.channel) & (columns.pause_start_ps <= each.start_ps)
        assert (begun & ((columns.pause_end_ps >= each.end_ps) | (columns.pause_end_ps < 0))).any()


def test_throttling_is_what_a_rate_leaves_of_the_line():
    # two CNPs, 50 us apart and with alpha 1, halve the rate twice; at 25 Gb/s it stays: nothing lifts it
    given = (
        *LINKS,
        "platform.ranks=3",
        "collective.gather=direct",
        "transport.ack=out_of_band",
        "switch.ecn_kmin=10kB",
        "switch.ecn_kmax=10kB",
        "transport.dcqcn.min_rate=25Gbps",
        "transport.dcqcn.increase_timer=1s",
        "transport.dcqcn.byte_counter=1GB",
    )
    throttled = lengths(explained("gather", 3 * 2**20, *given), Part.CONTROL)
    # packets start twice, then four times their length after each other; 75 times two are the 50 us between the CNPs
    packet = BYTE * (4096 + OTHER)
    assert throttled == [packet] * 75 + [3 * packet] * (len(throttled) - 75)
    assert len(throttled) > 150


@pytest.mark.parametrize(("late", "first"), [(1, 0), (0, 1)])
def test_a_rank_that_joins_late_keeps_the_collective_waiting(late, first):
    build = TraceBuilder(2)
    ready = build.compute([first, late], [3_000_000, 7_000_000], name="work")
    call = CollectiveCall(name="exchange", kind="all_to_all", group=(first, late), size_bytes=2000)
    build.collective(call, after=[ready])
    explanation = explain(TraceRun(build.build(), *EXACT, *PAIR))
    assert found(explanation) == {
        Part.JOINING: 4_000_000,
        Part.PAYLOAD: BYTE * 2 * 1000,
        Part.HEADERS: BYTE * 2 * FIRST,
        Part.PROPAGATION: 2 * DELAY,
        Part.SWITCHING: LATENCY,
    }
    assert explanation.stretches[0][0].detail == f"rank {late}"
