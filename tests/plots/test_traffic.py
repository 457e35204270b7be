# SPDX-License-Identifier: GPL-2.0-only
"""The matrix of bytes is the table of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from astra_py.errors import ConfigError
from astra_py.plots import plot_traffic
from astra_py.plots.traffic import traffic_matrix
from plot_cases import ENGINES, links_of, made_up, many_ranks, result_of


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cell_is_what_a_pair_exchanges(engine: str) -> None:
    result = result_of(engine)
    axes = plot_traffic(result)
    cells = axes.images[0].get_array()
    wanted = np.zeros((8, 8))
    wanted[result.pairs["src"], result.pairs["dst"]] = result.pairs["size_bytes"] / 1e3
    np.testing.assert_allclose(cells.filled(0), wanted)
    assert (cells.mask == (wanted == 0)).all()
    # and all messages are in it
    assert cells.sum() * 1e3 == pytest.approx(result.messages["size_bytes"].sum())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("receiving rank", "sending rank")
    assert axes.child_axes[0].get_ylabel() == "sent (kB)"


def test_many_ranks_are_machines() -> None:
    matrix, unit = traffic_matrix(many_ranks())
    assert (matrix.shape, unit) == ((128, 128), "machine")
    # a rank sends 1 MB to the next one, which the last of a machine has in the next machine, 100 kB to its own place
    # in the next machine, and 10 kB to that in the eighth
    assert matrix[5, 5] == 7 * 10**6
    assert matrix[127, 0] == matrix[5, 6] == 10**6 + 8 * 10**5
    assert matrix[5, 13] == 8 * 10**4
    assert matrix.sum() == many_ranks().pairs["size_bytes"].sum()
    matrix, unit = traffic_matrix(many_ranks(), most_rows=50)
    assert (matrix.shape, unit) == ((43, 43), "3 machines")
    assert matrix.sum() == many_ranks().pairs["size_bytes"].sum()


def test_ranks_without_machines_are_joined() -> None:
    keys = {"kind": "single_switch", "ranks": 300}
    pairs = {"src": [0, 1, 299], "dst": [1, 299, 0], "size_bytes": [1, 2, 4]}
    matrix, unit = traffic_matrix(made_up({"pairs": pairs, "links": links_of(keys)}, keys))
    assert (matrix.shape, unit) == ((150, 150), "2 ranks")
    assert (matrix[0, 0], matrix[0, 149], matrix[149, 0]) == (1, 2, 4)


def test_no_traffic_is_said() -> None:
    with pytest.raises(ConfigError, match="no rank sends anything"):
        plot_traffic(made_up({}, {"kind": "single_switch", "ranks": 2}))
