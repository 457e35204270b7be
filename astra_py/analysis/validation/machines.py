# SPDX-License-Identifier: GPL-2.0-only
"""Cases of real machines: published measurements beside what the engines and forms make of the same platforms.

Measured figures are in ``data/``, with their sources. Where a parameter was fitted to a row, it says so and predicts
nothing. A row of :mod:`astra_py.analysis.iteration_forms` stands under ``analytic``: it is a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from astra_py.analysis.iteration_forms import CommunicationRates, StepFigures, mad_max_iteration, step_figures
from astra_py.analysis.madmax import MADMAX_MODELS, Volumes, mad_max_step
from astra_py.analysis.published import read_figures, source_of_figures
from astra_py.analysis.validation.case import Case, Figures, Kind, Relation
from astra_py.analysis.validation.engines import BESIDE, collective_times_ps, run_work
from astra_py.config import load_scenario
from astra_py.hardware import accelerator
from astra_py.workloads.dlrm.job import DlrmJob

__all__ = ["machine_cases"]

_MIB = 2**20
_PS_PER_US, _PS_PER_MS = 10**6, 10**9

#: One machine of eight A100, as NCCL's default for large messages on one NVSwitch domain: a ring.
_A100 = {"platform": {"kind": "dgx_a100", "nodes": 1}, "collective": {"all_reduce": "ring"}}
#: Eight machines of eight V100, no two flows of a ring on one link.
_V100 = {
    "platform": {
        "kind": "zionex",
        "nodes": 8,
        "accelerators_per_node": 8,
        "ranks_per_leaf": 64,
        "link_rate": "100Gbps",
        "scale_up": {"rate": "150GB/s"},
    },
    "collective": {"all_reduce": "hierarchical", "all_reduce_inside": "direct", "all_reduce_between": "ring"},
}
#: Packets of the larger sizes take minutes.
_MOST_PACKETS_BYTES = 64 * _MIB


def _with(tree: Mapping[str, Any], table: str, **keys: Any) -> dict[str, Any]:
    """The tree with further keys in one of its tables; a table in it is joined, too."""
    old = tree.get(table, {})
    new = {key: {**old.get(key, {}), **value} if isinstance(value, dict) else value for key, value in keys.items()}
    return {**tree, table: {**old, **new}}


@cache
def _a100_points() -> tuple[str, list[Figures]]:
    """All-reduce of 64 MiB to 8 GiB on eight A100; the efficiency of NVLink is fitted by least relative squares.

    A ring's time is ``A + C / efficiency``, so that the fit has a closed solution.
    """
    table = read_figures("nccl_a100_8.csv")
    sizes = [size * _MIB for size in table["size_MiB"].tolist()]
    measured = [size * 7 / 4 / busbw * 1e3 for size, busbw in zip(sizes, table["busbw_GBps"].tolist(), strict=True)]

    def times(efficiency: float, engine: str) -> list[int]:
        tree = _with(_A100, "platform", scale_up={"efficiency": efficiency})
        return [collective_times_ps(tree, "all_reduce", size, (engine,))[engine] for size in sizes]

    full, half = times(1.0, "analytic"), times(0.5, "analytic")
    wire = [(b - a) / time for a, b, time in zip(full, half, measured, strict=True)]
    rest = [1 - (2 * a - b) / time for a, b, time in zip(full, half, measured, strict=True)]
    slowness = sum(w * r for w, r in zip(wire, rest, strict=True)) / sum(w * w for w in wire)
    efficiency = round(1 / slowness, 4)
    by_engine = {name: times(efficiency, name) for name in BESIDE}
    points = [
        Figures.of(
            time / _PS_PER_US,
            {name: values[i] / _PS_PER_US for name, values in by_engine.items()},
            f"{size // _MIB} MiB",
        )
        for i, (size, time) in enumerate(zip(sizes, measured, strict=True))
    ]
    return f"platform.scale_up.efficiency = {efficiency}", points


def _on_a100(point: int) -> list[Figures]:
    return [_a100_points()[1][point]]


def _a100_cases() -> list[Case]:
    sizes = read_figures("nccl_a100_8.csv")["size_MiB"].tolist()
    return [
        Case(
            id=f"machines.v1_a100_8_{size}MiB",
            title=f"V1: all-reduce of {size} MiB on eight A100",
            source=source_of_figures("nccl_a100_8.csv"),
            kind=Kind.FITTED,
            unit="us",
            measure=partial(_on_a100, i),
            judged="analytic",
            tolerance=0.10,
            is_must=False,
            note="one platform.scale_up.efficiency fitted to these four; NCCL's busbw rises by a third from the first "
            "to the last, as it goes from one protocol and number of channels to another",
        )
        for i, size in enumerate(sizes)
    ]


@cache
def _v100_delay_ns() -> int:
    """``system.endpoint_delay`` with which the analytic engine takes what was measured at the smallest size."""
    table = read_figures("allreduce_v100_64.csv")
    size, measured_ps = int(table["size_MiB"][0]) * _MIB, int(table["measured_us"][0]) * _PS_PER_US
    none, some = (
        collective_times_ps(_with(_V100, "system", endpoint_delay=delay), "all_reduce", size, ("analytic",))["analytic"]
        for delay in ("0us", "1us")
    )
    return round(1000 * Fraction(measured_ps - none, some - none))


def _on_v100(size_bytes: int, measured_us: float) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        tree = _with(_V100, "system", endpoint_delay=f"{_v100_delay_ns()}ns")
        engines = (*BESIDE, "packet") if size_bytes <= _MOST_PACKETS_BYTES else BESIDE
        times = collective_times_ps(tree, "all_reduce", size_bytes, engines)
        return [Figures.of(measured_us, {name: time / _PS_PER_US for name, time in times.items()})]

    return run


def _v100_cases() -> list[Case]:
    rows = read_figures("allreduce_v100_64.csv").to_dict("records")
    return [
        Case(
            id=f"machines.v2_v100_64_{row['size_MiB']}MiB",
            title=f"V2: all-reduce of {row['size_MiB']} MiB on 64 V100: reduce-scatter, ring over machines, all-gather",
            source=source_of_figures("allreduce_v100_64.csv"),
            kind=Kind.PREDICTED if i else Kind.FITTED,
            unit="us",
            measure=_on_v100(int(row["size_MiB"]) * _MIB, float(row["measured_us"])),
            judged="analytic",
            tolerance=0.07,
            is_quick=int(row["size_MiB"]) * _MIB > _MOST_PACKETS_BYTES,
            note="one latency, system.endpoint_delay, fitted at 32 MiB",
        )
        for i, row in enumerate(rows)
    ]


def _all_to_all_limit(machines: int, members: int) -> Callable[[], Sequence[Figures]]:
    """Busbw tends to B (n - 1) / (n - L) times the payload's share; an ACK a packet goes the other way of a link."""

    def run() -> list[Figures]:
        ranks, size = machines * members, 8 * _MIB
        platform = {
            "kind": "zionex",
            "nodes": machines,
            "accelerators_per_node": members,
            "ranks_per_leaf": ranks,
            "link_rate": "100Gbps",
        }
        times = collective_times_ps({"platform": platform, "collective": {"all_to_all": "direct"}}, "all_to_all", size)
        limit = 12.5 * (ranks - 1) / (ranks - members)
        busbw = {name: size * (ranks - 1) / ranks / time * 1e3 for name, time in times.items()}
        return [Figures.of(limit * 4096 / (4178 + 86), busbw, f"{machines} x {members} ranks")]

    return run


