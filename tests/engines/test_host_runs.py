# SPDX-License-Identifier: GPL-2.0-only
"""Hosts beneath TCP in whole runs: a message by hand, what is counted where, staging, offloads, what holds back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.engines.base import EngineColumns
from behaviour.flows import Flow, FlowRun

US, NS = 1_000_000, 1_000
TCP = ("transport.kind=tcp", "platform.ranks=2", "platform.link_rate=100Gbps", "platform.link_delay=500ns")
LATENCY = ("platform.switch_latency=300ns",)
MSS = 8948
STEP = 1  # ns-3's socket lets its application add to a write for one step of its clock.


def run(flows: list[Flow], *keys: str) -> EngineColumns:
    """The columns of a run that passes all its checks; a later override of a key replaces earlier ones."""
    given = {key.partition("=")[0]: key for key in (*TCP, *LATENCY, *keys)}
    return FlowRun(flows, *given.values()).record().columns


def wire_ps(payload: int) -> int:
    """From a segment's first bit to its last byte at the receiver, over one switch."""
    return 2 * 8 * (payload + 90) * 10 + 2 * 500 * NS + 300 * NS


def copy_ps(size: int, rate_bps: int) -> int:
    return -(-8 * size * 10**12 // rate_bps)


# One message, by hand ------------------------------------------------------------------------------------------------

costs = st.integers(1, 10_000)


@given(
    size=st.integers(1, MSS), costs=st.tuples(*[costs] * 6), rates=st.tuples(*[st.integers(1, 999)] * 2), data=st.data()
)
@settings(max_examples=25, deadline=None)
def test_a_message_takes_what_its_steps_take(
    size: int, costs: tuple[int, ...], rates: tuple[int, int], data: st.DataObject
) -> None:
    send, receive, message, segment, packet, interrupt = (cost * NS for cost in costs)
    copy, stage = (copy_ps(size, rate * 10**9) for rate in rates)
    columns = run(
        [Flow(0, 1, size)],
        f"transport.send_latency={send // NS}ns",
        f"transport.receive_latency={receive // NS}ns",
        f"host.per_message={message // NS}ns",
        f"host.per_segment={segment // NS}ns",
        f"host.per_packet={packet // NS}ns",
        f"host.rx_usecs={interrupt // NS}ns",
        f"host.copy_rate={rates[0]}Gbps",
        f"host.staging_rate={rates[1]}Gbps",
        "host.staging=always",
        "host.staging_chunk=16KiB",
        f"host.tso={str(data.draw(st.booleans())).lower()}",
        f"host.gro={str(data.draw(st.booleans())).lower()}",
    )
    leaves = send + stage + message + copy + STEP + segment
    arrives = leaves + wire_ps(size) + interrupt
    assert columns.message_sent_ps[0] == leaves + 80 * (size + 90)
    assert columns.message_delivered_ps[0] == arrives + packet + copy + message + stage + receive
    assert columns.message_src_core_ps[0] == message + copy + segment + packet  # The last for its acknowledgement.
    assert columns.message_dst_core_ps[0] == packet + copy + message
    assert columns.message_copy_ps[0] == 2 * copy
    assert columns.staging_rank.tolist() == [0, 1]
    assert columns.staging_out_busy_ps.tolist() == [stage, 0]
    assert columns.staging_in_busy_ps.tolist() == [0, stage]


@pytest.mark.parametrize("chunks", [1, 2, 7])
def test_staging_is_a_pipeline_of_chunks(chunks: int) -> None:
    """Where staging is slower than the wire, it is all the time but for one way of a chunk, and one copy more."""
    keys = ("host.staging=always", "host.staging_rate=40Gbps", f"host.staging_chunk={MSS}B")
    columns = run([Flow(0, 1, chunks * MSS)], *keys)
    stage = copy_ps(MSS, 40 * 10**9)
    assert columns.message_delivered_ps[0] == (chunks + 1) * stage + STEP + wire_ps(MSS)
    assert columns.staging_out_bytes.tolist() == [chunks * MSS, 0]


def test_messages_of_a_rank_share_its_staging() -> None:
    keys = ("platform.ranks=3", "host.staging=always", "host.staging_rate=10Gbps")
    columns = run([Flow(0, 1, 100_000), Flow(0, 2, 100_000)], *keys)
    stage = copy_ps(100_000, 10 * 10**9)
    first, second = np.sort(columns.message_sent_ps)
    assert first > stage
    assert second > 2 * stage
    assert columns.staging_out_busy_ps[0] == 2 * stage


@pytest.mark.parametrize(("kind", "is_staged"), [("zion", False), ("zionex", True)])
def test_staging_is_the_platforms_where_its_way_leads_over_a_host(kind: str, is_staged: bool) -> None:
    keys = (f"platform.kind={kind}", "platform.nodes=2", "platform.accelerators_per_node=2", "host.staging=auto")
    tables = FlowRun([Flow(0, 2, 100_000)], "transport.kind=tcp", *keys).record().columns
    assert tables.staging_rank.tolist() == ([0, 2] if is_staged else [])


# An ideal host -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [("host.cores=1",), ("host.rss=socket_index",), ("host.gro=true",)])
def test_what_costs_nothing_changes_nothing(keys: tuple[str, ...]) -> None:
    flows = [Flow(src, dst, 100_000 * (src + 1)) for src in range(3) for dst in range(3) if src != dst]
    ideal, other = (run(flows, "platform.ranks=3", *more) for more in ((), keys))
    for name in ("sent", "delivered", "acked"):
        moments = (getattr(columns, f"message_{name}_ps") for columns in (ideal, other))
        np.testing.assert_array_equal(*moments)
    assert ideal.counters["events"] == other.counters["events"]
    assert not ideal.core_busy_ps.any()
    assert not ideal.message_src_core_ps.any()


# What is counted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["kernel_tcp", "kernel_tcp_tso_gro"])
def test_what_cores_do_is_done_for_messages(preset: str) -> None:
    ranks = 4
    flows = [Flow(src, dst, 150_000 + src, messages=2) for src in range(ranks) for dst in range(ranks) if src != dst]
    columns = run(flows, f"platform.ranks={ranks}", f"host.preset={preset}", "host.cores=2")
    kinds = (columns.core_message_ps, columns.core_segment_ps, columns.core_packet_ps, columns.core_copy_ps)
    np.testing.assert_array_equal(columns.core_busy_ps, sum(kinds))
    assert all(kind.any() for kind in kinds)
    assert (columns.core_busy_ps <= columns.end_ps).all()
    assert columns.core_message_ps.sum() == 2 * len(columns.message_src) * US
    core = columns.core_machine * 2 + columns.core_core
    own = np.zeros(2 * ranks, np.int64)
    np.add.at(own, columns.message_src * 2 + columns.message_src_core, columns.message_src_core_ps)
    np.add.at(own, columns.message_dst * 2 + columns.message_dst_core, columns.message_dst_core_ps)
    # A piece that ends one message and begins another is two in the messages' columns, each rounded up; and an
    # acknowledgement that comes when all is acknowledged is for none of them.
    left = columns.core_busy_ps - own[core]
    assert left.min() > -1000
    assert left.sum() <= 0.02 * columns.core_busy_ps.sum()
    assert columns.message_copy_ps.sum() == pytest.approx(columns.core_copy_ps.sum(), abs=1000)


def test_offloads_make_fewer_works_and_acknowledgements() -> None:
    keys = ("host.per_segment=10ns", "host.per_packet=10ns", "host.rx_usecs=20us", "transport.tcp.receive_buffer=4MiB")
    keys += ("transport.tcp.send_buffer=4MiB", "transport.tcp.initial_window=200")
    size, segments = 200 * MSS, 200
    flow = [Flow(0, 1, size)]
    plain, offloaded = (run(flow, *keys, *more) for more in ((), ("host.tso=true", "host.gro=true")))
    assert plain.core_segment_ps.sum() == segments * 10 * NS
    assert plain.core_packet_ps.sum() == (segments + plain.socket_acks[0]) * 10 * NS
    assert plain.socket_acks[0] in (segments // 2, segments // 2 + 1)
    unit = 65_455 // MSS
    assert offloaded.core_segment_ps.sum() <= 1.2 * segments / unit * 10 * NS
    acks = int(offloaded.socket_acks[0])
    assert segments / unit <= acks <= 1.5 * segments / unit
    assert offloaded.core_packet_ps.sum() == 2 * acks * 10 * NS  # Each unit is acknowledged.
    assert offloaded.message_delivered_bytes[0] == size


# What holds messages back --------------------------------------------------------------------------------------------


def held(*keys: str, size: int = 3_000_000) -> dict[str, float]:
    """The parts of the time until it is sent for which a message's socket was held, by what."""
    columns = run([Flow(0, 1, size)], *keys)
    names = ("cwnd", "rwnd", "sndbuf")
    times = {name: int(getattr(columns, f"message_{name}_limited_ps")[0]) for name in names}
    sent = int(columns.message_sent_ps[0])
    assert sum(times.values()) <= sent
    return {name: time / sent for name, time in times.items()}


def test_the_window_that_holds_is_named() -> None:
    roomy = (
        "transport.tcp.send_buffer=16MiB",
        "transport.tcp.receive_buffer=16MiB",
        "transport.tcp.initial_window=1000",
    )
    far = ("platform.link_delay=20us",)
    none = held(*roomy, "transport.tcp.ecn=false", "transport.congestion_control=newreno")
    assert max(none.values()) < 0.1
    congestion = held(*roomy, *far, "transport.tcp.initial_window=4", size=1_000_000)
    assert max(congestion, key=lambda name: congestion[name]) == "cwnd"
    assert congestion["cwnd"] > 0.5
    receiver = held(*roomy, *far, "transport.tcp.receive_buffer=100kB")
    assert receiver["rwnd"] > 0.5
    sender = held(*roomy, *far, "transport.tcp.send_buffer=100kB")
    assert sender["sndbuf"] > 0.5
