# SPDX-License-Identifier: GPL-2.0-only
"""Bandwidth tables: a row a collective, number of ranks and size, the same as of the collective alone."""

from __future__ import annotations

import pytest

from astra_py.analysis.bandwidths import COLUMNS, bandwidth_table
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError

PLATFORM = {"platform": {"kind": "zionex", "nodes": 2, "accelerators_per_node": 4}}


@pytest.mark.parametrize("engine", ["analytic", "packet"])
def test_a_row_each(engine: str) -> None:
    told: list[str] = []
    table = bandwidth_table(
        PLATFORM,
        sizes=[2**16, 2**20],
        kinds=["all_to_all", "all_reduce"],
        ranks=[4, 8],
        engine=engine,
        tell=told.append,
    )
    assert list(table.columns) == list(COLUMNS)
    assert len(told) == len(table) == 8
    assert table["ranks"].tolist() == [4, 4, 8, 8] * 2
    assert table["size_bytes"].tolist() == [2**16, 2**20] * 4
    assert (table["engine"] == engine).all()
    scenario = load_scenario(PLATFORM, [f"engine={engine}"])
    (alone,) = one_collective(scenario, "all_reduce", 2**20, (0, 1, 2, 3)).run().collectives.to_dict("records")
    row = table.iloc[5]
    assert (row["time_us"], row["busbw_GBps"]) == (alone["time_us"], alone["busbw_GBps"])


def test_inside_a_node_it_is_faster() -> None:
    table = bandwidth_table(PLATFORM, sizes=[2**26], kinds=["all_to_all"], ranks=[4, 8])
    inside, across = table["algbw_GBps"]
    assert inside > 5 * across


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ranks": [9]}, r"a collective on 9 of the platform's 8 ranks; allowed: 2 to 8"),
        ({"ranks": [1]}, r"on 1 of"),
        ({"kinds": ["all_reduces"]}, r"did you mean 'all_reduce'"),
        ({"engine": "packets"}, r"engine: 'packets'"),
    ],
)
def test_what_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        bandwidth_table(PLATFORM, sizes=[1024], **arguments)  # type: ignore[arg-type]
