# SPDX-License-Identifier: GPL-2.0-only
"""Cases of real machines: published measurements beside what the engines and forms make of the same platforms.

Each function returns the rows of one case. Measured figures are in ``data/``, with their sources. Where a parameter is
fitted, its rows say so and predict nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from astra_py.analysis.iteration_forms import CommunicationRates, StepFigures, mad_max_iteration, step_figures
from astra_py.analysis.madmax import MADMAX_MODELS, Volumes, mad_max_step
from astra_py.analysis.published import read_figures, source_of_figures
from astra_py.analysis.validation_row import RowKind, ValidationRow
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.hardware import accelerator
from astra_py.workloads.dlrm.job import DlrmJob

__all__ = [
    "all_reduce_on_a100",
    "all_reduce_on_v100",
    "all_to_all_limit",
    "zionex_collectives",
    "zionex_iterations",
]

_MIB = 2**20
_PS_PER_US, _PS_PER_MS = 10**6, 10**9

#: One machine of eight A100, as NCCL's default for large messages on one NVSwitch domain: a ring.
A100_KEYS = ("platform.kind=dgx_a100", "platform.nodes=1", "collective.all_reduce=ring")
#: Eight machines of eight V100, no two flows of a ring on one link.
V100_KEYS = (
    "platform.kind=zionex",
    "platform.nodes=8",
    "platform.accelerators_per_node=8",
    "platform.ranks_per_leaf=64",
    "platform.scale_up.rate=150GB/s",
    "platform.link_rate=100Gbps",
    "collective.all_reduce=hierarchical",
    "collective.all_reduce_inside=direct",
    "collective.all_reduce_between=ring",
)


def _time_ps(kind: str, size_bytes: int, engine: str, *keys: str) -> int:
    run = one_collective(load_scenario({}, (*keys, f"engine={engine}")), kind, size_bytes)
    return int(run.run().collectives["time_ps"].iloc[0])


def all_reduce_on_a100() -> list[ValidationRow]:
    """All-reduce of 64 MiB to 8 GiB on eight A100; the efficiency of NVLink is fitted by least relative squares.

    A ring's time is ``A + C / efficiency``, so that the fit has a closed solution.
    """
    table = read_figures("nccl_a100_8.csv")
    sizes = [size * _MIB for size in table["size_MiB"].tolist()]
    measured = [size * 7 / 4 / busbw * 1e3 for size, busbw in zip(sizes, table["busbw_GBps"].tolist(), strict=True)]
    full, half = (
        [
            _time_ps("all_reduce", size, "analytic", *A100_KEYS, f"platform.scale_up.efficiency={share}")
            for size in sizes
        ]
        for share in (1.0, 0.5)
    )
    wire = [(b - a) / time for a, b, time in zip(full, half, measured, strict=True)]
    rest = [1 - (2 * a - b) / time for a, b, time in zip(full, half, measured, strict=True)]
    slowness = sum(w * r for w, r in zip(wire, rest, strict=True)) / sum(w * w for w in wire)
    efficiency = round(1 / slowness, 4)
    note = f"platform.scale_up.efficiency = {efficiency} fitted to these rows"
    return [
        ValidationRow(
            case=f"all-reduce on 8 A100, {size // _MIB} MiB",
            source=source_of_figures("nccl_a100_8.csv"),
            kind=RowKind.FITTED,
            engine="analytic",
            quantity="time_us",
            expected=time / _PS_PER_US,
            computed=_time_ps("all_reduce", size, "analytic", *A100_KEYS, f"platform.scale_up.efficiency={efficiency}")
            / _PS_PER_US,
            tolerance=0.10,
            note=f"{note}; one efficiency for all sizes, and NCCL rises by a third from the first to the last",
        )
        for size, time in zip(sizes, measured, strict=True)
    ]


def all_reduce_on_v100(engine: str = "analytic", most_bytes: int = 2**33) -> list[ValidationRow]:
    """All-reduce of 32 MiB to 8 GiB on 64 V100: reduce-scatter, ring over machines, all-gather, one after another.

    Predicted but for one latency, ``system.endpoint_delay``, fitted to the smallest size on the analytic engine.

    Parameters
    ----------
    engine : what computes the times.
    most_bytes : sizes above are left out; packets of the largest ones take hours.
    """
    table = read_figures("allreduce_v100_64.csv")
    sizes = [size * _MIB for size in table["size_MiB"].tolist()]
    measured = [time * _PS_PER_US for time in table["measured_us"].tolist()]
    none, some = (
        _time_ps("all_reduce", sizes[0], "analytic", *V100_KEYS, f"system.endpoint_delay={delay}")
        for delay in ("0us", "1us")
    )
    delay_ns = round(1000 * Fraction(measured[0] - none, some - none))
    rows = []
    for i, (size, time) in enumerate(zip(sizes, measured, strict=True)):
        if size <= most_bytes:
            keys = (*V100_KEYS, f"system.endpoint_delay={delay_ns}ns")
            rows.append(
                ValidationRow(
                    case=f"all-reduce on 64 V100, {size // _MIB} MiB",
                    source=source_of_figures("allreduce_v100_64.csv"),
                    kind=RowKind.PREDICTED if i else RowKind.FITTED,
                    engine=engine,
                    quantity="time_us",
                    expected=time / _PS_PER_US,
                    computed=_time_ps("all_reduce", size, engine, *keys) / _PS_PER_US,
                    tolerance=0.07,
                    is_required=True,
                    note=f"system.endpoint_delay = {delay_ns} ns fitted at {sizes[0] // _MIB} MiB",
                )
            )
    return rows


def all_to_all_limit(engine: str = "packet", machines: int = 4, members: int = 4) -> list[ValidationRow]:
    """A large all-to-all on machines with a NIC a GPU: busbw tends to B (n - 1) / (n - L) times the payload's share.

    An ACK per packet goes the other way of the same link: 4,096 of 4,178 + 86 line bytes, and without 4,096 of 4,178.
    """
    ranks, size = machines * members, 8 * _MIB
    keys = [f"platform.{key}" for key in ("kind=zionex", f"nodes={machines}", f"accelerators_per_node={members}")]
    keys += [f"platform.ranks_per_leaf={ranks}", "platform.link_rate=100Gbps", "collective.all_to_all=direct"]
    has_acks = engine == "packet"
    share = 4096 / (4178 + (86 if has_acks else 0))
    time = _time_ps("all_to_all", size, engine, *keys)
    return [
        ValidationRow(
            case=f"all-to-all of {size // _MIB} MiB on {machines} x {members} ranks",
            source="B (n - 1) / (n - L) x the payload's share of the line"
            + (", an ACK a packet included" if has_acks else ""),
            kind=RowKind.PREDICTED,
            engine=engine,
            quantity="busbw_GBps",
            expected=12.5 * (ranks - 1) / (ranks - members) * share,
            computed=size * (ranks - 1) / ranks / time * 1e3,
            tolerance=0.03,
            is_required=True,
        )
    ]


def zionex_collectives() -> list[ValidationRow]:
    """Neo's collectives on 128 GPUs at the rates that it reached: 92.4 MB of all-to-all and 1.276 GB of all-reduce."""
    rates = CommunicationRates()
    return [
        ValidationRow(
            case=f"ZionEX, {what}",
            source="Mudigere et al., ISCA 2022: 7 GB/s and 60 GB/s achieved; times as MAD-Max (ISCA 2024) has them",
            kind=RowKind.CALIBRATED,
            engine="form",
            quantity="time_ms",
            expected=expected,
            computed=time / _PS_PER_MS,
            tolerance=0.05 / expected,
            is_required=True,
        )
        for what, expected, time in (
            ("all-to-all of 92.4 MB", 13.2, rates.all_to_all_ps(92_400_000)),
            ("all-reduce of 1.276 GB", 21.3, rates.all_reduce_ps(1_276_000_000)),
        )
    ]