def _all_to_all_cases() -> list[Case]:
    return [
        Case(
            id=f"machines.v5_all_to_all_{machines}x{members}",
            title=f"V5: all-to-all of 8 MiB on {machines} machines of {members}, a NIC a GPU, no collisions",
            source="B (n - 1) / (n - L) x 4,096 of 4,264 line bytes, an ACK a packet included; docs/models.md",
            kind=Kind.PREDICTED,
            unit="GB/s",
            measure=_all_to_all_limit(machines, members),
            tolerance=0.03,
            is_quick=machines < 8,
            note="busbw; flow and analytic engines have no ACKs: 2 % more",
        )
        for machines, members in ((4, 4), (8, 8))
    ]


def _neo(expected_ms: float, time_ps: int) -> Callable[[], Sequence[Figures]]:
    return lambda: [Figures(expected=expected_ms, analytic=time_ps / _PS_PER_MS)]


def _neo_platform(link_rate: str) -> dict[str, Any]:
    return {"platform": {"kind": "zionex", "nodes": 16, "ranks_per_leaf": 128, "link_rate": link_rate}}


def _on_zionex(
    kind: str, size_bytes: int, achieved_ms: float, algorithm: str, link_rate: str
) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        tree = {**_neo_platform(link_rate), "collective": {kind: algorithm}}
        # every packet of the all-reduce takes minutes
        engines = ("packet", *BESIDE) if kind == "all_to_all" else BESIDE
        times = collective_times_ps(tree, kind, size_bytes, engines)
        return [Figures.of(achieved_ms, {name: time / _PS_PER_MS for name, time in times.items()})]

    return run


