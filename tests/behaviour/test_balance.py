# SPDX-License-Identifier: GPL-2.0-only
"""How evenly switches share traffic: core switches of a fat tree by hashes, NVSwitches by their rates."""

from __future__ import annotations

import numpy as np
import pytest

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.platforms.platform import NodeKind
from behaviour.flows import GBPS, Flow, graph_of, run_flows

FAT_TREE = ("platform.kind=fat_tree", "platform.ports=4", "platform.ranks=16")


def core_payload(result: ap.Result) -> np.ndarray:
    """Payload that came to each core switch."""
    links = result.links
    return links[links["to"].str.startswith("core")].groupby("to")["payload_bytes"].sum().to_numpy()


def all_to_all(*overrides: str) -> ap.Result:
    return one_collective(load_scenario({}, [*FAT_TREE, *overrides]), "all_to_all", 16 * 50_000).run()


def test_seeds_per_switch_spread_an_all_to_all_over_the_cores() -> None:
    spread = []
    for seed in range(1, 11):
        payload = core_payload(all_to_all(f"seed={seed}"))
        assert len(payload) == 4
        spread.append(payload.max() / payload.mean())
    assert np.median(spread) < 1.5
    assert spread[0] < 1.5


def test_a_common_seed_leaves_half_of_the_cores_idle_and_says_so() -> None:
    for seed in (1, 2, 3):
        result = all_to_all("platform.ecmp_seeds=common", f"seed={seed}")
        assert np.count_nonzero(core_payload(result)) == 2
    run = one_collective(load_scenario({}, [*FAT_TREE, "platform.ecmp_seeds=common"]), "all_to_all", 1600)
    assert any("ecmp_seeds" in warning for warning in run.warnings), run.warnings


@pytest.mark.parametrize("routing", ["spray", "least_loaded"])
def test_a_choice_for_each_packet_is_even(routing: str) -> None:
    payload = core_payload(all_to_all(f"platform.routing={routing}"))
    assert payload.max() / payload.mean() < 1.1


#: Rates of a GPU's links to four NVSwitches; 94 % of a line is payload.
NVSWITCH_GBPS, EFFICIENCY = (1000, 800, 800, 1000), 0.94


def test_unequal_nvswitches_are_used_in_proportion() -> None:
    kinds = [NodeKind.ACCELERATOR, NodeKind.ACCELERATOR, *[NodeKind.SWITCH] * 4]
    links = [(gpu, 2 + i, rate * GBPS, 250_000) for gpu in (0, 1) for i, rate in enumerate(NVSWITCH_GBPS)]
    platform = graph_of(kinds, links, efficiency=EFFICIENCY)
    size = 64 << 20
    result = run_flows([Flow(0, 1, size)], platform=platform)
    reached = 8 * size / (result.messages["delivered_ps"].item() * 1e-12)
    assert reached / EFFICIENCY > 0.9 * sum(NVSWITCH_GBPS) * 1e9
    links_in = result.links[result.links["to"] == "rank1"]
    share = links_in["payload_bytes"].to_numpy() / size
    assert share == pytest.approx(np.array(NVSWITCH_GBPS) / sum(NVSWITCH_GBPS), abs=0.01)
