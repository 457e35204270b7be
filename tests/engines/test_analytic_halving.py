# SPDX-License-Identifier: GPL-2.0-only
"""Half the rate of a link on the critical path changes every engine's answer by what the closed form says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from astra_py.api import one_collective
from astra_py.collectives import Level, closed_time_ps
from astra_py.config import load_scenario
from astra_py.engines.registry import ENGINES

SIZE = 4096 * 64 * 16
#: Engines, and the models of whole messages.
MODELS = [(f"engine={engine}",) for engine in ENGINES]
WHOLE_MODELS = [("engine=analytic", f"analytic.mode={mode}") for mode in ("astra_sim", "astra_sim_congestion")]


def run_ps(kind: str, *keys: str) -> int:
    run = one_collective(load_scenario({}, ("transport.ack=out_of_band", *keys)), kind, SIZE)
    return int(run.run().collectives["time_ps"][0])


@pytest.mark.parametrize("model", MODELS, ids="".join)
@pytest.mark.parametrize(
    ("kind", "algorithm"), [("all_reduce", "ring"), ("all_to_all", "direct"), ("all_reduce", "halving_doubling")]
)
def test_one_switch(kind: str, algorithm: str, model: tuple[str, ...]) -> None:
    keys = (*model, f"collective.{kind}={algorithm}", "platform.ranks=8", "platform.link_delay=100ns")
    full, half = (run_ps(kind, *keys, f"platform.link_rate={rate}Gbps") for rate in (100, 50))
    share = Fraction(4096, 4178)
    forms = [
        closed_time_ps(
            kind,
            algorithm,
            SIZE,
            machines=8,
            between=Level(latency_ps=500_000, bandwidth_bps=int(rate * 10**9 * share)),
        )
        for rate in (100, 50)
    ]
    # a packet that a switch stores once more, and a first one's 16 B, are beside the form
    assert half - full == pytest.approx(forms[1] - forms[0], rel=0.03)
    assert half / full == pytest.approx(forms[1] / forms[0], rel=0.03)


@pytest.mark.parametrize("model", MODELS, ids="".join)
def test_only_what_is_on_the_path_counts(model: tuple[str, ...]) -> None:
    """Two machines of four: half of NVLink's rate doubles the phases inside, half of the NICs' the one between."""
    shape = ("kind=zionex", "nodes=2", "accelerators_per_node=4", "ranks_per_leaf=8")
    keys = (*model, *(f"platform.{key}" for key in shape), "collective.all_reduce=hierarchical")
    bps = {"scale_up.rate": 2_400 * 10**9 * Fraction(4096, 4358), "link_rate": 10**11 * Fraction(4096, 4178)}

    def form_ps(slowed: str) -> int:
        inside, between = (int(bps[key] / (2 if key == slowed else 1)) for key in bps)
        return closed_time_ps(
            "all_reduce",
            "hierarchical",
            SIZE,
            machines=2,
            members=4,
            inside=Level(latency_ps=500_000, bandwidth_bps=inside),
            between=Level(latency_ps=1_300_000, bandwidth_bps=between),
        )

    full = run_ps("all_reduce", *keys)
    for key, rate in (("scale_up.rate", "150GB/s"), ("link_rate", "50Gbps")):
        change = run_ps("all_reduce", *keys, f"platform.{key}={rate}") - full
        assert change == pytest.approx(form_ps(key) - form_ps(""), rel=0.03), key


@pytest.mark.parametrize("model", WHOLE_MODELS, ids="".join)
def test_models_that_store_whole_messages(model: tuple[str, ...]) -> None:
    """A ring's steps take their bytes once or, stored at the switch, twice."""
    keys = (*model, "platform.ranks=8", "platform.switch_latency=0ns")
    full, half = (run_ps("all_reduce", *keys, f"platform.link_rate={rate}Gbps") for rate in (100, 50))
    times = 2 if "congestion" in model[1] else 1
    assert half - full == pytest.approx(times * 14 * (SIZE // 8) * 80, rel=1e-3)
