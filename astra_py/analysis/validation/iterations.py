# SPDX-License-Identifier: GPL-2.0-only
"""Cases of iterations: Neo's DLRMs on ZionEX by MAD-Max's rule, at the rates that were reached, and by the engines.

A row of :mod:`astra_py.analysis.iteration_forms` stands under ``analytic``: it is a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from astra_py.analysis.iteration_forms import CommunicationRates, StepFigures, mad_max_iteration, step_figures
from astra_py.analysis.madmax import MADMAX_MODELS, Volumes, mad_max_step
from astra_py.analysis.published import read_figures, source_of_figures
from astra_py.analysis.validation.case import Case, Figures, Kind
from astra_py.analysis.validation.engines import BESIDE, neo_platform, run_work
from astra_py.config import load_scenario
from astra_py.hardware import accelerator
from astra_py.workloads.dlrm.job import DlrmJob

__all__ = ["iteration_cases"]

_PS_PER_MS = 10**9


def _form_of(step: StepFigures, samples: int) -> dict[str, float]:
    form = mad_max_iteration(step)
    return {
        "iteration_ms": form.iteration_ps / _PS_PER_MS,
        "throughput_Msps": samples / form.iteration_ps * 1e6,
        "exposed_percent": 100 * form.exposed_share,
    }


def _by_form(expected: float, quantity: str, step: Callable[[], StepFigures], samples: int) -> list[Figures]:
    return [Figures(expected=expected, analytic=_form_of(step(), samples)[quantity])]


def _preset_step() -> StepFigures:
    """The steps of a DLRM whose real exchanges have the bytes that were measured."""
    workload = {
        "kind": "dlrm",
        "preset": "dlrm_a_net",
        "index_exchange": "none",
        "flops_efficiency": 0.705,
        "memory_efficiency": 0.836,
        "interaction_time": "none",
    }
    config = load_scenario({"workload": workload}).require_workload()
    job = DlrmJob(config, 128, accelerator("A100-40"))
    return step_figures(job.times, job.exchanges, CommunicationRates(), is_balanced=True)


def iteration_cases() -> list[Case]:
    """DLRMs on ZionEX by MAD-Max's rule: in its own volumes, in physical ones, and of a preset's sharding plan."""
    cases: list[Case] = []

    def add(
        name: str,
        title: str,
        published: Mapping[Hashable, Any],
        step: Callable[[], StepFigures],
        samples: int,
        **more: Any,
    ) -> None:
        for quantity in ("iteration_ms", "throughput_Msps", "exposed_percent"):
            expected = float(published[quantity])
            what, _, unit = quantity.rpartition("_")
            cases.append(
                Case(
                    id=f"machines.{name}_{what}",
                    title=f"{title}: {what}",
                    source=source_of_figures("zionex_iterations.csv"),
                    kind=Kind.CALIBRATED,
                    unit=unit.replace("percent", "%"),
                    measure=partial(_by_form, expected, quantity, step, samples),
                    judged="analytic",
                    # a published figure is right to half of its last digit
                    tolerance=max(0.01, 0.005 / expected),
                    **more,
                )
            )

    own = "un-pooled bytes over ranks: MAD-Max's volumes, not physical ones"
    rows = read_figures("zionex_iterations.csv").to_dict("records")
    for row in rows:
        model, gpus = MADMAX_MODELS[str(row["model"])], int(row["gpus"])
        number = {("dlrm_a", 128): "v7", ("dlrm_a", 8): "v7b", ("dlrm_i", 128): "v7c"}[(model.name, gpus)]
        add(
            number,
            f"{number.upper()}: {model.name} on {gpus} GPUs",
            row,
            partial(mad_max_step, model, gpus),
            gpus * model.local_batch,
            is_must=gpus > 8,
            note=own,
        )
    note = "real exchanges of preset dlrm_a_net, tables balanced, no interaction, as MAD-Max has it"
    add("v7_preset", "V7: preset dlrm_a_net on 128 GPUs", rows[0], _preset_step, 128 * 512, note=note)

    def physical() -> list[Figures]:
        model = MADMAX_MODELS["dlrm_i"]
        times = [
            mad_max_iteration(mad_max_step(model, 128, volumes)).iteration_ps
            for volumes in (Volumes.POOLED, Volumes.UNPOOLED)
        ]
        return [Figures(expected=0.94, analytic=times[0] / times[1])]

    cases.append(
        Case(
            id="machines.v7c_physical",
            title="V7c: DLRM-I in physical volumes over MAD-Max's",
            source="pooled vectors of 2 B an element in place of un-pooled ones of 4 B over ranks: about 6 % less",
            kind=Kind.CALIBRATED,
            unit="ratio",
            measure=physical,
            judged="analytic",
            tolerance=0.01,
        )
    )
    cases.append(
        Case(
            id="machines.v7_engines",
            title="V7: dlrm_a_net on 16 x 8 A100, 100 Gb/s, steady iteration by the engines",
            source=source_of_figures("zionex_iterations.csv"),
            kind=Kind.REPORTED,
            unit="ms",
            measure=_dlrm_a,
            judged="flow",
            is_must=False,
            is_quick=False,
            note="Neo's order, nothing fitted: the rates reached are the platform's. Every packet of an iteration "
            "takes minutes: astra-py run workloads/dlrm_a_net_128.toml engine=packet",
        )
    )
    return cases


def _dlrm_a() -> list[Figures]:
    tree = {
        **neo_platform("100Gbps"),
        "workload": {"kind": "dlrm", "preset": "dlrm_a_net"},
        "collective": {"all_reduce": "hierarchical"},
    }
    times: dict[str, float] = {
        name: float(run_work({**tree, "engine": name}).columns("iterations")["time_us"][-1]) / 1000 for name in BESIDE
    }
    return [Figures.of(54.0, times)]
