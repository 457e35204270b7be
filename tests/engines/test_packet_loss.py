# SPDX-License-Identifier: GPL-2.0-only
"""Loss recovery: on lossy links every message still comes exactly once, and nothing is sent again without need.

Every run goes the whole way, through all checks: each message once, bytes, causes before effects, links that balance.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario

CONTROLS = ["dcqcn", "timely", "swift", "dctcp"]
TIMES = ["posted_ps", "sent_ps", "delivered_ps", "acked_ps"]


def run(kind: str, size_bytes: int, ns3_defaults: dict[str, Any] | None = None, **overrides: Any) -> ap.Result:
    keys = [f"{key.replace('__', '.')}={value}" for key, value in overrides.items()]
    scenario = load_scenario({"ns3": {"defaults": ns3_defaults or {}}}, keys)
    return one_collective(scenario, kind, size_bytes).run()


def qps(count: int | str, policy: str = "round_robin") -> dict[str, Any]:
    """Keys of so many queue pairs per peer."""
    policies = {"transport__qp_policy": policy} if isinstance(count, int) else {}
    return {"transport__qps_per_peer": count, **policies}


def control(name: str, scope: str) -> dict[str, Any]:
    """Keys of a congestion control."""
    return {"transport__congestion_control": name, "transport__cc_scope": scope}


def assert_each_message_once(result: ap.Result) -> None:
    """Beside what the run's checks say: every rank's counts agree with the table of messages, and all was noticed."""
    messages = result.messages
    counted = {check.name: check.measured for check in result.checks}
    assert counted["sent_bytes"] == counted["received_bytes"] == messages["size_bytes"].sum()
    assert (messages["delivered_ps"] <= messages["acked_ps"]).all()


@given(
    loss=st.sampled_from([0.0001, 0.001, 0.02, 0.2]),
    seed=st.integers(0, 2**32),
    ack=st.sampled_from(["per_packet", "every:3", "per_message", "out_of_band"]),
    window=st.sampled_from(["none", "bdp", "20kB"]),
    platform=st.sampled_from(["single_switch", "leaf_spine"]),
    timeout=st.sampled_from(["auto", "auto", "3us"]),
    qps=st.sampled_from([{}, qps(3), qps(3, "striped"), qps("per_message")]),
    recovery=st.sampled_from(["go_back_n", "selective_repeat"]),
    control=st.sampled_from([{}, *(control(n, scope) for n in CONTROLS for scope in ("queue_pair", "peer"))]),
    kind=st.sampled_from(["all_reduce", "all_to_all"]),
    size=st.integers(1, 200_000),
)
@settings(max_examples=100)
def test_each_message_comes_exactly_once_whatever_is_lost(
    loss: float,
    seed: int,
    ack: str,
    window: str,
    platform: str,
    timeout: str,
    qps: dict[str, Any],
    recovery: str,
    control: dict[str, Any],
    kind: str,
    size: int,
) -> None:
    result = run(
        kind,
        size,
        platform__kind=platform,
        platform__ranks=5,
        platform__link_loss=loss,
        transport__ack=ack,
        transport__window=window,
        transport__timeout=timeout,
        transport__recovery=recovery,
        seed=seed,
        **qps,
        **control,
    )
    if ack != "out_of_band":  # whose acknowledgements may be still on their way at the end
        assert_each_message_once(result)
    drops = result.links["dropped_frames"].sum()
    assert result.counters["dropped_frames"] == drops
    assert result.counters["repeated_packets"] == result.messages["retransmitted_packets"].sum()
    if not drops and timeout == "auto":
        assert result.counters["repeated_packets"] == 0


def test_losses_are_as_frequent_as_asked() -> None:
    result = run("all_to_all", 8 << 20, platform__ranks=8, platform__link_loss=0.01)
    assert result.links["dropped_frames"].sum() == pytest.approx(0.01 * result.links["frames"].sum(), rel=0.15)
    assert result.counters["repeated_packets"] > 0
    assert result.counters["naks"] > 0
    assert_each_message_once(result)


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
    assert armed.messages[TIMES].equals(plain.messages[TIMES])


def test_a_timeout_below_the_round_trip_repeats_what_is_on_its_way_and_delivers_it_once() -> None:
    result = run("sendrecv", 1 << 20, platform__ranks=2, platform__link_delay="50us", transport__timeout="10us")
    assert result.counters["timeouts"] > 0
    assert result.counters["duplicate_packets"] > 0
    assert_each_message_once(result)


@pytest.mark.parametrize("loss", [0.0, 0.05])
@pytest.mark.parametrize("ack", ["per_packet", "per_message"])
def test_sequence_numbers_wrap(loss: float, ack: str) -> None:
    shape = {"platform__ranks": 3, "platform__link_loss": loss, "transport__payload": "64B", "transport__ack": ack}
    plain = run("all_to_all", 30_000, **shape)
    wrapped = run("all_to_all", 30_000, {"ns3::RoceNic::InitialPsn": 2**24 - 5}, **shape)
    assert_each_message_once(wrapped)
    assert plain.messages["delivered_ps"].equals(wrapped.messages["delivered_ps"])


def test_losses_depend_on_the_seed_alone() -> None:
    shape = {"platform__ranks": 4, "platform__link_loss": 0.03}
    one, again, other = (run("all_reduce", 500_000, seed=seed, **shape).messages["delivered_ps"] for seed in (7, 7, 8))
    assert one.equals(again)
    assert not one.equals(other)


@pytest.mark.parametrize("loss", [0.001, 0.01])
def test_a_loss_costs_a_round_trip_or_a_timeout_not_the_rest_of_the_message(loss: float) -> None:
    # Were the timer put off by each packet sent, a lost NAK would cost all that the sender still has.
    size = 16 << 20
    short, long = (
        run("sendrecv", ratio * size, platform__ranks=2, platform__link_loss=loss, seed=3) for ratio in (1, 8)
    )
    assert 6 < long.collectives["time_ps"][0] / short.collectives["time_ps"][0] < 10
    for result, sent in ((short, size), (long, 8 * size)):
        assert 1 <= result.counters["packets"] * 4096 / sent < 1 + 120 * loss