def _zionex_cases() -> list[Case]:
    rates = CommunicationRates()
    source = "Mudigere et al., ISCA 2022: 7 GB/s and 60 GB/s achieved; times as MAD-Max (ISCA 2024) has them"
    both = (
        ("all_to_all", 92_400_000, 13.2, rates.all_to_all_ps(92_400_000), "direct"),
        ("all_reduce", 1_276_000_000, 21.3, rates.all_reduce_ps(1_276_000_000), "hierarchical"),
    )
    cases = []
    for kind, size, expected, time_ps, algorithm in both:
        cases.append(
            Case(
                id=f"machines.v6_{kind}",
                title=f"V6: {kind} of {size / 1e6:g} MB on ZionEX, 128 GPUs, at the rate that was achieved",
                source=source,
                kind=Kind.CALIBRATED,
                unit="ms",
                measure=_neo(expected, time_ps),
                judged="analytic",
                # a published figure is right to half of its last digit
                tolerance=0.05 / expected,
            )
        )
        cases += [
            Case(
                id=f"machines.v6_{kind}_at_{rate}",
                title=f"V6: {kind} of {size / 1e6:g} MB, what NICs of {rate} allow",
                source=source,
                kind=Kind.REPORTED,
                unit="ms",
                measure=_on_zionex(kind, size, expected, algorithm, rate),
                judged="flow",
                is_must=False,
                is_quick=False,
                note="the ceiling of a rate beside what was achieved; no rate of NICs gives both collectives",
            )
            for rate in ("100Gbps", "200Gbps")
        ]
    return cases


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


def _iteration_cases() -> list[Case]:
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
        **_neo_platform("100Gbps"),
        "workload": {"kind": "dlrm", "preset": "dlrm_a_net"},
        "collective": {"all_reduce": "hierarchical"},
    }
    times: dict[str, float] = {
        name: float(run_work({**tree, "engine": name}).columns("iterations")["time_us"][-1]) / 1000 for name in BESIDE
    }
    return [Figures.of(54.0, times)]


#: Seven senders join one long flow's receiver: Li et al., "HPCC", SIGCOMM 2019, section 5.2.
_JOINED = {
    "platform": {
        "kind": "single_switch",
        "ranks": 10,
        "link_rate": "25Gbps",
        "link_delay": "1us",
        "switch_latency": "300ns",
    },
    "switch": {"ecn_kmin": "25Gbps=100kB", "ecn_kmax": "25Gbps=400kB", "ecn_pmax": 0.2, "ecn_mark_at": "dequeue"},
    "background": {
        "long": {"kind": "incast", "ranks": "0,1", "receiver": 0, "size": "20MB"},
        "joining": {"kind": "incast", "ranks": "0,2-8", "receiver": 0, "size": "4MB", "start": "300us"},
        "probe": {
            "kind": "incast",
            "ranks": "0,9",
            "receiver": 0,
            "size": "1B",
            "rounds": 60,
            "period": "2us",
            "start": "300us",
        },
    },
    "transport": {"preset": "dcqcn_vendor", "payload": "1000B", "window": "none", "qps_per_peer": "per_message"},
}
_ROUND_TRIPS_PS = 2 * 5_400_000
_BYTE_PS = 320


def _dcqcn_joined(bound: float) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        result = run_work(_with(_JOINED, "transport", congestion_control="dcqcn"))
        return [Figures(expected=bound, packet=float(result.columns("queues")["max_queue_bytes"].max()))]

    return run


