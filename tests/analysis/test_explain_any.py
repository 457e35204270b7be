# SPDX-License-Identifier: GPL-2.0-only
"""Whatever the network and its transport are like, the parts add up, and next to nothing is unexplained."""

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_cases import explained, parts_of, time_of
from astra_py.analysis.stretches import Part

MACHINES = ("platform.nodes=2", "platform.accelerators_per_node=4")
platforms = st.sampled_from(
    [
        ("platform.ranks=5",),
        ("platform.kind=ring", "platform.ranks=6"),
        ("platform.kind=leaf_spine", "platform.ranks=8", "platform.ranks_per_leaf=4", "platform.oversubscription=2"),
        (
            "platform.kind=leaf_spine",
            "platform.ranks=8",
            "platform.ranks_per_leaf=4",
            "platform.oversubscription=2",
            "platform.routing=least_loaded",
        ),
        ("platform.kind=fat_tree", "platform.ranks=8", "platform.ports=4", "platform.routing=spray"),
        ("platform.kind=zionex", *MACHINES),
        ("platform.kind=zionex", *MACHINES, "platform.nics_per_node=2", "platform.routing=spray"),
        ("platform.kind=zion", *MACHINES),
        ("platform.kind=rail_optimized", *MACHINES),
        ("platform.kind=rail_optimized", *MACHINES, "platform.nic_policy=pxn"),
        ("platform.kind=dgx_a100", "platform.nodes=2"),
    ]
)
switches = st.sampled_from(
    [
        (),
        ("switch.buffer=150kB",),
        ("switch.pfc=false", "switch.buffer=150kB"),
        ("switch.forwarding=cut_through",),
        ("switch.forwarding=cut_through", "switch.buffer=200kB"),
    ]
)
recoveries = st.sampled_from(["go_back_n", "selective_repeat"])
losses = st.sampled_from([(), ("platform.link_loss=0.01",)])
acks = st.sampled_from(["per_packet", "every:3", "per_message", "out_of_band"])
controls = st.sampled_from(["none", "dcqcn", "hpcc", "dctcp", "swift", "timely"])
windows = st.sampled_from(["none", "bdp", "6000B"])
queue_pairs = st.sampled_from(
    [(), ("transport.qps_per_peer=per_message",), ("transport.qps_per_peer=3", "transport.qp_policy=striped")]
)
endpoints = st.sampled_from(
    [
        (),
        ("transport.notify_on=acked", "system.endpoint_delay=10ns"),
        ("transport.send_latency=700ns", "transport.receive_latency=900ns"),
        ("collective.in_flight=1",),
        ("system.admission=1",),
        ("system.protocol=ll128", "transport.notify_on=acked", "collective.chunks=3"),
    ]
)
kinds = st.sampled_from(
    [
        ("all_reduce", "ring"),
        ("all_reduce", "direct"),
        ("all_reduce", "halving_doubling"),
        ("all_reduce", "double_binary_tree"),
        ("all_reduce", "hierarchical"),
        ("all_to_all", "direct"),
        ("all_to_all", "bruck"),
        ("gather", "direct"),
    ]
)


@settings(max_examples=30)
@given(
    kinds, platforms, switches, losses, recoveries, acks, controls, windows, queue_pairs, endpoints, st.integers(0, 99)
)
def test_next_to_nothing_is_unexplained(
    kind, platform, switch, loss, recovery, ack, control, window, queue_pair, endpoint, seed
):
    collective, algorithm = kind
    explanation = explained(
        collective,
        120_000,
        *platform,
        *switch,
        *loss,
        *queue_pair,
        *endpoint,
        f"collective.{collective}={algorithm}",
        f"transport.recovery={recovery}",
        f"transport.ack={ack}",
        f"transport.congestion_control={control}",
        f"transport.window={window}",
        f"seed={seed}",
    )
    parts, time = parts_of(explanation), time_of(explanation)
    assert sum(parts.values()) == time
    assert parts[Part.UNEXPLAINED] < 0.01 * time
