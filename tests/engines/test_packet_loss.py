# SPDX-License-Identifier: GPL-2.0-only
"""Go-back-N: on lossy links every message still comes exactly once, and nothing is sent again without need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.engines.packet import PacketEngine
from astra_py.engines.resolve import engine_options

TIMES = ["posted", "sent", "delivered", "acked"]


def run(kind: str, size_bytes: int, **overrides: Any) -> EngineColumns:
    keys = [f"{key.replace('__', '.')}={value}" for key, value in overrides.items()]
    scenario = load_scenario({}, keys)
    job = one_collective(scenario, kind, size_bytes)
    return PacketEngine().run(job.schedule, job.platform, job.transport, engine_options(scenario))


def assert_each_message_once(columns: EngineColumns) -> None:
    assert columns.exit_reason == ExitReason.COMPLETED
    assert len(set(zip(columns.message_instance, columns.message_op, strict=True))) == len(columns.message_op)
    np.testing.assert_array_equal(columns.message_delivered_bytes, columns.message_size_bytes)
    for ranks, column in (
        (columns.message_src, columns.rank_sent_payload_bytes),
        (columns.message_dst, columns.rank_received_payload_bytes),
    ):
        sums = np.bincount(ranks, columns.message_size_bytes, minlength=len(column)).astype(np.int64)
        np.testing.assert_array_equal(sums, column)
    assert (columns.message_delivered_ps <= columns.message_acked_ps).all()
    assert (columns.message_sent_ps <= columns.message_delivered_ps).all()


@given(
    loss=st.sampled_from([0.001, 0.02, 0.2]),
    seed=st.integers(0, 2**32),
    ack=st.sampled_from(["per_packet", "every:3", "per_message"]),
    window=st.sampled_from(["none", "bdp", "20kB"]),
    qps=st.sampled_from(["1", "3", "per_message"]),
    kind=st.sampled_from(["all_reduce", "all_to_all"]),
    size=st.integers(1, 200_000),
)
@settings(max_examples=60, deadline=None)
def test_each_message_comes_exactly_once_whatever_is_lost(
    loss: float, seed: int, ack: str, window: str, qps: str, kind: str, size: int
) -> None:
    columns = run(
        kind,
        size,
        platform__ranks=5,
        platform__link_loss=loss,
        transport__ack=ack,
        transport__window=window,
        transport__qps_per_peer=qps,
        seed=seed,
    )
    assert_each_message_once(columns)
    drops = columns.channel_dropped_frames.sum()
    assert columns.counters["dropped_frames"] == drops
    assert columns.counters["repeated_packets"] == columns.message_retransmitted_packets.sum()
    if not drops:
        assert columns.counters["repeated_packets"] == 0


def test_losses_are_as_frequent_as_asked() -> None:
    columns = run("all_to_all", 8 << 20, platform__ranks=8, platform__link_loss=0.01)
    frames, dropped = columns.channel_frames.sum(), columns.channel_dropped_frames.sum()
    assert dropped == pytest.approx(0.01 * frames, rel=0.15)
    assert columns.counters["repeated_packets"] > 0
    assert columns.counters["naks"] > 0
    assert_each_message_once(columns)


@pytest.mark.parametrize("delay", ["1ns", "1us", "10ms"])
@pytest.mark.parametrize("ack", ["per_packet", "every:7", "per_message"])
@pytest.mark.parametrize("window", ["none", "bdp"])
def test_an_armed_timer_does_nothing_where_nothing_is_lost(delay: str, ack: str, window: str) -> None:
    # So small a loss that no frame of this run meets it, and yet the timers are armed.
    shape = {"platform__ranks": 6, "platform__link_delay": delay, "transport__ack": ack, "transport__window": window}
    armed = run("all_to_all", 600_000, platform__link_loss=1e-15, **shape)
    plain = run("all_to_all", 600_000, **shape)
    assert armed.counters["timeouts"] == 0
    assert armed.counters["repeated_packets"] == 0
    for time in TIMES:
        np.testing.assert_array_equal(getattr(armed, f"message_{time}_ps"), getattr(plain, f"message_{time}_ps"))


def test_a_timeout_below_the_round_trip_repeats_what_is_on_its_way_and_delivers_it_once() -> None:
    columns = run("sendrecv", 1 << 20, platform__ranks=2, platform__link_delay="50us", transport__timeout="10us")
    assert columns.counters["timeouts"] > 0
    assert columns.counters["duplicate_packets"] > 0
    assert_each_message_once(columns)


@pytest.mark.parametrize("loss", [0.0, 0.05])
@pytest.mark.parametrize("ack", ["per_packet", "per_message"])
def test_sequence_numbers_wrap(loss: float, ack: str) -> None:
    shape = {"platform__ranks": 3, "platform__link_loss": loss, "transport__payload": "64B", "transport__ack": ack}
    plain = run("all_to_all", 30_000, **shape)
    scenario = load_scenario(
        {"ns3": {"defaults": {"ns3::RoceNic::InitialPsn": 2**24 - 5}}},
        [f"{key.replace('__', '.')}={value}" for key, value in shape.items()],
    )
    job = one_collective(scenario, "all_to_all", 30_000)
    wrapped = PacketEngine().run(job.schedule, job.platform, job.transport, engine_options(scenario))
    assert_each_message_once(wrapped)
    np.testing.assert_array_equal(plain.message_delivered_ps, wrapped.message_delivered_ps)


def test_losses_depend_on_the_seed_alone() -> None:
    shape = {"platform__ranks": 4, "platform__link_loss": 0.03}
    one, again, other = (run("all_reduce", 500_000, seed=seed, **shape) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.message_delivered_ps, again.message_delivered_ps)
    assert not np.array_equal(one.message_delivered_ps, other.message_delivered_ps)
