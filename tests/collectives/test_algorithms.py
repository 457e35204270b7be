# SPDX-License-Identifier: GPL-2.0-only
"""The built-in algorithms: bytes equal to their closed forms, data where it belongs, and the shape of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from astra_py.collectives import (
    EdgeOn,
    OpKind,
    SystemModel,
    Template,
    build_template,
    check_dataflow,
    closed_form,
)
from collective_cases import matrices, sizes, systems


def rank_bytes(template: Template) -> tuple[list[int], list[int]]:
    """Bytes sent and received by each rank, counted message by message."""
    sent, received = [0] * template.ranks, [0] * template.ranks
    for op in np.flatnonzero(template.is_send):
        sent[template.src[op]] += int(template.size_bytes[op])
        received[template.dst[op]] += int(template.size_bytes[op])
    return sent, received


def closed(kind: str, algorithm: str, ranks: int, payload: int | NDArray[np.int64]) -> tuple[list[int], list[int]]:
    sent, received = closed_form(kind, algorithm).rank_bytes(ranks, payload)
    return sent.tolist(), received.tolist()


@settings(deadline=None)
@given(ranks=st.integers(2, 12), size=sizes, system=systems)
def test_ring_bytes_and_data(ranks: int, size: int, system: SystemModel) -> None:
    template = build_template("all_reduce", "ring", ranks, size, system)
    check_dataflow(template, size)
    assert rank_bytes(template) == closed("all_reduce", "ring", ranks, size)
    assert template.notify_on == system.notify_on
    assert set(template.dep_on.tolist()) <= {system.notify_on}


@settings(deadline=None)
@given(matrix=matrices(), system=systems)
def test_direct_bytes_and_data(matrix: NDArray[np.int64], system: SystemModel) -> None:
    ranks = len(matrix)
    template = build_template("all_to_all_v", "direct", ranks, matrix, system)
    check_dataflow(template, matrix)
    assert rank_bytes(template) == closed("all_to_all_v", "direct", ranks, matrix)
    assert (template.size_bytes > 0).all()
    assert len(template) == ((matrix > 0) & ~np.eye(ranks, dtype=bool)).sum()


@settings(deadline=None)
@given(ranks=st.integers(2, 12), size=sizes)
def test_equal_parts_are_floor_or_ceil_and_leave_nothing(ranks: int, size: int) -> None:
    template = build_template("all_to_all", "direct", ranks, size)
    check_dataflow(template, size)
    assert rank_bytes(template) == closed("all_to_all", "direct", ranks, size)
    floor = size // ranks
    assert set(template.size_bytes.tolist()) <= {floor, floor + 1}


def test_ring_is_the_textbook_ring() -> None:
    ranks = 4
    template = build_template("all_reduce", "ring", ranks, 4096)
    assert len(template) == 2 * (ranks - 1) * ranks
    for op in range(len(template)):
        step, rank = divmod(op, ranks)
        assert (template.src[op], template.dst[op]) == (rank, (rank + 1) % ranks)
        assert template.block[op] == (rank - step) % ranks
        assert template.combine[op] == (step < ranks - 1)
        phase = template.phase_names[template.phase[op]]
        assert phase == ("reduce_scatter" if step < ranks - 1 else "all_gather")
        received = (step - 1) * ranks + (rank - 1) % ranks
        assert template.dep_op[template.dep_ptr[op] : template.dep_ptr[op + 1]].tolist() == ([received] if step else [])


def test_ring_reduces_what_arrives_in_its_first_half() -> None:
    ranks, size = 4, 4 * 1601
    system = SystemModel(local_memory_bandwidth_bps=12_800 * 10**9, is_whole_ns=True, notify_on=EdgeOn.ACKED)
    template = build_template("all_reduce", "ring", ranks, size, system)
    reductions = np.flatnonzero(template.kind == OpKind.REDUCE)
    assert np.bincount(template.src[reductions]).tolist() == [ranks - 1] * ranks
    assert set(template.duration_ps[reductions].tolist()) == {3 * (1601 // 1600) * 1000}
    for op in reductions:
        (received,) = template.dep_op[template.dep_ptr[op] : template.dep_ptr[op + 1]]
        assert template.dst[received] == template.src[op]
        assert template.size_bytes[received] == template.size_bytes[op]


def test_a_buffer_of_fewer_bytes_than_ranks_sends_no_empty_message() -> None:
    template = build_template("all_reduce", "ring", 5, 2)
    assert set(template.size_bytes.tolist()) == {1}
    assert len(template) == 2 * 2 * (5 - 1)
    assert len(build_template("all_reduce", "ring", 5, 0)) == 0


def test_direct_posts_all_at_once_from_own_plus_one_on() -> None:
    template = build_template("all_to_all", "direct", 4, 400)
    assert len(template.dep_op) == 0
    assert len(template.use_pool) == 0
    for rank in range(4):
        assert template.dst[template.src == rank].tolist() == [(rank + k) % 4 for k in (1, 2, 3)]


def test_direct_limits_what_is_in_flight() -> None:
    template = build_template("all_to_all", "direct", 4, 400, SystemModel(in_flight=2))
    assert template.pool_owner.tolist() == [0, 1, 2, 3]
    assert template.pool_capacity.tolist() == [2] * 4
    assert template.use_pool.tolist() == template.src.tolist()
    assert set(template.release_on.tolist()) == {EdgeOn.ACKED}


@pytest.mark.parametrize("size", [0, 1, 2**32 + 1])
def test_sendrecv_is_one_message(size: int) -> None:
    template = build_template("sendrecv", "direct", 2, size)
    check_dataflow(template, size)
    assert (template.src.tolist(), template.dst.tolist()) == ([0], [1])
    assert rank_bytes(template) == closed("sendrecv", "direct", 2, size)


@pytest.mark.parametrize(
    ("kind", "algorithm", "payload"),
    [("all_reduce", "ring", 99), ("all_to_all", "direct", 99), ("all_to_all_v", "direct", np.array([[5]]))],
)
def test_one_rank_has_nothing_to_do(kind: str, algorithm: str, payload: int | NDArray[np.int64]) -> None:
    assert len(build_template(kind, algorithm, 1, payload)) == 0


def test_a_thousand_ranks_are_built_without_a_loop_over_messages() -> None:
    template = build_template("all_to_all", "direct", 1024, 2**20)
    assert len(template) == 1024 * 1023
    assert (template.size_bytes == 1024).all()
