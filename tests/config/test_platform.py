# SPDX-License-Identifier: GPL-2.0-only
"""``[platform]``: what follows from other keys, and tables in the table."""

from __future__ import annotations

import pytest

from astra_py.config import load_scenario, parameter_table
from astra_py.config.platform_presets import platform_presets
from astra_py.hardware import accelerator
from astra_py.platforms import platform_kinds

every_kind = pytest.mark.parametrize("kind", [kind for kind in platform_kinds() if kind != "file"])


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
    machines = ("zion", "zionex", "rail_only", *rails, "pcie_servers")
    assert ("scale_up" in written, "nodes" in written) == (kind in machines[:-1], kind in machines)
    assert ("pcie" in written) == (kind in ("zion", "pcie_servers"))
    assert ("nic_policy" in written) == (kind in machines and kind != "zion")
    assert ("spines" in written) == (kind in ("leaf_spine", "fat_tree", "zion", "zionex", *rails, "pcie_servers"))
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
    behind_pcie = "platform.kind = 'zion' or 'pcie_servers', or NICs behind PCIe: "
    assert rows["platform.pcie.efficiency"].only.startswith(behind_pcie)
    assert rows["platform.scale_up.latency"].source == "assumed"


@pytest.mark.parametrize("preset", platform_presets())
def test_presets(preset: str) -> None:
    scenario = load_scenario({"platform": {"preset": preset}})
    assert load_scenario(scenario.resolved()) == scenario
    changed = load_scenario({"platform": {"preset": preset, "link_rate": "123Gbps", "routing": "spray"}})
    platform = changed.platform
    assert (platform.link_rate, platform.routing, platform.kind) == (123 * 10**9, "spray", scenario.platform.kind)


def test_a_kind_on_sale_has_its_makers_figures() -> None:
    kind, preset = (load_scenario({"platform": {key: "dgx_h100"}}).platform for key in ("kind", "preset"))
    assert kind == preset.model_copy(update={"preset": None})
    assert (kind.accelerator, kind.link_rate, len(kind.scale_up_rates)) == ("H100", 400 * 10**9, 4)
    assert sum(kind.scale_up_rates) == accelerator("H100").scale_up_rate_bps
    latency = load_scenario({"platform": {"kind": "dgx_h100", "scale_up": {"latency": "1us"}}}).platform
    assert (latency.scale_up.latency, latency.scale_up_rates) == (10**6, kind.scale_up_rates)
    a100 = load_scenario({"platform": {"kind": "dgx_a100"}}).platform
    assert sum(a100.scale_up_rates) == accelerator("A100-80").scale_up_rate_bps


@pytest.mark.parametrize(
    ("keys", "leaves", "spines"),
    [
        (("kind=rail_optimized", "nodes=40"), 16, 32),
        (("kind=rail_optimized", "nodes=40", "nodes_per_group=10", "oversubscription=5"), 32, 2),
        (("kind=rail_optimized", "nodes=4", "nics_per_node=2"), 2, 4),
        (("kind=zionex", "nics_per_node=2"), 2, 2),
        (("kind=leaf_spine", "ranks=32", "fabric_rate=400Gbps"), 4, 2),
        (("kind=fat_tree", "ranks=128", "ports=8", "oversubscription=2"), 32, 2),
    ],
)
def test_leaves_and_spines(keys: tuple[str, ...], leaves: int, spines: int) -> None:
    platform = load_scenario({}, [f"platform.{key}" for key in keys]).platform
    assert (platform.leaf_count, platform.spine_count) == (leaves, spines)


def test_values_of_several_are_written_as_they_are_read() -> None:
    keys = ["platform.kind=torus", "platform.dims=4x3x2"]
    assert load_scenario({}, keys).resolved()["platform"]["dims"] == "4x3x2"
    assert load_scenario({}, ["platform.kind=torus", "platform.dims=6"]).platform.grid == (6,)
    rates = load_scenario({}, ["platform.kind=zionex", "platform.scale_up.switch_rates=1Tbps, 100GB/s"])
    assert rates.resolved()["platform"]["scale_up"]["switch_rates"] == "1Tbps,800Gbps"
