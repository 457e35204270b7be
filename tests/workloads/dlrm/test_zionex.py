# SPDX-License-Identifier: GPL-2.0-only
"""The scenario of two ZionEX nodes, run whole: what is declared reaches the network, uneven as it is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import astra_py as ap
from astra_py.results.result import Result
from astra_py.workloads.dlrm import DlrmJob
from dlrm_cases import A100

SCENARIO = Path(__file__).parents[3] / "workloads" / "zionex_2x8.toml"
MODEL = SCENARIO.with_name("dlrm_uneven_40.toml")
DIMS = 4 * 128 + 6 * 64 + 6 * 96 + 8 * 32 + 4 * 256 + 6 * 64 + 6 * 128
BATCH, RANKS, PER_NODE = 512, 16, 8
DENSE = 4 * (256 * 512 + 512 * 512 + 512 * 128 + (128 + DIMS) * 1024 + 1024 * 512 + 512 * 256 + 256)


@pytest.fixture(scope="module", params=["packet", "flow", "analytic"])
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


def vectors_and_indices() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bytes of pooled vectors of one rank's samples, and of their indices and lengths, of each rank's tables.

    From the plan's owners and the model's file alone; i64[2 machines, 8].
    """
    config = ap.load(SCENARIO).scenario.require_workload()
    owner = DlrmJob(config, RANKS, A100).plan.rank.tolist()
    groups = tomllib.loads(MODEL.read_text())["tables"]
    tables = [(group["dim"], group["pooling"]) for group in groups for _ in range(group["count"])]
    vectors, indices = np.zeros(RANKS, dtype=np.int64), np.zeros(RANKS, dtype=np.int64)
    for rank, (dim, pooling) in zip(owner, tables, strict=True):
        vectors[rank] += BATCH * dim * 2
        indices[rank] += BATCH * (pooling * 8 + 4)
    return vectors.reshape(2, PER_NODE), indices.reshape(2, PER_NODE)


def sent_by_hand() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bytes that each rank sends inside its node and between nodes in an iteration; i64[16] each."""
    vectors, indices = vectors_and_indices()
    # Forward a rank has the same for all 16 ranks: to each of 7 peers goes what is for both ranks on the peer's rail,
    # and on its own rail the rank passes on what its node's 8 have for the other node's rank there.
    inside = 7 * 2 * vectors
    between = np.repeat(vectors.sum(axis=1), PER_NODE).reshape(2, PER_NODE)
    # Indices and gradients go to where the tables are: to each peer what is for its rail, from both nodes' tables.
    for back in (indices, vectors):
        rail = back.sum(axis=0)
        inside = inside + (rail.sum() - rail)
        between = between + PER_NODE * back[::-1]
    # All-reduces of M: 7/8 M scattered and 7/8 M gathered inside, an eighth of M exchanged by halves between.
    return (inside + 2 * DENSE * 7 // 8).ravel(), (between + DENSE // 8).ravel()


@pytest.mark.parametrize(("link_class", "level"), [("nvlink", 0), ("host", 1)])
def test_bytes_of_each_rank_inside_and_between_nodes_are_those_by_hand(
    result: Result, link_class: str, level: int
) -> None:
    links = result.links[result.links["link_class"] == link_class]
    up = links[links["from"].str.startswith("rank")].set_index("from")["payload_bytes"]
    assert [up[f"rank{rank}"] for rank in range(RANKS)] == (2 * sent_by_hand()[level]).tolist()


@pytest.mark.parametrize("algorithm", ["direct", "hierarchical"])
def test_what_ranks_send_in_all_to_all_v_differs_by_a_third_and_more(algorithm: str) -> None:
    result = ap.load(SCENARIO, "engine=analytic", f"collective.all_to_all_v={algorithm}").run()
    collectives = result.collectives.set_index("collective")
    pooled = collectives[collectives["name"] == "embedding.pooled"].index
    vectors = vectors_and_indices()[0]
    own = {
        "direct": 15 * vectors,
        "hierarchical": 7 * 2 * vectors + vectors.sum(axis=1, keepdims=True),
    }[algorithm].ravel()
    for collective in pooled:
        messages = result.messages[result.messages["collective"] == collective]
        sent = messages.groupby("src")["size_bytes"].sum()
        assert sent.tolist() == own.tolist()
        assert sent.max() / sent.min() >= 1.3


def union(spans: NDArray[np.int64]) -> int:
    """Length of the union of spans, i64[k, 2]: what lies between the sorted ends where any span is open."""
    edges = sorted([(start, 1) for start, _ in spans.tolist()] + [(end, -1) for _, end in spans.tolist()])
    total, is_open, since = 0, 0, 0
    for time, step in edges:
        total += (time - since) * (is_open > 0)
        is_open, since = is_open + step, time
    return total


def test_exposed_communication_is_iteration_less_the_union_of_compute(result: Result) -> None:
    operations = result.operations
    begin, exposed = 0, 0
    for row in result.iterations.itertuples():
        mine = operations[(operations["rank"] == row.rank) & (operations["iteration"] == row.iteration)]
        end = int(mine["end_ps"].max())
        compute = union(mine[mine["kind"] == "compute"][["start_ps", "end_ps"]].to_numpy())
        assert row.time_ps == end - begin, "from the end of the iteration before to the end of this one"
        assert round(row.exposed_us * 10**6) == end - begin - compute
        begin, exposed = end, exposed + end - begin - compute
    assert begin == operations["end_ps"].max(), "the rank is the one that ends the run"
    mine = operations[(operations["rank"] == row.rank) & (operations["kind"] == "compute")]
    assert exposed == begin - union(mine[["start_ps", "end_ps"]].to_numpy())


def test_iterations_become_steady() -> None:
    times = ap.load(SCENARIO, "engine=analytic", "workload.iterations=7").run().iterations["time_us"]
    # the first has no all-reduces to wait for, and nothing comes after the last; which messages meet on links takes
    # some iterations to settle
    assert times[4] == pytest.approx(times[5], rel=1e-3)
    assert times[1] == pytest.approx(times[2], rel=1e-2)
