# SPDX-License-Identifier: GPL-2.0-only
"""The table of flows: completion times, and ideal times that are the packet engine's own of a lone message."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import astra_py as ap
from astra_py.api import one_collective
from astra_py.errors import CheckError
from astra_py.platforms import Platform
from astra_py.platforms.platform import NodeKind
from astra_py.results.flow_report import flow_rows
from astra_py.workloads import FlowList, flow_trace
from behaviour.flows import graph_of
from trace_cases import TraceRun

US = 10**6


class OnPlatform(TraceRun):
    """Flows on a platform that is given."""

    given_platform: Platform

    @property
    def platform(self) -> Platform:  # type: ignore[override]
        return self.given_platform


def run(flows: FlowList, platform: Platform, *overrides: str) -> ap.Result:
    job = OnPlatform(flow_trace(platform.ranks, flows), *overrides)
    job.given_platform = platform
    return job.run()


@st.composite
def chains(draw: st.DrawFn) -> Platform:
    """Two ranks with up to four switches in a row between them, links of any rates and delays."""
    switches = draw(st.integers(0, 4))
    kinds = [NodeKind.ACCELERATOR, NodeKind.ACCELERATOR, *[NodeKind.SWITCH] * switches]
    order = [0, *range(2, 2 + switches), 1]
    rates = st.sampled_from([10**9, 25 * 10**9, 40 * 10**9, 100 * 10**9, 7_777_777_777])
    links = [(a, b, draw(rates), draw(st.integers(1, 10**6))) for a, b in pairwise(order)]
    efficiency = draw(st.sampled_from([0.0, 0.0, 0.94]))
    return graph_of(kinds, links, latency_ps=draw(st.integers(0, 10**6)), efficiency=efficiency)


@settings(max_examples=50)
@given(
    chains(),
    st.lists(st.one_of(st.integers(0, 4), st.integers(990, 5000), st.integers(0, 300_000)), min_size=1, max_size=3),
    st.sampled_from(
        [(), ("transport.payload=1000B",), ("transport.header_size=36B", "transport.time_rounding=ns_nearest")]
    ),
)
def test_the_ideal_time_is_that_of_a_lone_message_to_the_picosecond(
    platform: Platform, sizes: list[int], transport: tuple[str, ...]
) -> None:
    # a second apart each is alone
    start = np.arange(len(sizes)) * 10**12
    plain = ["transport.congestion_control=none", "transport.ack=out_of_band"]
    flows = run(FlowList([0] * len(sizes), [1] * len(sizes), sizes, start), platform, *plain, *transport).flows
    assert flows["time_ps"].tolist() == flows["ideal_time_ps"].tolist()
    assert flows["slowdown"].tolist() == [1.0] * len(sizes)


@pytest.mark.parametrize("engine", ["packet", "analytic"])
@pytest.mark.parametrize(
    "platform",
    [{"kind": "single_switch", "ranks": 8}, {"kind": "dgx_a100", "ranks": 16}, {"kind": "fat_tree", "ranks": 16}],
)
@pytest.mark.parametrize(
    "transport", ["transport.qps_per_peer=4", "transport.qp_policy=striped", "switch.forwarding=cut_through"]
)
def test_no_flow_is_faster_than_alone(engine: str, platform: dict[str, object], transport: str) -> None:
    rng = np.random.default_rng(1)
    ranks = int(str(platform["ranks"]))
    src = rng.integers(0, ranks, 200)
    flows = FlowList(
        src, (src + rng.integers(1, ranks, 200)) % ranks, rng.integers(0, 10**5, 200), rng.integers(0, 10**8, 200)
    )
    also = ["transport.qps_per_peer=4"] if "striped" in transport else []
    result = TraceRun(
        flow_trace(ranks, flows), f"engine={engine}", *also, transport, source={"platform": platform}
    ).run()
    assert (result.flows["time_ps"] >= result.flows["ideal_time_ps"]).all()


def star(ranks: int) -> dict[str, object]:
    return {"platform": {"kind": "single_switch", "ranks": ranks}}


def test_a_flow_counts_from_its_start() -> None:
    flows = FlowList([1, 0, 2], [0, 2, 0], [10**6, 70, 10**6], [5 * US, 3 * US, 5 * US])
    delay = ["system.endpoint_delay=1us"]
    plain, delayed = (TraceRun(flow_trace(3, flows), *given, source=star(3)).run() for given in ([], delay))
    table = plain.flows
    assert table[["flow", "src", "dst", "size_bytes"]].to_numpy().tolist() == [
        [0, 1, 0, 10**6],
        [1, 0, 2, 70],
        [2, 2, 0, 10**6],
    ]
    assert table["start_ps"].tolist() == flows.start_ps.tolist()
    assert table["slowdown"][1] == 1.0
    assert table["slowdown"][[0, 2]].tolist() == pytest.approx([2, 2], rel=0.05)
    assert table["packets"].sum() == plain.pairs["packets"].sum()
    assert (delayed.flows["time_ps"][1] - table["time_ps"][1]) == US  # until it is posted


def test_a_flow_that_starts_at_another_time_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    job = TraceRun(flow_trace(2, FlowList([0], [1], [10], [7])), source=star(2))
    (template,) = job.schedule.templates
    late = replace(template, duration_ps=template.duration_ps + 1)
    monkeypatch.setitem(job.__dict__, "schedule", replace(job.schedule, templates=(late,)))
    with pytest.raises(CheckError, match="flow_starts"):
        job.run()


def test_flows_are_told_by_decades_of_their_sizes() -> None:
    sizes = [9, 10, 99, 100, 12_345, 10**6]
    result = TraceRun(flow_trace(2, FlowList([0] * 6, [1] * 6, sizes, np.arange(6) * 10**9)), source=star(2)).run()
    rows = flow_rows(result)
    assert [(row["flows"], row["size_bytes_min"], row["size_bytes_max"]) for row in rows] == [
        (6, 9, 10**6),
        (1, 9, 9),
        (2, 10, 99),
        (1, 100, 100),
        (1, 12_345, 12_345),
        (1, 10**6, 10**6),
    ]
    assert rows[0]["p50_us"] == sorted(result.flows["time_us"])[2]
    assert rows[0]["p99_us"] == rows[0]["max_us"] == result.flows["time_us"].max()
    assert rows[0]["slowdown_max"] == 1.0
    assert "flows" in result.report()


def test_runs_without_flows_say_nothing_of_them() -> None:
    result = one_collective(
        ap.load(star(4) | {"background": {"x": {"kind": "incast"}}}).scenario, "all_reduce", 64
    ).run()
    assert result.flows.empty
    assert flow_rows(result) == []
    assert "completion times" not in result.report()


def test_a_hundred_thousand_flows_are_one_list() -> None:
    rng = np.random.default_rng(5)
    count, ranks = 100_000, 64
    src = rng.integers(0, ranks, count)
    flows = FlowList(
        src, (src + rng.integers(1, ranks, count)) % ranks, rng.integers(1, 2000, count), rng.integers(0, 10**10, count)
    )
    result = TraceRun(flow_trace(ranks, flows), "engine=analytic", source=star(ranks)).run()
    assert len(result.flows) == count
    assert (result.flows["slowdown"] >= 1).all()
