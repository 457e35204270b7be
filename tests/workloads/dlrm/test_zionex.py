# SPDX-License-Identifier: GPL-2.0-only
"""The scenario of two ZionEX nodes, run whole: what is declared reaches the network, uneven as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import astra_py as ap
from astra_py.results.result import Result

SCENARIO = Path(__file__).parents[3] / "workloads" / "zionex_2x8.toml"
DIMS = 4 * 128 + 6 * 64 + 6 * 96 + 8 * 32 + 4 * 256 + 6 * 64 + 6 * 128
BATCH, RANKS, PER_NODE = 512, 16, 8
DENSE = 4 * (256 * 512 + 512 * 512 + 512 * 128 + (128 + DIMS) * 1024 + 1024 * 512 + 512 * 256 + 256)


@pytest.fixture(scope="module", params=["packet", "analytic"])
def result(request: pytest.FixtureRequest) -> Result:
    return ap.load(SCENARIO, f"engine={request.param}").run()


def test_all_to_all_v_is_uneven_and_said_to_be(result: Result) -> None:
    plan = next(note for note in result.manifest["notes"] if note.startswith("table-wise sharding"))
    assert "max/min over ranks 2.75" in plan
    dims = np.array(plan.rpartition(": ")[2].split(), dtype=np.int64)
    assert dims.sum() == DIMS
    assert dims.max() / dims.min() == 2.75


def test_bytes_between_nodes_are_those_by_hand(result: Result) -> None:
    # On a NIC's link goes what leaves the node: half of every exchange, and of an all-reduce of M bytes the ring over
    # two nodes of an eighth of it, 2 (2 - 1) / 2 M / 8 a rank.
    lookups = sum(n * pooling for n, pooling in ((4, 50), (6, 30), (6, 20), (8, 12), (4, 1), (6, 1), (6, 3)))
    exchanges = BATCH * (2 * DIMS * 2 + lookups * 8 + 40 * 4) * RANKS // 2
    reduces = DENSE // PER_NODE * RANKS
    links = result.links
    host = links[links["link_class"] == "host"]
    # up from the source's NIC and down to the destination's
    assert host["payload_bytes"].sum() == 2 * 2 * (exchanges + reduces)


def test_exposed_communication_is_iteration_less_compute(result: Result) -> None:
    operations, iterations = result.operations, result.iterations
    for row in iterations.itertuples():
        mine = operations[(operations["rank"] == row.rank) & (operations["kind"] == "compute")]
        computes = mine[mine["iteration"] == row.iteration].sort_values("start_us")
        starts, ends = computes["start_us"].to_numpy(), computes["end_us"].to_numpy()
        assert (starts[1:] >= ends[:-1] - 1e-9).all(), "one compute at a time, so that the union is the sum"
        assert row.compute_us == pytest.approx((ends - starts).sum())
        assert row.exposed_us == pytest.approx(row.time_us - row.compute_us)


def test_iterations_become_steady() -> None:
    times = ap.load(SCENARIO, "engine=analytic", "workload.iterations=5").run().iterations["time_us"]
    # the first has no all-reduces to wait for, and nothing comes after the last
    assert times[2] == pytest.approx(times[3], rel=1e-3)
    assert times[1] == pytest.approx(times[2], rel=1e-2)
