# SPDX-License-Identifier: GPL-2.0-only
"""Where frames wait for each other, for windows, controls, pauses and repetitions, nearly all has its record, too."""

from dataclasses import replace

import numpy as np
import pytest

from analysis_cases import explained, parts_of, time_of
from astra_py.analysis.explain import explain
from astra_py.analysis.message_path import MessagePaths
from astra_py.analysis.stretches import MessageStep, Part, sum_by_part
from astra_py.api import one_collective
from astra_py.collectives.schedule import EdgeOn
from astra_py.config import load_scenario
from astra_py.engines.watch import FrameKind, Watch
from astra_py.errors import ConfigError

SPINE = ("platform.kind=leaf_spine", "platform.ranks=16", "platform.oversubscription=4")
STAR = ("platform.ranks=8", "collective.gather=direct", "transport.congestion_control=none")
ASTRA = (
    "platform.ranks=8",
    "platform.link_rate=400Gbps",
    "platform.link_delay=500ns",
    "platform.switch_latency=0ns",
    "transport.preset=astra_ns3",
    "system.endpoint_delay=10ns",
    "system.local_memory_bandwidth=1600GB/s",
)

CASES = {
    "ACKs on the wire": ("all_reduce", 2**21, ("platform.ranks=8",), Part.PAYLOAD),
    "incast": ("gather", 2**21, STAR, Part.QUEUEING),
    "DCQCN, shallow marks": (
        "all_to_all",
        2**22,
        (*SPINE, "switch.ecn_kmin=10kB", "switch.ecn_kmax=100kB", "switch.ecn_pmax=1"),
        Part.CONTROL,
    ),
    "HPCC": ("all_to_all", 2**21, (*SPINE, "transport.congestion_control=hpcc"), Part.CONTROL),
    "pauses": (
        "all_to_all",
        2**22,
        (*SPINE, "transport.congestion_control=none", "switch.buffer=400kB"),
        Part.PAUSES,
    ),
    "go-back-N": ("gather", 2**20, (*STAR, "switch.pfc=false", "switch.buffer=200kB"), Part.RECOVERY),
    "selective repeat": (
        "gather",
        2**20,
        (*STAR, "switch.pfc=false", "switch.buffer=200kB", "transport.recovery=selective_repeat"),
        Part.RECOVERY,
    ),
    "sprayed packets": ("all_to_all", 2**20, (*SPINE, "platform.routing=spray"), Part.QUEUEING),
    "striped messages": (
        "all_to_all",
        2**20,
        ("platform.ranks=8", "transport.qps_per_peer=4", "transport.qp_policy=striped"),
        Part.PAYLOAD,
    ),
    "NVLink inside": ("all_reduce", 2**20, ("platform.kind=zionex", "platform.nodes=2"), Part.PAYLOAD),
    "told by the sender's ACK": ("all_reduce", 2**20, ASTRA, Part.PAYLOAD),
    "a lost ACK, told of by a later one": (
        "reduce_scatter",
        90_000,
        (
            "platform.kind=ring",
            "platform.ranks=6",
            "platform.link_loss=0.01",
            "transport.qps_per_peer=2",
            "transport.qp_policy=striped",
            "transport.notify_on=acked",
            "transport.ack_queue=shared",
            "seed=733",
        ),
        Part.RECOVERY,
    ),
    "told of by a NAK of a later packet": (
        "reduce_scatter",
        700_001,
        (
            "platform.kind=fat_tree",
            "platform.ranks=8",
            "platform.ports=4",
            "platform.routing=enhanced_ecmp",
            "platform.link_loss=0.05",
            "switch.forwarding=cut_through",
            "collective.rings=2",
            "transport.preset=astra_ns3",
            "transport.recovery=selective_repeat",
            "transport.congestion_control=dcqcn",
            "transport.window=none",
            "transport.qps_per_peer=2",
            "transport.cc_scope=peer",
            "system.protocol=simple",
            "system.channels=2",
            "seed=579",
        ),
        Part.RECOVERY,
    ),
    "ACKs that are alike, cut through": (
        "reduce_scatter",
        60_000,
        (
            "platform.kind=zionex",
            "platform.nodes=2",
            "platform.accelerators_per_node=4",
            "platform.nics_per_node=2",
            "platform.link_loss=0.01",
            "platform.routing=spray",
            "switch.forwarding=cut_through",
            "switch.buffer=200kB",
            "collective.chunks=4",
            "transport.recovery=selective_repeat",
            "transport.ack=per_message",
            "transport.congestion_control=dctcp",
            "transport.window=6000B",
            "transport.qps_per_peer=2",
            "transport.cc_scope=peer",
            "transport.notify_on=acked",
            "transport.payload=1000B",
            "system.endpoint_delay=10ns",
            "seed=960",
        ),
        Part.RECOVERY,
    ),
    "pools": (
        "all_reduce",
        2**20,
        ("platform.ranks=4", "collective.all_reduce=direct", "collective.in_flight=1"),
        None,
    ),
    "cut-through": ("all_reduce", 2**20, ("platform.ranks=8", "switch.forwarding=cut_through"), Part.PAYLOAD),
}


