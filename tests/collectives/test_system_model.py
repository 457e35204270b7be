# SPDX-License-Identifier: GPL-2.0-only
"""Reduction times, by exact arithmetic."""

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.collectives import SystemModel
from astra_py.errors import ConfigError


@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 2**40), max_size=8), bandwidth=st.integers(10**9, 10**15))
def test_three_passes_rounded_up_to_ps_or_down_to_ns(sizes: list[int], bandwidth: int) -> None:
    bytes_per_s = Fraction(bandwidth, 8)
    exact = SystemModel(local_memory_bandwidth_bps=bandwidth).reduction_ps(np.array(sizes, dtype=np.int64))
    assert exact.tolist() == [ceil(3 * size * 10**12 / bytes_per_s) for size in sizes]
    whole = SystemModel(local_memory_bandwidth_bps=bandwidth, is_whole_ns=True)
    assert whole.reduction_ps(np.array(sizes, dtype=np.int64)).tolist() == [
        3000 * floor(size * 10**9 / bytes_per_s) for size in sizes
    ]


def test_the_rule_of_astra_sim() -> None:
    system = SystemModel(local_memory_bandwidth_bps=8 * 1600 * 10**9, is_whole_ns=True)
    sizes = np.array([0, 1599, 1600, 131_072], dtype=np.int64)
    assert system.reduction_ps(sizes).tolist() == [0, 0, 3000, 3 * (131_072 // 1600) * 1000]


def test_no_bandwidth_no_time() -> None:
    assert SystemModel().reduction_ps(np.array([5, 2**40])).tolist() == [0, 0]


def test_times_beyond_64_bits_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"system.local_memory_bandwidth = 1 bit/s: a reduction of 4294967296 bytes"):
        SystemModel(local_memory_bandwidth_bps=1).reduction_ps(np.array([5, 2**32, 7]))


@pytest.mark.parametrize("field", ["local_memory_bandwidth_bps", "in_flight"])
def test_figures_are_positive(field: str) -> None:
    with pytest.raises(ConfigError, match="= 0: allowed is a number above 0, or none"):
        SystemModel(**{field: 0})  # type: ignore[arg-type]
