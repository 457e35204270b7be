# SPDX-License-Identifier: GPL-2.0-only
"""Whatever network, messages, variant, host and losses: a run over TCP ends, moves every byte once, and twice alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astra_py as ap
from astra_py.config.tcp import TCP_VARIANTS
from astra_py.errors import DeadlockError
from behaviour.flows import US, Flow, incast, run_flows

PLATFORMS = {
    "single_switch": ("platform.ranks=5",),
    "leaf_spine": ("platform.ranks=5", "platform.ranks_per_leaf=2", "platform.spines=2"),
    "zionex": ("platform.nodes=3", "platform.accelerators_per_node=2"),
}
HOSTS = {
    "ideal": (),
    "kernel_tcp": ("host.preset=kernel_tcp",),
    "kernel_tcp_tso_gro": ("host.preset=kernel_tcp_tso_gro", "host.cores=2"),
    "staged": ("host.staging=always", "host.staging_chunk=16KiB", "host.rx_usecs=3us", "host.gro=true"),
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Flow], list[str]]:
    kind = draw(st.sampled_from(list(PLATFORMS)))
    ranks = 6 if kind == "zionex" else 5
    flows = []
    for _ in range(draw(st.integers(1, 8))):
        dst = draw(st.sampled_from([0, 0, *range(ranks)]))
        src = draw(st.integers(0, ranks - 2))
        size = draw(st.sampled_from([0, 1, 1448, 30_000, 300_000]))
        start, priority = draw(st.integers(0, 50 * US)), draw(st.integers(0, 2))
        flows.append(Flow(src + (src >= dst), dst, size, start, draw(st.integers(1, 3)) if size else 1, priority))
    variant = draw(st.sampled_from(list(TCP_VARIANTS)))
    keys = ["transport.kind=tcp", f"platform.kind={kind}", *PLATFORMS[kind], *HOSTS[draw(st.sampled_from(list(HOSTS)))]]
    keys += [f"transport.congestion_control={variant}", f"seed={draw(st.integers(0, 1000))}"]
    keys += [f"transport.tcp.ecn={str(variant == 'dctcp' or draw(st.booleans())).lower()}"]
    choices = {
        "platform.link_rate": ["10Gbps", "100Gbps", "400Gbps"],
        "platform.link_delay": ["1ns", "500ns", "20us"],
        "platform.link_loss": ["0", "0", "0.001", "0.02"],
        "switch.buffer": ["100kB", "1MB", "unlimited"],
        "transport.tcp.mtu": ["1500B", "9000B"],
        "transport.tcp.sockets_per_peer": ["1", "3"],
        "transport.tcp.initial_window": ["2", "10"],
        "transport.tcp.delayed_ack": ["1", "2"],
        "transport.tcp.sack": ["true", "false"],
        "transport.tcp.timestamps": ["true", "false"],
        "transport.tcp.recovery": ["classic", "prr"],
        "transport.tcp.connect": ["before", "timed"],
        "transport.tcp.send_buffer": ["auto", "100kB"],
    }
    keys += [f"{key}={draw(st.sampled_from(values))}" for key, values in choices.items()]
    return flows, keys


def assert_sound(case: tuple[list[Flow], list[str]]) -> None:
    """The run's own checks hold; moments of a message are in their order; twice is the same."""
    flows, keys = case
    result = run_flows(flows, *keys, "limits.max_events=20000000")
    messages = result.messages
    assert messages["size_bytes"].sum() == sum(flow.size_bytes for flow in flows)
    assert (messages["posted_ps"] < messages["sent_ps"]).all()
    assert (messages["sent_ps"] < messages["delivered_ps"]).all()
    assert (messages["sent_ps"] < messages["acked_ps"]).all()
    refused, lost = int(result.queues["refused_frames"].sum()), int(result.links["dropped_frames"].sum())
    if refused == lost == 0:
        assert result.counters["timeouts"] == result.counters["repeated_packets"] == 0
    again = run_flows(flows, *keys)
    assert again.messages.equals(messages)
    assert again.counters == result.counters


@given(cases())
@settings(max_examples=40)
def test_a_run_ends_and_keeps_its_bytes(case: tuple[list[Flow], list[str]]) -> None:
    assert_sound(case)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@given(cases())
@settings(max_examples=2000)
def test_many_runs_end_and_keep_their_bytes(case: tuple[list[Flow], list[str]]) -> None:
    assert_sound(case)


@pytest.mark.parametrize("loss", ["0", "0.01"])
@pytest.mark.parametrize("variant", TCP_VARIANTS)
def test_every_variant_ends(variant: str, loss: str) -> None:
    keys = ("transport.kind=tcp", "platform.ranks=5", f"transport.congestion_control={variant}", "switch.buffer=300kB")
    result: ap.Result = run_flows(incast(4, 300_000), *keys, f"platform.link_loss={loss}")
    assert result.messages["size_bytes"].sum() == 4 * 300_000
    if loss != "0":
        assert result.counters["repeated_packets"] > 0


def test_a_way_that_loses_all_is_given_up_and_named() -> None:
    keys = ("transport.kind=tcp", "platform.ranks=3", "platform.link_loss=0.9999999", "transport.tcp.data_retries=3")
    with pytest.raises(DeadlockError) as caught:
        run_flows([Flow(1, 2, 100_000)], *keys)
    assert "TCP connection 0 from rank 1 (rank1) to rank 2 (rank2) was given up" in str(caught.value)
    assert caught.value.exit_code == 3
