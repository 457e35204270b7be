# SPDX-License-Identifier: GPL-2.0-only
"""Iterations from the times of their steps: what was published on ZionEX, column by column, and what rules imply."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.analysis.iteration_forms import (
    CommunicationRates,
    DenseFigures,
    StepFigures,
    mad_max_iteration,
    neo_iteration,
    step_figures,
)
from astra_py.analysis.madmax import MADMAX_MODELS, Volumes, mad_max_step
from astra_py.analysis.published import read_figures, source_of_figures
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.hardware import accelerator
from astra_py.workloads.dlrm.job import DlrmJob

PUBLISHED = read_figures("zionex_iterations.csv").to_dict(orient="records")
PS_PER_MS = 10**9

times = st.integers(0, 10**12)
layers = st.lists(
    st.builds(DenseFigures, forward_ps=times, backward_ps=times, all_reduce_ps=times), min_size=1, max_size=5
).map(tuple)
steps = st.builds(
    StepFigures,
    lookup_ps=times,
    update_ps=times,
    all_to_all_forward_ps=times,
    all_to_all_backward_ps=times,
    interaction_forward_ps=times,
    interaction_backward_ps=times,
    bottom=layers,
    top=layers,
)


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row['model']}-{row['gpus']}")
def test_every_published_column(row: dict[str, float]) -> None:
    """The last printed digit of each; what follows from first principles, nothing of these tables."""
    model, gpus = MADMAX_MODELS[str(row["model"])], int(row["gpus"])
    step = mad_max_step(model, gpus)
    form = mad_max_iteration(step)
    dense = sum(layer.forward_ps + layer.backward_ps for layer in (*step.bottom, *step.top))
    computed = {
        "gemm_ms": dense / PS_PER_MS,
        "embedding_ms": (step.lookup_ps + step.update_ps) / PS_PER_MS,
        "all_to_all_ms": (step.all_to_all_forward_ps + step.all_to_all_backward_ps) / PS_PER_MS,
        "all_reduce_ms": step.all_reduce_ps / PS_PER_MS,
        "exposed_ms": form.exposed_ps / PS_PER_MS,
        "iteration_ms": form.iteration_ps / PS_PER_MS,
        "throughput_Msps": gpus * model.local_batch / form.iteration_ps * 1e6,
    }
    for column, value in computed.items():
        assert value == pytest.approx(row[column], abs=0.0051), column
    assert 100 * form.exposed_share == pytest.approx(row["exposed_percent"], abs=0.051)


def test_physical_volumes_of_dlrm_i_are_six_percent_faster() -> None:
    published, physical = (
        mad_max_iteration(mad_max_step(MADMAX_MODELS["dlrm_i"], 128, volumes)).iteration_ps for volumes in Volumes
    )
    assert physical / published - 1 == pytest.approx(-0.062, abs=0.001)


def test_gpus_that_are_no_whole_machines() -> None:
    with pytest.raises(ConfigError, match="ZionEX with 12 GPUs: allowed are 2 to 8, or whole machines"):
        mad_max_step(MADMAX_MODELS["dlrm_a"], 12)


def test_a_scenarios_dlrm_takes_what_was_measured() -> None:
    """A preset whose real exchanges have MAD-Max's bytes, at Neo's rates: 54.00 ms, 1.21 M/s, 75.5 % exposed."""
    scenario = load_scenario(
        {
            "workload": {
                "kind": "dlrm",
                "preset": "dlrm_a_net",
                "index_exchange": "none",
                "flops_efficiency": 0.705,
                "memory_efficiency": 0.836,
                "interaction_time": "none",
            }
        }
    )
    job = DlrmJob(scenario.require_workload(), 128, accelerator("A100-40"))
    # MAD-Max balances tables, and counts no interaction
    step = step_figures(job.times, job.exchanges, CommunicationRates(), is_balanced=True)
    form = mad_max_iteration(step)
    assert step.all_to_all_forward_ps / PS_PER_MS == pytest.approx(13.2, abs=0.01)
    assert step.all_reduce_ps / PS_PER_MS == pytest.approx(21.27, abs=0.01)
    assert (step.lookup_ps + step.update_ps) / PS_PER_MS == pytest.approx(9.10, abs=0.01)
    assert form.iteration_ps / PS_PER_MS == pytest.approx(54.00, rel=0.01)
    assert 128 * 512 / form.iteration_ps * 1e6 == pytest.approx(1.21, rel=0.01)
    assert form.exposed_share == pytest.approx(0.755, rel=0.01)
    # 970 tables on 128 ranks: the fullest have 8 of them, 5.6 % above the mean
    slowest = step_figures(job.times, job.exchanges, CommunicationRates())
    assert slowest.lookup_ps / step.lookup_ps == pytest.approx(8 * 128 / 970)
    assert slowest.all_to_all_forward_ps / step.all_to_all_forward_ps == pytest.approx(8 * 128 / 970)


def test_neo_by_hand() -> None:
    """3 + 5 beside 4; 1; 2. Then 6 + 7 + the longer of 8 + 9 and 10; all-reduces of 20 + 31 are longer than that."""
    step = StepFigures(
        lookup_ps=3,
        all_to_all_forward_ps=5,
        bottom=(DenseFigures(forward_ps=4, backward_ps=10, all_reduce_ps=20),),
        interaction_forward_ps=1,
        top=(DenseFigures(forward_ps=2, backward_ps=6, all_reduce_ps=31),),
        interaction_backward_ps=7,
        all_to_all_backward_ps=8,
        update_ps=9,
    )
    form = neo_iteration(step)
    assert form.iteration_ps == 8 + 1 + 2 + 51
    # without communication: 4 + 1 + 2, then 6 + 7 + 10
    assert form.compute_ps == 7 + 23
    assert form.communication_ps == 5 + 8 + 51
    assert form.exposed_share == (62 - 30) / 64


@given(step=steps)
def test_an_iteration_is_between_its_streams_and_their_sum(step: StepFigures) -> None:
    form = mad_max_iteration(step)
    assert max(form.compute_ps, form.communication_ps) <= form.iteration_ps
    assert form.iteration_ps <= form.compute_ps + form.communication_ps
    # two kinds of compute may overlap in Neo's form, which therefore never takes longer
    assert neo_iteration(step).iteration_ps <= form.iteration_ps


@given(step=steps, more=times)
def test_slower_steps_never_make_an_iteration_faster(step: StepFigures, more: int) -> None:
    for rule in (mad_max_iteration, neo_iteration):
        before = rule(step).iteration_ps
        for field in fields(step):
            value = getattr(step, field.name)
            if isinstance(value, int):
                assert rule(replace(step, **{field.name: value + more})).iteration_ps >= before


def test_figures_say_where_they_are_from() -> None:
    assert "ISCA 2024" in source_of_figures("zionex_iterations.csv")
