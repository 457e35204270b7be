# SPDX-License-Identifier: GPL-2.0-only
"""Cases that other simulators publish or were run for: ASTRA-sim 2 on ns-3, and its analytical backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from astra_py.analysis.published import read_figures, source_of_figures
from astra_py.analysis.validation.case import Case, Figures, Kind
from astra_py.analysis.validation.engines import collective_times_ps

__all__ = ["simulator_cases"]

_PS_PER_NS = 1000


def _hosts(ranks: int) -> dict[str, Any]:
    return {
        "platform": {
            "kind": "single_switch",
            "ranks": ranks,
            "link_rate": "400Gbps",
            "link_delay": "500ns",
            "switch_latency": "0ns",
        },
        "transport": {"preset": "astra_ns3"},
        "system": {"endpoint_delay": "10ns", "local_memory_bandwidth": "1600GB/s"},
    }


def _on_ns3(kind: str, ranks: int, size: int, simulated_ns: int) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        times = collective_times_ps(_hosts(ranks), kind, size)
        return [Figures.of(simulated_ns, {name: time / _PS_PER_NS for name, time in times.items()})]

    return run


def _write_up() -> list[Figures]:
    """The ring of 128 x 1 MiB, step by step, as its rules give it: no table of anybody's."""
    packet_ns, short_ns, last_packet_bytes = 21, 5, 8192 - 8 * 1000
    assert last_packet_bytes == 192
    step_ns = 8 * packet_ns + short_ns + packet_ns + 1000 + 1002 + 10
    expected = 254 * step_ns + 127 * 15 + 10
    times = collective_times_ps(_hosts(128), "all_reduce", 2**20, ("packet",))
    return [Figures(expected=expected, packet=times["packet"] / _PS_PER_NS)]


#: What that program's network.yml has as "bandwidth: 46.566", in units of 2^30 B/s; ours are whole bit/s.
_ANALYTICAL_BPS = int(46.566 * 2**30 * 8)


def _analytical(kind: str, ranks: int, size: int, mode: str, expected_ns: int) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        hosts = _hosts(ranks)
        tree = {
            **hosts,
            "platform": {**hosts["platform"], "link_rate": f"{_ANALYTICAL_BPS}bps"},
            "analytic": {"mode": mode},
            "engine": "analytic",
        }
        time_ps = collective_times_ps(tree, kind, size, ("analytic",))["analytic"]
        return [Figures(expected=expected_ns, analytic=time_ps / _PS_PER_NS)]

    return run


def _analytical_cases() -> list[Case]:
    table = "astra_analytical.csv"
    return [
        Case(
            id=f"astra_analytical.{row['case']}_{row['ranks']}_{row['size_bytes'] // 2**20}MiB_{column}",
            title=f"{row['case']}, {row['ranks']} ranks, {row['size_bytes'] // 2**20} MiB, congestion-{column}",
            source=source_of_figures(table),
            kind=Kind.EXACT,
            unit="ns",
            measure=_analytical(
                row["case"].rpartition("_")[0], row["ranks"], row["size_bytes"], mode, row[f"{column}_ns"]
            ),
            judged="analytic",
            note=f"analytic.mode={mode}",
        )
        for row in read_figures(table).to_dict("records")
        for column, mode in (("aware", "astra_sim_congestion"), ("unaware", "astra_sim"))
    ]


def simulator_cases() -> list[Case]:
    """Every row of the tables of other simulators that ship with the package."""
    table = "astra_ns3.csv"
    source = source_of_figures(table)
    cases = [
        Case(
            id=f"astra_ns3.{row['case']}_{row['ranks']}_{row['size_bytes'] // 2**20}MiB",
            title=f"{row['case']}, {row['ranks']} ranks, {row['size_bytes'] // 2**20} MiB",
            source=source,
            kind=Kind.EXACT,
            unit="ns",
            measure=_on_ns3(row["case"].rpartition("_")[0], row["ranks"], row["size_bytes"], row["simulated_ns"]),
            note="transport.preset=astra_ns3, system.endpoint_delay=10ns, system.local_memory_bandwidth=1600GB/s",
        )
        for row in read_figures(table).to_dict("records")
    ]
    cases.append(
        Case(
            id="astra_ns3.rules",
            title="all_reduce ring, 128 ranks, 1 MiB, by hand",
            source="the program's rules: whole ns, packets of 1,000 B and 36 B, ACKs of 48 B, told by the ACK",
            kind=Kind.EXACT,
            unit="ns",
            measure=_write_up,
        )
    )
    return [*cases, *_analytical_cases()]