def _hpcc_joined() -> list[Figures]:
    """What waits at the receiver's port two round trips after the others joined, as a byte sent then sees it."""
    messages = run_work(_with(_JOINED, "transport", congestion_control="hpcc")).columns("messages")
    is_probe = messages["src"] == 9
    posted, took = messages["posted_ps"][is_probe], (messages["delivered_ps"] - messages["posted_ps"])[is_probe]
    after = posted >= 300_000_000 + _ROUND_TRIPS_PS
    return [Figures(expected=30_000, packet=float((took[after].max() - took.min()) / _BYTE_PS))]


def _queue_cases() -> list[Case]:
    source = "Li et al., HPCC, SIGCOMM 2019, section 5.2: 25 Gb/s, round trip 5.4 us, seven senders join a long flow"
    return [
        *(
            Case(
                id=f"machines.v9_dcqcn_{word}",
                title=f"V9: deepest queue of DCQCN, {word}",
                source=f"{source}; about 550 kB there",
                kind=Kind.PREDICTED,
                unit="B",
                measure=_dcqcn_joined(bound),
                relation=relation,
                is_must=False,
            )
            for word, bound, relation in (
                ("at_least", 300_000, Relation.AT_LEAST),
                ("at_most", 1_100_000, Relation.AT_MOST),
            )
        ),
        Case(
            id="machines.v9_hpcc",
            title="V9: queue of HPCC two round trips later",
            source=source,
            kind=Kind.PREDICTED,
            unit="B",
            measure=_hpcc_joined,
            relation=Relation.AT_MOST,
            is_must=False,
            note="seven windows of 16.9 kB take five round trips to leave a link of 25 Gb/s, whoever starts at line "
            "rate; from the second on, nobody sends and the queue only falls (docs/validation.md)",
        ),
    ]


_FLOWS, _ROUNDS = 4, 1600


def _shares(control: str) -> Callable[[], Sequence[Figures]]:
    """Bytes of four long flows that start a millisecond apart, over their mean, while all are under way."""

    def run() -> list[Figures]:
        tree = {
            "platform": {"kind": "single_switch", "ranks": 5, "link_rate": "25Gbps", "link_delay": "500ns"},
            "background": {
                f"flow{i}": {
                    "kind": "incast",
                    "ranks": f"0,{i + 1}",
                    "receiver": 0,
                    "size": "39063B",
                    "rounds": _ROUNDS,
                    "period": "1ps",
                    "start": f"{i}ms",
                }
                for i in range(_FLOWS)
            },
            "transport": {"congestion_control": control, "payload": "4096B", "window": "none", "qps_per_peer": 1},
        }
        messages = run_work(tree).columns("messages")
        ends = [messages["delivered_ps"][messages["src"] == src].max() for src in range(1, _FLOWS + 1)]
        last_start, first_end = (_FLOWS - 1) * _PS_PER_MS, min(ends)
        is_within = (messages["delivered_ps"] > (last_start + first_end) / 2) & (messages["delivered_ps"] <= first_end)
        got = np.bincount(messages["src"][is_within], weights=messages["size_bytes"][is_within], minlength=5)[1:]
        return [Figures(expected=1.0, packet=share, point=f"flow {i}") for i, share in enumerate(got / got.mean())]

    return run


def _fairness_cases() -> list[Case]:
    aims = {"none": 0.05, "dctcp": 0.05, "hpcc": 0.05, "swift": 0.05, "dcqcn": 0.10, "timely": None}
    return [
        Case(
            id=f"fairness.{control}",
            title=f"shares of four long flows of {control} that start one after another, 25 Gb/s",
            source="equal shares",
            kind=Kind.REPORTED if tolerance is None else Kind.PREDICTED,
            unit="of mean",
            measure=_shares(control),
            tolerance=tolerance or 0.0,
            is_must=tolerance is not None,
            is_quick=False,
            note="no unique fair point (Zhu et al., CoNEXT 2016)" if tolerance is None else "",
        )
        for control, tolerance in aims.items()
    ]


def machine_cases() -> list[Case]:
    """Cases V1 to V9 of measured machines, and the fairness of congestion controls."""
    return [
        *_a100_cases(),
        *_v100_cases(),
        *_all_to_all_cases(),
        *_zionex_cases(),
        *_iteration_cases(),
        *_queue_cases(),
        *_fairness_cases(),
    ]
