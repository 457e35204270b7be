# SPDX-License-Identifier: GPL-2.0-only
"""Chunks: how a payload is cut, one after another in flat algorithms, a pipeline in those of several phases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from astra_py.api import one_collective
from astra_py.collectives import EdgeOn, Group, OpKind, ScheduleBuilder, SystemModel, Template, build_template
from astra_py.collectives.partition import chunk_payloads, segment_bytes
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from collective_cases import matrices, sizes


@settings(deadline=None)
@given(size=sizes, chunks=st.integers(1, 9), ranks=st.integers(2, 9))
def test_segments_of_all_chunks_are_the_segments_of_the_whole(size: int, chunks: int, ranks: int) -> None:
    parts = [int(part) for part in chunk_payloads(size, chunks, ranks)]
    assert 1 <= len(parts) <= chunks
    assert all(parts[1:]) or len(parts) == 1
    together = sum(segment_bytes(part, ranks) for part in parts)
    assert together.tolist() == segment_bytes(size, ranks).tolist()  # type: ignore[union-attr]
    assert max(parts) - min(parts) < 2 * ranks


@settings(deadline=None)
@given(matrix=matrices(), chunks=st.integers(1, 9))
def test_entries_of_a_matrix_are_cut_evenly(matrix: NDArray[np.int64], chunks: int) -> None:
    parts = np.array(chunk_payloads(matrix, chunks, len(matrix)))
    assert len(parts) <= chunks
    assert parts.sum(axis=0).tolist() == matrix.tolist()
    assert (parts.max(axis=0) - parts.min(axis=0) <= 1).all()


def waits_of(template: Template, op: int) -> dict[int, EdgeOn]:
    entries = slice(template.dep_ptr[op], template.dep_ptr[op + 1])
    return dict(zip(template.dep_op[entries].tolist(), map(EdgeOn, template.dep_on[entries].tolist()), strict=True))


def test_a_chunk_of_a_flat_algorithm_begins_when_the_one_before_is_done() -> None:
    system = SystemModel(chunks=2, endpoint_delay_ps=7, local_memory_bandwidth_bps=10**12)
    template = build_template("all_reduce", "ring", 3, 600, system)
    one = build_template("all_reduce", "ring", 3, 300, system=SystemModel(local_memory_bandwidth_bps=10**12))
    gates = np.flatnonzero(template.kind == OpKind.COMPUTE)
    assert template.src[gates].tolist() == [0, 1, 2]
    assert set(template.duration_ps[gates].tolist()) == {7}
    assert template.chunk.tolist() == [0] * len(one) + [1] * (3 + len(one))
    for rank, gate in enumerate(gates.tolist()):
        own = np.flatnonzero((template.src == rank) & (template.chunk == 0))
        arriving = np.flatnonzero((template.dst == rank) & (template.src != rank) & (template.chunk == 0))
        expected = {int(op): EdgeOn.SENT for op in own if template.is_send[op]}
        expected |= {int(op): EdgeOn.DELIVERED for op in [*arriving, *own] if int(op) not in expected}
        assert waits_of(template, gate) == expected
    for op in range(len(one) + 3, len(template)):
        assert int(gates[template.src[op]]) in waits_of(template, op)


def test_four_chunks_take_four_times_the_time_of_a_quarter_as_published() -> None:
    """ASTRA-sim 2 on ns-3, 8 ranks, 4 chunks: 16 KiB in 113.9 us and 16 MiB in 784.6 us."""
    figures = {
        "platform": {"ranks": 8, "link_rate": "400Gbps", "link_delay": "500ns", "switch_latency": "0ns"},
        "transport": {"preset": "astra_ns3"},
        "system": {"endpoint_delay": "10ns", "local_memory_bandwidth": "1600GB/s"},
    }

    def time_ps(size: int, chunks: int) -> int:
        scenario = load_scenario({**figures, "collective": {"chunks": chunks}})
        return int(one_collective(scenario, "all_reduce", size).run().collectives["time_ps"].iloc[0])

    for size, published_us in ((2**14, 113.9), (2**24, 784.6)):
        time = time_ps(size, 4)
        assert time == 4 * time_ps(size // 4, 1)
        assert round(time / 10**6, 1) == published_us


@pytest.mark.parametrize("active", [1, 2, 4, 9])
def test_phases_of_chunks_are_a_pipeline(active: int) -> None:
    """Phase p of chunk c waits for phase p - 1 of chunk c and for phase p of chunk c - active, and for nothing else."""
    group = Group(tuple(range(8)), np.repeat(np.arange(2, dtype=np.int32), 4))
    template = build_template("all_reduce", "hierarchical", group, 8 * 300, SystemModel(chunks=5, active_chunks=active))
    section = [(int(c), int(p)) for c, p in zip(template.chunk, template.phase, strict=True)]
    waits: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for op in range(len(template)):
        waits.setdefault(section[op], set()).update(section[before] for before in waits_of(template, op))
    assert max(chunk for chunk, _ in waits) == 4
    for (chunk, phase), before in waits.items():
        expected = {(chunk, phase - 1), (chunk - active, phase)} & set(waits)
        assert before - {(chunk, phase)} == expected


def test_a_gate_is_there_for_a_rank_that_had_nothing_to_do() -> None:
    matrix = np.zeros((4, 4), dtype=np.int64)
    matrix[0, 1] = matrix[1, 2] = 10
    template = build_template("all_to_all_v", "direct", 4, matrix, SystemModel(chunks=2))
    assert np.bincount(template.src[template.kind == OpKind.COMPUTE]).tolist() == [1] * 4
    assert template.phase_names == ("all_to_all_v",)


def test_one_message_stays_one() -> None:
    assert build_template("sendrecv", "direct", 2, 4096, SystemModel(chunks=4)).size_bytes.tolist() == [4096]


def test_few_bytes_make_few_chunks() -> None:
    template = build_template("all_reduce", "ring", 4, 9, SystemModel(chunks=8))
    assert template.chunk.max() == 1
    assert template.size_bytes[template.chunk == 1].max() == 1


def test_phases_and_chunks_by_hand() -> None:
    build = ScheduleBuilder("all_reduce", "by_hand", 2, SystemModel(endpoint_delay_ps=9))
    for chunk in range(2):
        if chunk:
            build.begin_chunk()
        build.send(0, 1, 8, phase="there")
        build.begin_phase("back")
        build.send(1, 0, 8)
    template = build.build()
    names = [template.phase_names[phase] for phase in template.phase]
    half = ["there", "back", "back", "back"]
    assert names == [*half, "there", "there", *half]
    assert template.duration_ps.tolist() == [0, 0, 0, 0, 9, 9, 0, 0, 0, 0]
    # Rank 1's second phase of its second chunk: its gate, what came in the first, and its own message of chunk 0.
    assert set(waits_of(template, 8)) == {2, 3, 5, 6}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("chunks", 0, r"collective\.chunks = 0: allowed is a number above 0"),
        ("active_chunks", 0, r"collective\.active_chunks = 0: allowed is a number above 0"),
        (
            "all_reduce_inside",
            "rign",
            r"collective\.all_reduce_inside = 'rign'; allowed: ring, direct, halving_doubling; did you mean",
        ),
        ("all_reduce_between", "tree", r"collective\.all_reduce_between = 'tree'; allowed: ring, direct"),
    ],
)
def test_what_is_not_allowed_is_named(field: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SystemModel(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("collective.chunks=0", r"collective\.chunks"),
        ("collective.chunks=none", r"collective\.chunks"),
        ("collective.all_reduce_inside=ring", r"collective\.all_reduce_inside.*only with collective\.all_reduce = "),
        ("collective.all_gather=Ring", r"collective\.all_gather"),
    ],
)
def test_bad_keys_have_their_path(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_scenario({}, [override])


def test_an_unknown_algorithm_of_a_scenario_is_refused() -> None:
    run = one_collective(load_scenario({}, ["collective.all_gather=rign"]), "all_gather", 800)
    with pytest.raises(ConfigError, match=r"collective\.all_gather = 'rign'.*did you mean 'ring'"):
        run.run()
