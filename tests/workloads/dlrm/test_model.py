# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM's shape: what follows from its figures, and what does not fit together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import ComputeTimes, LayerTimes
from dlrm_cases import SMALL, table, with_tables


def test_layers_of_a_concatenation() -> None:
    assert SMALL.sum_of_dims == 32
    assert SMALL.interaction_width == 8 + 32
    assert [(layer.name, layer.inputs, layer.outputs) for layer in (*SMALL.bottom_layers, *SMALL.top_layers)] == [
        ("bottom_0", 13, 8),
        ("top_0", 40, 4),
        ("top_1", 4, 1),
    ]
    assert SMALL.dense_weights_bytes == 4 * (13 * 8 + 40 * 4 + 4)


def test_a_dot_product_has_every_pair_beside_the_dense_vector() -> None:
    model = replace(with_tables(table("a"), table("b"), table("c")), interaction="dot")
    assert model.interaction_width == 8 + 6
    assert model.top_layers[0].inputs == 14


def test_a_projection_is_what_the_top_mlp_gets() -> None:
    model = replace(SMALL, projection=7)
    assert model.interaction_width == 40
    assert model.top_layers[0].inputs == 7


def test_a_dot_product_needs_equal_dims() -> None:
    with pytest.raises(WorkloadError, match=r"small.toml: table 'b' has dim 16 and the bottom MLP ends with 8"):
        replace(SMALL, interaction="dot")


def test_names_differ() -> None:
    with pytest.raises(WorkloadError, match="two tables 'a'"):
        with_tables(table("a"), table("b"), table("a"))


def test_fixed_times_are_of_every_layer() -> None:
    layer = LayerTimes(forward_ps=1, weight_gradient_ps=2, input_gradient_ps=3)
    times = ComputeTimes(
        lookup_ps=1,
        update_ps=1,
        interaction_forward_ps=1,
        interaction_backward_ps=1,
        bottom=(layer,),
        top=(layer,),
    )
    with pytest.raises(WorkloadError, match=r"compute.top has times of 1 layers and the top MLP has 2"):
        replace(SMALL, times=times)


def test_lookups_round_to_nearest() -> None:
    assert table(pooling=0.25).lookups(10) == 2
    assert table(pooling=1.5).lookups(3) == 4
    assert table(rows=10, dim=3, dtype="fp32").memory_bytes == 120
