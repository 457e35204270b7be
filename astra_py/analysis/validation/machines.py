# SPDX-License-Identifier: GPL-2.0-only
"""Cases of real machines: published measurements beside what the engines and forms make of the same platforms.

Measured figures are in ``data/``, with their sources. Where a parameter was fitted to a row, it says so and predicts
nothing. A row of :mod:`astra_py.analysis.iteration_forms` stands under ``analytic``: it is a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial

from astra_py.analysis.iteration_forms import CommunicationRates
from astra_py.analysis.published import read_figures, source_of_figures
from astra_py.analysis.validation.case import Case, Figures, Kind
from astra_py.analysis.validation.engines import BESIDE, collective_times_ps, neo_platform, with_keys

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


@cache
def _a100_points() -> tuple[str, list[Figures]]:
    """All-reduce of 64 MiB to 8 GiB on eight A100; the efficiency of NVLink is fitted by least relative squares.

    A ring's time is ``A + C / efficiency``, so that the fit has a closed solution.
    """
    table = read_figures("nccl_a100_8.csv")
    sizes = [size * _MIB for size in table["size_MiB"].tolist()]
    measured = [size * 7 / 4 / busbw * 1e3 for size, busbw in zip(sizes, table["busbw_GBps"].tolist(), strict=True)]

    def times(efficiency: float, engine: str) -> list[int]:
        tree = with_keys(_A100, "platform", scale_up={"efficiency": efficiency})
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
        collective_times_ps(with_keys(_V100, "system", endpoint_delay=delay), "all_reduce", size, ("analytic",))[
            "analytic"
        ]
        for delay in ("0us", "1us")
    )
    return round(1000 * Fraction(measured_ps - none, some - none))


def _on_v100(size_bytes: int, measured_us: float) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        tree = with_keys(_V100, "system", endpoint_delay=f"{_v100_delay_ns()}ns")
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


def _on_zionex(
    kind: str, size_bytes: int, achieved_ms: float, algorithm: str, link_rate: str
) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        tree = {**neo_platform(link_rate), "collective": {kind: algorithm}}
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


def machine_cases() -> list[Case]:
    """Cases V1 to V6: collectives of measured machines."""
    return [*_a100_cases(), *_v100_cases(), *_all_to_all_cases(), *_zionex_cases()]
