# SPDX-License-Identifier: GPL-2.0-only
"""The host stack of one machine alone: every rule of it, by hand or against a few lines of Python."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py._ns3_ext import HostTrial
from astra_py.errors import ConfigError

US = 1_000_000
MSS = 1448
LARGEST_UNIT = 65_455
ACK, PSH, CWR = 16, 8, 128
CE = 3


def received(trial: HostTrial) -> list[tuple[int, int, int]]:
    """Time, flow and payload of what comes up."""
    return [(time, flow, payload) for time, what, flow, payload in trial.run() if what == "received"]


def arrive(trial: HostTrial, at_ps: int, count: int, **kwargs: int) -> None:
    """Full segments that continue each other, 100 ns apart."""
    for number in range(count):
        trial.receive(at_ps + number * 100_000, sequence=1 + number * MSS, payload_bytes=MSS, **kwargs)


def test_an_unknown_attribute_or_value_is_refused() -> None:
    with pytest.raises(ConfigError, match="no attribute"):
        HostTrial({"Kores": "1"})
    with pytest.raises(ConfigError, match='can be "0"'):
        HostTrial({"Cores": "0"})
    with pytest.raises(ConfigError, match="no work of a core"):
        HostTrial({}).work(0, core=0, kind="nothing")
    with pytest.raises(ConfigError, match="no core 8"):
        HostTrial({}).work(0, core=8, kind="copy")


# Cores ---------------------------------------------------------------------------------------------------------------

works = st.lists(
    st.tuples(
        st.integers(0, 20),
        st.integers(0, 2),
        st.sampled_from(["message", "segment", "packet", "copy"]),
        st.integers(1, 9),
    ),
    max_size=40,
)


@given(works=works, costs=st.tuples(*[st.integers(0, 5)] * 4), rate_is_finite=st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_core_does_one_thing_after_another(
    works: Sequence[tuple[int, int, str, int]], costs: tuple[int, int, int, int], rate_is_finite: bool
) -> None:
    copy_ps_per_byte = 3 if rate_is_finite else 0
    names = ["PerMessage", "PerSegment", "PerPacket", "PerMergedPacket"]
    attributes = dict(zip(names, (f"{cost}ps" for cost in costs), strict=True))
    rate = 8 * 10**12 // copy_ps_per_byte + 1 if rate_is_finite else 0  # So that rounding up gives just 3 ps a byte.
    trial = HostTrial(attributes | {"Cores": "3", "CopyRate": str(rate)})
    works = sorted(works, key=lambda work: work[0])
    expected, free, busy, last = (
        [],
        [0] * 3,
        [dict.fromkeys(["message", "segment", "packet", "copy"], (0, 0)) for _ in range(3)],
        0,
    )
    per = dict(zip(["message", "segment", "packet"], costs[:3], strict=True)) | {"copy": copy_ps_per_byte}
    for number, (at, core, kind, amount) in enumerate(works):
        trial.work(at, core=core, kind=kind, amount=amount, number=number)
        # of packets that come up in one piece, all but the first are merged ones
        service = per[kind] + (amount - 1) * costs[3] if kind == "packet" else amount * per[kind]
        end = at if service == 0 else max(at, free[core]) + service
        free[core] = max(free[core], end) if service else free[core]
        expected.append((end, number))
        pieces, time = busy[core][kind]
        busy[core][kind] = (pieces + 1, time + service)
        last = max(last, end)
    moments = [(time, number) for time, _, number, _ in trial.run()]
    assert sorted(moments) == sorted(expected)
    assert [time for time, _ in moments] == sorted(time for time, _ in moments)
    for core in range(3):
        assert trial.core_accounts(core) == busy[core]
        assert sum(time for _, time in busy[core].values()) <= last  # No core is busier than always.
    assert trial.events == len(works) + sum(end > at for (at, *_), (end, _) in zip(works, expected, strict=True))
    assert trial.pending_events == 0


def test_work_that_costs_nothing_waits_for_nothing_and_is_no_event() -> None:
    trial = HostTrial({"PerPacket": "5us", "Cores": "1"})
    trial.work(0, core=0, kind="packet", number=1)
    trial.work(US, core=0, kind="message", number=2)
    assert trial.run() == [(US, "done", 2, 0), (5 * US, "done", 1, 0)]
    assert trial.events == 3  # Both wishes, and one end.


def test_a_copy_takes_whole_picoseconds_rounded_up() -> None:
    trial = HostTrial({"CopyRate": "86000000000"})
    trial.work(0, core=0, kind="copy", amount=1000, number=1)
    assert trial.run() == [(93_024, "done", 1, 0)]  # 93,023.26 ps.


def test_connections_spread_over_cores_by_hash_or_by_socket() -> None:
    by_socket = HostTrial({"Cores": "4", "Rss": "socket_index"})
    assert [by_socket.core_of(3, 9, 0, index) for index in range(6)] == [0, 1, 2, 3, 0, 1]
    by_hash = HostTrial({"Cores": "4"})
    counts = [0] * 4
    for src in range(64):
        for index in range(16):
            counts[by_hash.core_of(src, 64, 0, index)] += 1
    assert min(counts) > 200  # Of 256 each.
    assert len({HostTrial({"Cores": "64"}, seed=seed).core_of(0, 1, 0, 0) for seed in range(20)}) > 5


def test_the_hash_is_the_one_of_the_borders() -> None:
    def mix(x: int) -> int:
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return x ^ (x >> 31)

    src, dst, priority, index, seed, machine = 5, 9, 3, 2, 77, 0
    key = src << 39 | dst << 15 | priority << 12 | index
    draw = mix(mix(mix(seed ^ 0x727373) ^ machine) ^ key)
    assert HostTrial({"Cores": "7"}, seed=seed).core_of(src, dst, priority, index) == draw * 7 >> 64


# Segments out --------------------------------------------------------------------------------------------------------


def test_each_segment_is_paid_for_without_tso() -> None:
    trial = HostTrial({"PerSegment": "1us"})
    for number in range(3):
        trial.send(0, payload_bytes=MSS, number=number)
    assert trial.run() == [(US, "sent", 0, 0), (2 * US, "sent", 1, 0), (3 * US, "sent", 2, 0)]
    assert trial.core_accounts(0)["segment"] == (3, 3 * US)


def test_with_tso_what_one_end_emits_in_an_instant_is_one_piece_of_work() -> None:
    trial = HostTrial({"PerSegment": "1us", "Tso": "true"})
    for number in range(100):
        trial.send(0, flow=4, payload_bytes=MSS, number=number)
    trial.send(0, flow=6, payload_bytes=MSS, number=100)
    trial.send(1, flow=4, payload_bytes=MSS, number=101)
    moments = trial.run()
    a_unit = LARGEST_UNIT // MSS
    assert a_unit == 45  # As Linux: (65,536 - 1 - 320) // 1,448.
    assert [number for *_, number, _ in moments] == list(range(102))
    ends = [time // US for time, *_ in moments]
    assert ends == [1] * 45 + [2] * 45 + [3] * 10 + [4, 5]
    assert trial.core_accounts(0)["segment"] == (5, 5 * US)


def test_tso_counts_units_where_they_cost_nothing_too() -> None:
    trial = HostTrial({"Tso": "true"})
    for number in range(100):
        trial.send(7, payload_bytes=MSS, number=number)
    assert trial.run() == [(7, "sent", number, 0) for number in range(100)]
    assert trial.core_accounts(0)["segment"] == (3, 0)
    assert trial.events == 100  # The wishes alone.


# Interrupts ----------------------------------------------------------------------------------------------------------


def test_an_interrupt_brings_up_all_that_came_since_the_first() -> None:
    trial = HostTrial({"RxDelay": "8us"})
    for at in (0, 3 * US, 8 * US, 9 * US):  # What comes at the very instant of the timer waits for no other one.
        trial.receive(at, payload_bytes=MSS)
    assert [time for time, *_ in received(trial)] == [8 * US, 8 * US, 8 * US, 17 * US]


def test_enough_frames_bring_the_interrupt_forward() -> None:
    trial = HostTrial({"RxDelay": "8us", "RxFrames": "3"})
    for at in (0, 1 * US, 2 * US, 3 * US):
        trial.receive(at, payload_bytes=MSS)
    assert [time for time, *_ in received(trial)] == [2 * US, 2 * US, 2 * US, 11 * US]
    assert trial.pending_events == 0


def test_each_receive_queue_has_its_own_interrupts() -> None:
    trial = HostTrial({"RxDelay": "8us", "RxFrames": "2"})
    trial.receive(0, port=0, core=0, flow=1, payload_bytes=MSS)
    trial.receive(1 * US, port=2, core=0, flow=2, payload_bytes=MSS)
    trial.receive(2 * US, port=0, core=1, flow=3, payload_bytes=MSS)
    assert received(trial) == [(8 * US, 1, MSS), (9 * US, 2, MSS), (10 * US, 3, MSS)]


def test_nothing_holds_frames_of_an_ideal_host() -> None:
    trial = HostTrial({"Gro": "true"})
    arrive(trial, 0, 5)
    assert [time for time, *_ in received(trial)] == [0, 100_000, 200_000, 300_000, 400_000]
    assert trial.core_accounts(0)["packet"] == (5, 0)
    assert trial.events == 5


# Merging -------------------------------------------------------------------------------------------------------------

GRO = {"RxDelay": "100us", "PerPacket": "1us", "Gro": "true"}


def test_segments_that_continue_each_other_come_up_as_one() -> None:
    trial = HostTrial(GRO)
    arrive(trial, 0, 100)
    assert received(trial) == [
        (101 * US, 0, 45 * MSS),
        (102 * US, 0, 45 * MSS),
        (103 * US, 0, 10 * MSS),
    ]
    assert trial.core_accounts(0)["packet"] == (3, 3 * US)


def test_each_further_packet_of_a_unit_costs_what_merging_does() -> None:
    trial = HostTrial(GRO | {"PerMergedPacket": "100ns"})
    arrive(trial, 0, 50)
    merged = 100_000  # ps each
    assert received(trial) == [
        (101 * US + 44 * merged, 0, 45 * MSS),
        (102 * US + 48 * merged, 0, 5 * MSS),
    ]
    assert trial.core_accounts(0)["packet"] == (2, 2 * US + 48 * merged)


def test_connections_are_merged_side_by_side_in_order_of_their_first_segments() -> None:
    trial = HostTrial(GRO)
    for number in range(3):
        for flow in (4, 2):
            trial.receive(number, flow=flow, sequence=1 + number * MSS, payload_bytes=MSS)
    assert received(trial) == [(101 * US, 4, 3 * MSS), (102 * US, 2, 3 * MSS)]


@pytest.mark.parametrize(
    ("second", "third", "units"),
    [
        ({"sequence": 1 + 2 * MSS}, {"sequence": 1 + 3 * MSS}, [1, 2]),  # A gap.
        ({"ecn": CE}, {}, [1, 1, 1]),  # Another mark, and back.
        ({"ecn": CE}, {"ecn": CE}, [1, 2]),
        ({"flags": ACK | CWR}, {}, [1, 2]),
        ({"flags": ACK | PSH}, {}, [2, 1]),
        ({"flags": ACK | 64}, {}, [1, 1, 1]),  # ECE.
    ],
    ids=["gap", "marked alone", "marked", "CWR", "PSH", "flags differ"],
)
def test_what_ends_a_unit(second: dict[str, int], third: dict[str, int], units: list[int]) -> None:
    trial = HostTrial(GRO)
    trial.receive(0, payload_bytes=MSS)
    trial.receive(1, **({"sequence": 1 + MSS, "payload_bytes": MSS} | second))
    trial.receive(2, **({"sequence": 1 + 2 * MSS, "payload_bytes": MSS} | third))
    assert [payload // MSS for *_, payload in received(trial)] == units


def test_a_short_segment_ends_its_unit_and_a_longer_one_begins_another() -> None:
    trial = HostTrial(GRO)
    sequence = 1
    for number, payload in enumerate((MSS, 100, 100, 200, 200)):
        trial.receive(number, sequence=sequence, payload_bytes=payload)
        sequence += payload
    assert [payload for *_, payload in received(trial)] == [MSS + 100, 100, 400]


def test_acknowledgements_are_not_merged() -> None:
    trial = HostTrial(GRO)
    for number in range(3):
        trial.receive(number, payload_bytes=0)
    assert received(trial) == [((101 + number) * US, 0, 0) for number in range(3)]


def test_sequence_numbers_wrap() -> None:
    trial = HostTrial(GRO)
    first = 2**32 - MSS
    for number in range(3):
        trial.receive(number, sequence=(first + number * MSS) % 2**32, payload_bytes=MSS)
    assert received(trial) == [(101 * US, 0, 3 * MSS)]


# Staging -------------------------------------------------------------------------------------------------------------


@given(chunks=st.lists(st.tuples(st.integers(0, 10 * US), st.booleans(), st.integers(1, 2**20)), max_size=20))
@settings(max_examples=100, deadline=None)
def test_copies_go_one_after_another_each_way(chunks: list[tuple[int, bool, int]]) -> None:
    trial = HostTrial({"StagingRate": "115200000000"})
    free, expected = {False: 0, True: 0}, []
    for number, (at, is_out, size) in enumerate(sorted(chunks, key=lambda chunk: chunk[0])):
        trial.stage(at, is_out=is_out, bytes=size, number=number)
        free[is_out] = max(free[is_out], at) + -(-8 * size * 10**12 // 115_200_000_000)
        expected.append((free[is_out], number))
    assert sorted((time, number) for time, _, number, _ in trial.run()) == sorted(expected)
    assert trial.pending_events == 0