def zionex_iterations() -> list[ValidationRow]:
    """DLRMs on ZionEX by MAD-Max's rule: in its own volumes, in physical ones, and of a preset's sharding plan."""
    rows: list[ValidationRow] = []
    for row in read_figures("zionex_iterations.csv").to_dict(orient="records"):
        model, gpus = MADMAX_MODELS[str(row["model"])], int(row["gpus"])
        case = f"{model.name} on {gpus} GPUs"
        required = gpus > 8
        note = "un-pooled bytes over ranks: MAD-Max's volumes, not physical ones"
        step = mad_max_step(model, gpus)
        rows += _iteration_rows(case, row, step, gpus * model.local_batch, is_required=required, note=note)
    physical = mad_max_iteration(mad_max_step(MADMAX_MODELS["dlrm_i"], 128, Volumes.POOLED)).iteration_ps
    published = mad_max_iteration(mad_max_step(MADMAX_MODELS["dlrm_i"], 128)).iteration_ps
    rows.append(
        ValidationRow(
            case="dlrm_i on 128 GPUs, physical volumes over MAD-Max's",
            source="pooled vectors of 2 B an element in place of un-pooled ones of 4 B over ranks",
            kind=RowKind.CALIBRATED,
            engine="form",
            quantity="ratio",
            expected=0.94,
            computed=physical / published,
            tolerance=0.01,
            is_required=True,
        )
    )
    first = read_figures("zionex_iterations.csv").iloc[0].to_dict()
    note = "real exchanges of preset dlrm_a_net, tables balanced, no interaction, as MAD-Max has it"
    rows += _iteration_rows("dlrm_a_net on 128 GPUs", first, _preset_step(), 128 * 512, is_required=True, note=note)
    return rows


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


def _iteration_rows(
    case: str, published: Mapping[Hashable, Any], step: StepFigures, samples: int, *, is_required: bool, note: str
) -> list[ValidationRow]:
    form = mad_max_iteration(step)
    computed = {
        "iteration_ms": form.iteration_ps / _PS_PER_MS,
        "throughput_Msps": samples / form.iteration_ps * 1e6,
        "exposed_percent": 100 * form.exposed_share,
    }
    return [
        ValidationRow(
            case=case,
            source=source_of_figures("zionex_iterations.csv"),
            kind=RowKind.CALIBRATED,
            engine="form",
            quantity=quantity,
            expected=float(published[quantity]),
            computed=value,
            # a published figure is right to half of its last digit
            tolerance=max(0.01, 0.005 / float(published[quantity])),
            is_required=is_required,
            note=note,
        )
        for quantity, value in computed.items()
    ]
