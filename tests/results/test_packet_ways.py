# SPDX-License-Identifier: GPL-2.0-only
"""Checks and tables where each packet of a flow may have a way of its own."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from astra_py.api import one_collective as api_one_collective
from astra_py.config import load_scenario
from astra_py.platforms.platform import NodeKind, Platform
from astra_py.results.checks import run_checks
from astra_py.results.ideal import ideal_times
from astra_py.results.record import RunRecord
from result_cases import SWITCH, one_collective, with_columns

SPRAYED = replace(SWITCH, chooses_per_packet=True)


@pytest.fixture(scope="module")
def record() -> RunRecord:
    return replace(one_collective(), switch=SPRAYED)


def failed(record: RunRecord) -> list[str]:
    return [check.name for check in run_checks(record) if not check.passed]


def moved(record: RunRecord, size_bytes: int, there: int, here: int) -> RunRecord:
    """The record with so many bytes of payload on channel ``here`` that the routes have on channel ``there``."""
    changes = {}
    for name, scale in (("payload_bytes", 1), ("delivered_payload_bytes", 1), ("line_bytes", 1), ("busy_ps", 80)):
        column = getattr(record.columns, f"channel_{name}").copy()
        column[there] -= size_bytes * scale
        column[here] += size_bytes * scale
        changes[f"channel_{name}"] = column
    return with_columns(record, **changes)


def test_a_right_run_passes(record: RunRecord) -> None:
    assert record.has_packet_ways
    assert failed(record) == []


def test_bytes_may_go_another_way_but_not_get_lost(record: RunRecord) -> None:
    # from one channel up to another one: the switch gets as much as before, and only the ranks' own ports tell
    elsewhere = moved(record, 1000, 0, 2)
    assert failed(replace(elsewhere, switch=SWITCH)) == ["link_payload_bytes", "link_line_bytes", "ports_sent"]
    assert failed(elsewhere) == ["ports_sent"]
    fewer = record.columns.channel_payload_bytes.copy()
    fewer[1] -= 1
    assert failed(with_columns(record, channel_payload_bytes=fewer)) == [
        "link_payload_bytes",
        "link_delivery",
        "switch_payload",
    ]
    line = record.columns.channel_line_bytes.copy()
    line[1] += 1
    checks = {check.name: check for check in run_checks(with_columns(record, channel_line_bytes=line))}
    assert "Ethernet links" in checks["link_line_bytes"].where


def test_ideal_time_is_that_of_nodes(record: RunRecord) -> None:
    time, channel = ideal_times(record)
    plain, _ = ideal_times(replace(record, switch=SWITCH))
    assert time.tolist() == plain.tolist() == [60_000 * 80]
    assert record.channel_ends[0][channel[0]] < 4 or record.channel_ends[1][channel[0]] < 4


@pytest.mark.parametrize("kind", ["barrier", "all_gather"])
@pytest.mark.parametrize("routing", ["spray", "least_loaded"])
@pytest.mark.parametrize("shape", ["zion", "zionex", "dgx_a100", "rail_optimized"])
def test_machines_of_several_kinds_of_links_have_an_ideal_time(shape: str, routing: str, kind: str) -> None:
    """Without a byte all nodes are alike, those without a link of some kind as well."""
    keys = ("engine=analytic", f"platform.kind={shape}", "platform.nodes=2", f"platform.routing={routing}")
    result = api_one_collective(load_scenario({}, keys), kind, 0 if kind == "barrier" else 2**20).run()
    ideal_ps = int(result.columns("collectives")["ideal_time_ps"][0])
    assert ideal_ps == 0 if kind == "barrier" else 0 < ideal_ps < int(result.columns("collectives")["time_ps"][0])


def test_several_scale_up_switches_of_an_accelerator_are_ways_of_packets() -> None:
    def machine(switches: int, efficiency: float) -> Platform:
        graph: nx.MultiGraph[int] = nx.MultiGraph()
        for node in range(2 + switches):
            rank = node if node < 2 else -1
            kind = NodeKind.ACCELERATOR if node < 2 else NodeKind.SWITCH
            graph.add_node(node, kind=kind, rank=rank, latency_ps=0, name=f"n{node}", forwards=node >= 2)
        for link in range(2 * switches):
            graph.add_edge(
                link % 2,
                2 + link // 2,
                link=link,
                rate_bps=10**11,
                delay_ps=1,
                loss=0.0,
                link_class="link",
                efficiency=efficiency,
            )
        return Platform("machine", graph)

    def groups(platform: Platform) -> list[int]:
        return replace(one_collective(ranks=2), platform=platform).channel_group.tolist()

    # of each link: up to the switch, and down from it; the same of every switch
    assert groups(machine(2, 0.9)) == [0, 2, 1, 3] * 2
    assert groups(machine(1, 0.9)) == [0, 1, 2, 3]
    assert groups(machine(2, 0.0)) == list(range(8))


@pytest.mark.parametrize("kind", ["dgx_a100", "dgx_h100"])
def test_links_of_makers_machines_are_checked_one_by_one_on_ethernet(kind: str) -> None:
    scenario = load_scenario({}, [f"platform.kind={kind}"])
    result = api_one_collective(scenario, "all_to_all", 1 << 20).run()
    checks = {check.name: check for check in result.checks}
    links = result.columns("links")
    ethernet = int(links["payload_bytes"][links["link_class"] != "nvlink"].sum())
    assert checks["link_payload_bytes"].passed
    assert checks["link_payload_bytes"].measured == int(links["payload_bytes"].sum()) > ethernet > 0
    assert checks["speed"].passed


def test_a_message_that_is_faster_than_its_links_delays_is_found(record: RunRecord) -> None:
    delivered = record.columns.message_delivered_ps.copy()
    delivered[0] = record.columns.message_posted_ps[0] + 2 * 500_000 - 10
    assert "speed" in failed(with_columns(record, message_delivered_ps=delivered))
    side_by_side = np.maximum(record.columns.message_posted_ps + 2 * 500_000, 0)
    assert "speed" not in failed(with_columns(record, message_delivered_ps=side_by_side))
