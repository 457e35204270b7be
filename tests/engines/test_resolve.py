# SPDX-License-Identifier: GPL-2.0-only
"""From a scenario to an engine's flat figures."""

from __future__ import annotations

import pytest

from astra_py.collectives.schedule import EdgeOn
from astra_py.config import load_scenario
from astra_py.engines.base import AckPolicy, TimeRounding, TransportModel, WindowPolicy
from astra_py.engines.resolve import engine_options, transport_model


def model(*overrides: str) -> TransportModel:
    return transport_model(load_scenario({}, overrides))


def test_defaults() -> None:
    assert model() == TransportModel(
        payload_bytes=4096,
        header_bytes=-1,
        ack_bytes=-1,
        ack_policy=AckPolicy.PER_PACKET,
        ack_every=1,
        is_ack_class_shared=False,
        window_policy=WindowPolicy.NONE,
        window_bytes=0,
        qps_per_peer=1,
        timeout_ps=-1,
        send_latency_ps=0,
        receive_latency_ps=0,
        notify_on=EdgeOn.DELIVERED,
        time_rounding=TimeRounding.PS_CEIL,
    )


def test_astra_ns3() -> None:
    assert model("transport.preset=astra_ns3") == TransportModel(
        payload_bytes=1000,
        header_bytes=36,
        ack_bytes=48,
        ack_policy=AckPolicy.PER_PACKET,
        ack_every=1,
        is_ack_class_shared=True,
        window_policy=WindowPolicy.FIXED,
        window_bytes=102_000,
        qps_per_peer=0,
        timeout_ps=-1,
        send_latency_ps=0,
        receive_latency_ps=0,
        notify_on=EdgeOn.ACKED,
        time_rounding=TimeRounding.NS_NEAREST,
    )


@pytest.mark.parametrize(
    ("override", "field", "value"),
    [
        ("transport.ack=every:7", "ack_policy", AckPolicy.EVERY),
        ("transport.ack=every:7", "ack_every", 7),
        ("transport.ack=per_message", "ack_policy", AckPolicy.PER_MESSAGE),
        ("transport.ack=out_of_band", "ack_policy", AckPolicy.OUT_OF_BAND),
        ("transport.window=bdp", "window_policy", WindowPolicy.BDP),
        ("transport.qps_per_peer=16", "qps_per_peer", 16),
        ("transport.timeout=4ms", "timeout_ps", 4 * 10**9),
        ("transport.header_size=0B", "header_bytes", 0),
        ("transport.send_latency=1us", "send_latency_ps", 10**6),
        ("transport.receive_latency=2us", "receive_latency_ps", 2 * 10**6),
    ],
)
def test_each_choice(override: str, field: str, value: object) -> None:
    assert getattr(model(override), field) == value


def test_options() -> None:
    options = engine_options(load_scenario({}))
    assert (options.seed, options.max_events, options.max_time_ps, options.fault) == (1, -1, -1, "")
    keys = ["seed=7", "system.endpoint_delay=10ns", "limits.max_events=5", "limits.max_time=1s"]
    options = engine_options(load_scenario({}, [*keys, "ns3.defaults.ns3::X::Y=3"]), fault="swap_sizes")
    assert (options.seed, options.endpoint_delay_ps, options.max_events, options.max_time_ps) == (7, 10_000, 5, 10**12)
    assert options.ns3_defaults == {"ns3::X::Y": "3"}
    assert options.fault == "swap_sizes"
