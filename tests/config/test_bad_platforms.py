# SPDX-License-Identifier: GPL-2.0-only
"""Platforms that do not hold together are refused, with the key, what is wrong and what is allowed."""

from __future__ import annotations

import pytest

from astra_py.config import load_scenario
from astra_py.errors import ConfigError

#: A platform from a file, which is not read here.
FROM_FILE = f"kind=file file={__file__}"

CASES = [
    ("dims=4x0", "kind=torus", "platform.dims: '4x0' is not the size of a grid; allowed: 'auto' or sizes such as"),
    ("dims=2000x2000", "kind=torus", "platform.dims: '2000x2000' is out of range; allowed: .* at most 1048576"),
    ("link_rate=1Gbps", FROM_FILE, "platform.link_rate: '1Gbps' would mean nothing .* other than 'file'"),
    ("file=x", "kind=ring", "platform.file: 'x' would mean nothing .* only with platform.kind = 'file'"),
    ("ranks=4", FROM_FILE, "platform.ranks: 4 would mean nothing with platform.kind = 'file'"),
    ("dims=true", "kind=torus", "platform.dims: True is not the size"),
    ("ranks=9", "kind=torus dims=4x4", "platform.ranks: 9 does not agree with platform.dims = '4x4'; allowed: 16"),
    ("dims=4x4", "kind=ring", "platform.dims: '4x4' would mean nothing with platform.kind = 'ring'; .* 'torus'"),
    ("ranks=4097", "kind=fully_connected", "platform.ranks: 4097 make 8390656 links; allowed: at most 4096"),
    ("switch_latency=1us", "kind=torus", "platform.switch_latency: .* other than 'ring', 'torus', 'fully_connected'"),
    ("ports=5", "kind=fat_tree", "platform.ports: 5 is odd; allowed: an even number, such as 6"),
    ("ranks=17", "kind=fat_tree ports=4", "platform.ports: 4 are too few: a core switch needs 5, .* at most 16 ranks"),
    ("ranks_per_leaf=3", "kind=fat_tree ports=4", "platform.ports: 4 are too few: a leaf needs 6"),
    ("leaves_per_pod=5", "kind=fat_tree ports=4 ranks=16", "platform.ports: 4 are too few: a spine needs 10"),
    ("cores=6", "kind=fat_tree ports=8", "platform.cores: 6 are not as many for each of 4 spines .* such as 4"),
    ("ports=4", "kind=leaf_spine", "platform.ports: 4 would mean nothing .* platform.kind = 'fat_tree'"),
    ("fabric_rate=300Gbps", "kind=leaf_spine", "platform.oversubscription: 1 makes 2.66667 spines of .*'300Gbps'"),
    ("fabric_rate=1Tbps", "kind=single_switch", "platform.fabric_rate: .* would mean nothing"),
    ("ranks_per_leaf=8", "kind=rail_optimized", "platform.ranks_per_leaf: 8 would mean nothing"),
    ("nodes_per_group=8", "kind=zionex", "platform.nodes_per_group: 8 would mean nothing .* 'rail_optimized'"),
    ("spines=3", "kind=rail_optimized oversubscription=1", "platform.spines: 3 does not agree with a leaf of 2 NICs"),
    ("spines=2", "kind=rail_only", "platform.spines: 2 would mean nothing"),
    ("nics_per_node=4", "kind=zion", "platform.nics_per_node: 4 NICs are not one for each accelerator"),
    ("nics_per_node=9", "kind=zionex", "platform.nics_per_node: .* 'own' .* 1 of 9 would have nothing to do"),
    ("nics_per_node=9", "kind=zionex nic_policy=pxn", "platform.nics_per_node: .* 'pxn' .* nothing to do"),
    ("nic_policy=hash", "kind=zion", "platform.nic_policy: 'hash' would mean nothing with platform.kind = 'zion'"),
    ("nic_policy=stripes", "kind=zionex", "platform.nic_policy: 'stripes' is unknown; did you mean 'striped'"),
    ("pcie.rate=1GB/s", "kind=zionex nic_policy=pxn", "platform.pcie: .* would mean nothing .* NICs behind PCIe"),
    ("accelerators_forward=true", "kind=zionex", "accelerators_forward: .* 'fully_connected', 'rail_only' or 'file'"),
    ("scale_up.switch_rates=1Gbps,x", "kind=zionex", "platform.scale_up.switch_rates: 'x' .* 1 to 64 rates"),
    ("scale_up.switch_rates=" + ",".join(["1Gbps"] * 65), "kind=zionex", "switch_rates: .* are 65 rates"),
    ("scale_up.switch_rates=7", "kind=zionex", "switch_rates: 7 is not a list of rates"),
    (
        "scale_up.rate=2GB/s",
        "kind=zionex scale_up.switch_rates=1GB/s,2GB/s",
        "platform.scale_up.rate: '16Gbps' is not the sum .* '8Gbps,16Gbps'; allowed: 24Gbps",
    ),
    ("preset=hpc", "", "platform.preset: 'hpc' is unknown; did you mean 'hpcc'\\?; allowed: 'none' or 'dgx_a100' or"),
    ("kind=ring", "preset=hpcc", "platform.kind: 'ring' does not agree with platform.preset = 'hpcc', .* 'fat_tree'"),
    ("routing_hook=routes.py:f", "", "platform.routing_hook: .* would mean nothing with platform.routing = 'ecmp'"),
    ("routing_hook=routes", "routing=hook", "platform.routing_hook: 'routes' is not a function in a file"),
    ("ecmp_seeds=same", "", "platform.ecmp_seeds: 'same' is unknown; allowed: 'per_switch' or 'common'"),
    ("ecmp_seeds=common", "routing=spray", "platform.ecmp_seeds: 'common' would mean nothing .* 'enhanced_ecmp'"),
    ("routing=least_load", "", "platform.routing: 'least_load' is unknown; did you mean 'least_loaded'"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "beside", "says"), CASES, ids=[f"{bad} {beside}"[:60] for bad, beside, _ in CASES])
def test_refused(bad: str, beside: str, says: str) -> None:
    keys = [f"platform.{key}" for key in (*beside.split(), bad)]
    with pytest.raises(ConfigError, match=says):
        load_scenario({}, keys)
    load_scenario({}, keys[:-1])
