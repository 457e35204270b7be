# SPDX-License-Identifier: GPL-2.0-only
"""Bandwidth definitions of nccl-tests."""

from fractions import Fraction

import numpy as np
import pytest

from astra_py.collectives import algorithm_bytes, bus_bytes, bus_factor
from astra_py.collectives.partition import equal_matrix
from astra_py.errors import ConfigError
from astra_py.workloads import COLLECTIVE_KINDS


@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        ("all_reduce", Fraction(14, 8)),
        ("reduce_scatter", Fraction(7, 8)),
        ("all_gather", Fraction(7, 8)),
        ("all_to_all", Fraction(7, 8)),
        ("gather", Fraction(7, 8)),
        ("scatter", Fraction(7, 8)),
        ("broadcast", 1),
        ("reduce", 1),
        ("sendrecv", 1),
        ("barrier", 0),
    ],
)
def test_factors_of_nccl_tests(kind: str, factor: Fraction) -> None:
    assert bus_factor(kind, 8) == factor
    assert bus_bytes(kind, 8, 8000) == 8000 * factor
    assert algorithm_bytes(kind, 8000) == 8000


def test_every_kind_has_a_bandwidth() -> None:
    for kind in COLLECTIVE_KINDS:
        payload = np.ones((4, 4), dtype=np.int64) if kind == "all_to_all_v" else 4
        assert bus_bytes(kind, 4, payload) >= 0
    with pytest.raises(ConfigError, match="no bus bandwidth factor of 'all_to_all_v'"):
        bus_factor("all_to_all_v", 4)


def test_an_equal_matrix_counts_as_an_all_to_all() -> None:
    matrix = equal_matrix(8000, 8)
    assert algorithm_bytes("all_to_all_v", matrix) == 8000
    assert bus_bytes("all_to_all_v", 8, matrix) == bus_bytes("all_to_all", 8, 8000)


def test_an_uneven_matrix_counts_its_busiest_rank() -> None:
    matrix = np.array([[100, 1, 2], [0, 0, 9], [0, 3, 0]], dtype=np.int64)
    assert algorithm_bytes("all_to_all_v", matrix) == 103
    assert bus_bytes("all_to_all_v", 3, matrix) == 11
