# SPDX-License-Identifier: GPL-2.0-only
"""``[platform]``: what follows from other keys, and tables in the table."""

from __future__ import annotations

import pytest

from astra_py.config import load_scenario, parameter_table
from astra_py.platforms import platform_kinds

every_kind = pytest.mark.parametrize("kind", platform_kinds())


@every_kind
def test_a_resolved_platform_loads_to_an_equal_one(kind: str) -> None:
    scenario = load_scenario({"platform": {"kind": kind}})
    again = load_scenario(scenario.resolved())
    assert again == scenario
    assert again.resolved() == scenario.resolved()
    assert again.digest == scenario.digest


@every_kind
def test_a_resolved_platform_has_the_keys_that_mean_something(kind: str) -> None:
    written = load_scenario({"platform": {"kind": kind}}).resolved()["platform"]
    direct, rails = ("ring", "torus", "fully_connected"), ("rail_optimized", "dgx_a100", "dgx_h100")
    machines = ("zion", "zionex", "rail_only", *rails)
    assert ("scale_up" in written, "nodes" in written) == (kind in machines,) * 2
    assert ("pcie" in written) == (kind == "zion")
    assert ("nic_policy" in written) == (kind in machines and kind != "zion")
    assert ("spines" in written) == (kind in ("leaf_spine", "fat_tree", "zion", "zionex", *rails))
    assert ("nodes_per_group" in written) == (kind in rails)
    assert ("cores" in written) == (kind == "fat_tree")
    assert ("dims" in written) == (kind == "torus")
    assert ("switch_latency" in written) == (kind not in direct)
    assert ("accelerators_forward" in written) == (kind in (*direct, "rail_only"))
    assert "routing_hook" not in written


def test_ranks_of_machines() -> None:
    keys = ["platform.kind=zionex", "platform.nodes=3", "platform.accelerators_per_node=5"]
    scenario = load_scenario({}, keys)
    assert scenario.platform.ranks == scenario.resolved()["platform"]["ranks"] == 15
    assert load_scenario({}, [*keys, "platform.ranks=15", "platform.nics_per_node=5"]).platform.ranks == 15


@pytest.mark.parametrize(
    ("keys", "rate_GBps"),
    [
        ((), 300),
        (("accelerator=V100",), 150),
        (("accelerator=H100",), 450),
        (("accelerator=H100", "scale_up.rate=10GB/s"), 10),
        (("scale_up.rate=auto",), 300),
    ],
)
def test_scale_up_rate(keys: tuple[str, ...], rate_GBps: int) -> None:  # noqa: N803
    platform = load_scenario({}, ["platform.kind=zionex", *(f"platform.{key}" for key in keys)]).platform
    assert platform.scale_up_rates == (8 * rate_GBps * 10**9,)


@pytest.mark.parametrize(
    ("keys", "leaves", "spines"),
    [
        ((), 2, 8),
        (("nodes=3", "ranks_per_leaf=16"), 2, 16),
        (("accelerators_per_node=3",), 2, 3),
        (("nodes=16", "ranks_per_leaf=32", "oversubscription=4"), 4, 8),
        (("spines=1",), 2, 1),
    ],
)
def test_leaves_and_spines_of_machines(keys: tuple[str, ...], leaves: int, spines: int) -> None:
    platform = load_scenario({}, ["platform.kind=zion", *(f"platform.{key}" for key in keys)]).platform
    assert (platform.leaf_count, platform.spine_count) == (leaves, spines)


def test_parameters_of_a_table_in_the_table() -> None:
    rows = {row.key: row for row in parameter_table()}
    assert rows["platform.scale_up.rate"].only.startswith("platform.kind = 'zion', 'zionex', ")
    assert rows["platform.pcie.efficiency"].only.startswith("platform.kind = 'zion', or NICs behind PCIe: ")
    assert rows["platform.scale_up.latency"].source == "assumed"
