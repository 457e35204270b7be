# SPDX-License-Identifier: GPL-2.0-only
"""Gradients that are reduced together: the rule of PyTorch's DistributedDataParallel."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from astra_py.workloads.dlrm.buckets import Gradient, buckets

GRADIENTS = [Gradient(name, size, "fp32") for name, size in (("c", 10), ("b", 30), ("a", 5), ("x", 1))]


def test_a_bucket_is_closed_when_it_is_full() -> None:
    made = buckets(GRADIENTS, 40)
    assert [(bucket.name, bucket.size_bytes) for bucket in made] == [("c_to_b", 40), ("a_to_x", 6)]
    assert [bucket.name for bucket in buckets(GRADIENTS, 11)] == ["c_to_b", "a_to_x"]
    assert [bucket.name for bucket in buckets(GRADIENTS, 10)] == ["c", "b", "a_to_x"]


def test_one_a_gradient() -> None:
    assert [bucket.name for bucket in buckets(GRADIENTS, None)] == ["c", "b", "a", "x"]


def test_types_are_not_mixed() -> None:
    mixed = [*GRADIENTS[:1], Gradient("t", 10, "fp16"), *GRADIENTS[1:]]
    assert [(bucket.name, bucket.dtype) for bucket in buckets(mixed, 2**20)] == [
        ("c", "fp32"),
        ("t", "fp16"),
        ("b_to_x", "fp32"),
    ]


@given(sizes=st.lists(st.integers(0, 100), max_size=30), bucket=st.none() | st.integers(1, 300))
def test_each_gradient_is_in_one_bucket_and_in_order(sizes: list[int], bucket: int | None) -> None:
    gradients = [Gradient(str(i), size, "fp32") for i, size in enumerate(sizes)]
    made = buckets(gradients, bucket)
    assert [gradient for each in made for gradient in each.gradients] == gradients
    for each in made[:-1]:
        assert bucket is None or each.size_bytes >= bucket
        assert bucket is None or each.size_bytes - each.gradients[-1].size_bytes < bucket
