# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from astra_py.collectives.schedule import OuterKind
from astra_py.results.columns import TABLES
from astra_py.results.iterations import iterations_table
from result_cases import local_record

COMPUTE, COLLECTIVE, MEMORY = OuterKind.COMPUTE, OuterKind.COLLECTIVE, OuterKind.MEMORY
US = 10**6


def test_an_iteration_is_its_compute_and_exposed_communication() -> None:
    table = iterations_table(
        local_record(
            [
                (0, COMPUTE, 0, 0, 10 * US),
                (0, COLLECTIVE, 0, 4 * US, 16 * US),
                (0, MEMORY, 0, 16 * US, 17 * US),
                (0, COMPUTE, 1, 17 * US, 20 * US),
                (0, COLLECTIVE, 1, 20 * US, 25 * US),
            ]
        )
    )
    assert table["time_us"].tolist() == [17.0, 8.0]
    assert table["start_us"].tolist() == [0.0, 17.0]
    assert table["compute_us"].tolist() == [10.0, 3.0]
    assert table["communication_us"].tolist() == [12.0, 5.0]
    assert table["exposed_us"].tolist() == [7.0, 5.0]
    assert table["memory_us"].tolist() == [1.0, 0.0]
    assert table["exposed_percent"].tolist() == [700 / 17, 62.5]
    assert table["time_ps"].tolist() == [17 * US, 8 * US]
    assert list(table) == [column.name for column in TABLES["iterations"]]


def test_an_iteration_holds_the_wait_for_its_own_collectives() -> None:
    # both compute 4 us and reduce for 10 us; the second one starts before the first one's reduction is done
    rows = [
        (COMPUTE, 0, 0, 4),
        (COLLECTIVE, 0, 4, 14),
        (COMPUTE, 1, 4, 5),
        (COMPUTE, 1, 14, 17),
        (COLLECTIVE, 1, 17, 27),
    ]
    table = iterations_table(local_record([(0, kind, i, a * US, b * US) for kind, i, a, b in rows]))
    assert table["time_us"].tolist() == [14.0, 13.0]
    assert table["compute_us"].tolist() == [4.0, 4.0]
    assert table["exposed_us"].tolist() == [10.0, 9.0]


def test_memory_work_counts_where_nothing_else_is_under_way() -> None:
    rows = [(COMPUTE, 0, 4), (COLLECTIVE, 3, 7), (MEMORY, 2, 9), (MEMORY, 8, 10)]
    table = iterations_table(local_record([(0, kind, 0, a * US, b * US) for kind, a, b in rows]))
    assert table["memory_us"].tolist() == [3.0]


def test_compute_at_the_same_time_counts_once() -> None:
    table = iterations_table(local_record([(0, COMPUTE, 0, 0, 6 * US), (0, COMPUTE, 0, 2 * US, 8 * US)]))
    assert table["compute_us"].tolist() == [8.0]
    assert table["exposed_us"].tolist() == [0.0]


def test_the_rank_that_ends_last_is_shown_beside_the_fastest_and_slowest_iteration() -> None:
    rows = [(0, COMPUTE, 0, 0, 8), (0, COMPUTE, 1, 8, 11), (1, COMPUTE, 0, 0, 4), (1, COMPUTE, 1, 4, 12)]
    table = iterations_table(local_record([(r, k, i, a * US, b * US) for r, k, i, a, b in rows], ranks=2))
    assert table["rank"].tolist() == [1, 1]
    assert table["time_us"].tolist() == [4.0, 8.0]
    assert table["fastest_rank_time_us"].tolist() == [4.0, 3.0]
    assert table["slowest_rank_time_us"].tolist() == [8.0, 8.0]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from(list(OuterKind)),
            st.integers(0, 3),
            st.integers(0, 50),
            st.integers(0, 20),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_iterations_add_up_to_the_run(rows: list[tuple[int, OuterKind, int, int, int]]) -> None:
    record = local_record([(rank, kind, i, start, start + length) for rank, kind, i, start, length in rows], ranks=3)
    table = iterations_table(record)
    assert int(table["time_ps"].sum()) == record.end_ps
    assert (table["time_ps"] >= 0).all()
    np.testing.assert_allclose(table["compute_us"] + table["exposed_us"], table["time_us"], atol=1e-9)