@pytest.mark.parametrize("case", CASES)
def test_less_than_a_hundredth_is_unexplained(case):
    kind, size, overrides, largest = CASES[case]
    explanation = explained(kind, size, *overrides)
    parts, time = parts_of(explanation), time_of(explanation)
    assert sum(parts.values()) == time
    assert parts[Part.UNEXPLAINED] < 0.01 * time
    if largest is not None:
        assert max(parts, key=parts.__getitem__) == largest


def test_a_window_adds_what_it_holds_back():
    pair = ("platform.ranks=2", "transport.congestion_control=none", "transport.ack=out_of_band")
    free = explained("sendrecv", 400_000, *pair, group=(0, 1))
    held = explained("sendrecv", 400_000, *pair, "transport.window=20000B", group=(0, 1))
    assert parts_of(held)[Part.WINDOW] > 0
    assert parts_of(held)[Part.WINDOW] == pytest.approx(time_of(held) - time_of(free), rel=0.02)


def test_the_local_work_of_a_collective_is_the_hosts():
    slow = parts_of(explained("all_reduce", 2**18, *ASTRA, "system.local_memory_bandwidth=16GB/s"))
    fast = parts_of(explained("all_reduce", 2**18, *ASTRA, "system.local_memory_bandwidth=1600GB/s"))
    # seven steps, each three times floor(2^15 / (16 or 1,600)) ns
    assert slow[Part.HOST] - fast[Part.HOST] == 7 * 3 * (2048 - 20) * 1000


def test_no_part_is_a_remainder():
    """Without its records a part goes to what is unexplained, and no other part takes it."""
    explanation = explained("gather", 2**18, *STAR)
    record, before = explanation.record, parts_of(explanation)
    log = record.columns.log
    last = int(np.argmax(record.columns.message_delivered_ps))
    posted, end = (
        int(column[last]) for column in (record.columns.message_posted_ps, record.columns.message_delivered_ps)
    )
    assert before[Part.QUEUEING] > 0
    flows = log.part_flow[log.part_message == last]
    keep = np.isin(log.frame_flow, flows) & (log.frame_kind == FrameKind.DATA)
    names = [name for name in vars(log) if name.startswith("frame_")]
    thin = replace(log, **{name: getattr(log, name)[keep] for name in names})
    blind = replace(record, columns=replace(record.columns, log=thin))
    after = sum_by_part(MessagePaths(blind).explain(MessageStep(last, EdgeOn.DELIVERED, posted, end)))
    assert after[Part.QUEUEING] == 0
    assert after[Part.UNEXPLAINED] == before[Part.QUEUEING] + before[Part.UNEXPLAINED]
    assert after[Part.PAYLOAD] == before[Part.PAYLOAD]


@pytest.mark.parametrize("overrides", [SPINE, (*STAR, "switch.pfc=false", "switch.buffer=200kB")])
def test_a_watched_run_is_the_run(overrides):
    run = one_collective(load_scenario({}, overrides), "all_to_all", 2**18)
    plain = run.record()
    everything = Watch(
        messages=np.arange(len(plain.columns.message_src), dtype=np.int64),
        channel=np.arange(len(plain.columns.channel_frames), dtype=np.int32),
        from_ps=np.zeros(len(plain.columns.channel_frames), dtype=np.int64),
        until_ps=np.full(len(plain.columns.channel_frames), 10**18, dtype=np.int64),
    )
    watched = run.record(watch=everything)
    for name, column in vars(plain.columns).items():
        if isinstance(column, np.ndarray):
            np.testing.assert_array_equal(column, getattr(watched.columns, name), err_msg=name)
    costs = ("events", "most_pending_events")  # a watched port does in an event what another one is caught up with
    counted, counted_watched = (
        {name: count for name, count in columns.counters.items() if name not in costs}
        for columns in (plain.columns, watched.columns)
    )
    assert counted == counted_watched
    assert len(watched.columns.log.frame_start_ps) == plain.columns.channel_frames.sum()
    assert int(watched.columns.log.frame_line_bytes.sum()) == plain.columns.channel_line_bytes.sum()


def test_a_log_that_is_too_short_explains_nothing():
    run = one_collective(load_scenario({}, SPINE), "all_to_all", 2**18)
    with pytest.raises(ConfigError, match="more than 100 frames"):
        explain(run, max_records=100)


def test_only_packets_can_be_followed():
    run = one_collective(load_scenario({}, ("platform.ranks=4", "engine=analytic")), "all_reduce", 2**18)
    with pytest.raises(ConfigError, match="allowed: 'packet'"):
        explain(run)
