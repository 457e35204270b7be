# SPDX-License-Identifier: GPL-2.0-only
"""Cases whose result follows from the model: closed recurrences, what is declared, and order.

The recurrences of :mod:`astra_py.analysis.recurrences` are integers and share no code with the engines. Equality is to
the picosecond. The other engines stand beside them: they know no packets, and differ by the filling of pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from astra_py.analysis.recurrences import (
    Endpoint,
    Level,
    Link,
    direct_all_to_all,
    direct_exchange,
    halving_doubling_steps,
    hierarchical_all_reduce,
    hierarchical_all_to_all,
    one_message,
    packet_lines,
    ring_steps,
    stepwise,
)
from astra_py.analysis.validation.case import Case, Figures, Kind, Relation
from astra_py.analysis.validation.engines import (
    BESIDE,
    EXACT_REGIME,
    chain,
    collective_times_ps,
    engine_times_ps,
    run_collective,
    star,
)
from astra_py.collectives import build_template
from astra_py.config import Scenario, load_scenario
from astra_py.units import parse_size

__all__ = ["exact_cases"]

_RECURRENCE = "recurrence of store-and-forward links, docs/models.md"
_GBPS = 10**9
#: Links in a row: from slow to fast and back, long and short; 300 ns of switch between them.
_LINKS = tuple(
    Link(rate * _GBPS, delay)
    for rate, delay in zip((100, 400, 25, 200, 50, 100), range(10**5, 7 * 10**5, 10**5), strict=True)
)
_LATENCY_PS = 300_000
_RANKS = range(2, 18)


def _scenario(payload: int, ends: Endpoint | None = None) -> Scenario:
    overheads = (
        {}
        if ends is None
        else {
            "send_latency": f"{ends.send_latency_ps}ps",
            "receive_latency": f"{ends.receive_latency_ps}ps",
        }
    )
    delay = 0 if ends is None else ends.endpoint_delay_ps
    return load_scenario(
        {
            "transport": {**EXACT_REGIME, "payload": f"{payload}B", **overheads},
            "system": {"endpoint_delay": f"{delay}ps"},
        }
    )


def _messages(hops: int) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        links, between = _LINKS[:hops], [_LATENCY_PS] * (hops - 1)
        platform, figures = chain(links, between), []
        for payload in (1000, 1024, 4096, 9000):
            scenario, ends = _scenario(payload), Endpoint(payload)
            for size in sorted({0, 1, payload - 1, payload, payload + 1, 5 * payload + 1, 40_000}):
                _, expected = one_message(size, ends, links, between)
                times = engine_times_ps(build_template("sendrecv", "direct", 2, size), platform, scenario)
                figures.append(Figures.of(expected, times, f"{size} B in packets of {payload} B"))
        return figures

    return run


def _long_message() -> list[Figures]:
    size, links, ends = 2**32 + 1, [Link(400 * _GBPS, 500_000)], Endpoint(9000)
    _, expected = one_message(size, ends, links, [])
    template = build_template("sendrecv", "direct", 2, size)
    return [Figures.of(expected, engine_times_ps(template, chain(links, []), _scenario(9000)))]


_ENDS = Endpoint(1000, send_latency_ps=200_000, receive_latency_ps=100_000, endpoint_delay_ps=50_000)


def _on_a_star(
    kind: str, algorithm: str, expected: Callable[[int, int, Link], int], unit: int
) -> Callable[[], Sequence[Figures]]:
    """A collective on one switch, ``unit`` bytes for each rank that there is, on 2 to 17 ranks."""

    def run() -> list[Figures]:
        link, scenario, figures = Link(100 * _GBPS, 500_000), _scenario(_ENDS.payload, _ENDS), []
        for ranks in _RANKS:
            if algorithm == "halving_doubling" and ranks & (ranks - 1):
                continue  # messages meet there
            template = build_template(kind, algorithm, ranks, ranks * unit)
            times = engine_times_ps(template, star([link] * ranks, _LATENCY_PS), scenario)
            figures.append(Figures.of(expected(ranks, ranks * unit, link), times, f"{ranks} ranks"))
        return figures

    return run


def _steps(steps: Callable[[int, int], tuple[list[list[int]], list[list[int]]]]) -> Callable[[int, int, Link], int]:
    def expected(ranks: int, size: int, link: Link) -> int:
        links = [link] * ranks
        return max(map(max, stepwise(*steps(ranks, size), _ENDS, links, links, _LATENCY_PS))) + _ENDS.endpoint_delay_ps

    return expected


def _half_a_ring(ranks: int, size: int) -> tuple[list[list[int]], list[list[int]]]:
    peers, sizes = ring_steps(ranks, size)
    return peers[: ranks - 1], sizes[: ranks - 1]


def _exchanges(count: int) -> Callable[[int, int, Link], int]:
    def expected(ranks: int, size: int, link: Link) -> int:
        lines, ready = packet_lines(size // ranks, _ENDS.payload), _ENDS.endpoint_delay_ps
        for _ in range(count):
            ready = (
                max(direct_exchange(lines, ranks - 1, ready, _ENDS, link, link, _LATENCY_PS)) + _ENDS.endpoint_delay_ps
            )
        return ready

    return expected


def _all_to_all(ranks: int, size: int, link: Link) -> int:
    return max(direct_all_to_all(ranks, size, _ENDS, link, link, _LATENCY_PS)) + _ENDS.endpoint_delay_ps


_SHAPES = [(machines, local) for machines, local in product(range(1, 9), range(1, 9)) if 2 <= machines * local <= 17]


def _hierarchical(kind: str) -> Callable[[], Sequence[Figures]]:
    """Machines whose NICs are all on one switch, so that no two flows meet."""

    def run() -> list[Figures]:
        figures = []
        levels = {"all_reduce_inside": "ring", "all_reduce_between": "ring"} if kind == "all_reduce" else {}
        inside, between = Level(Link(2400 * _GBPS, 200_000), 0, 940_000), Level(Link(100 * _GBPS, 500_000), _LATENCY_PS)
        for machines, local in _SHAPES:
            ranks = machines * local
            size = 3001 * ranks
            tree: dict[str, Any] = {
                "platform": {
                    "kind": "zionex",
                    "nodes": machines,
                    "accelerators_per_node": local,
                    "ranks_per_leaf": ranks,
                    "spines": 1,
                    "link_rate": "100Gbps",
                    "link_delay": "500ns",
                    "switch_latency": "300ns",
                    "scale_up": {"rate": "2400Gbps", "latency": "200ns", "efficiency": 0.94},
                },
                "transport": {**EXACT_REGIME, "payload": "1000B", "send_latency": "200ns", "receive_latency": "100ns"},
                "system": {"endpoint_delay": "50ns"},
                "collective": {kind: "hierarchical", **levels},
            }
            if kind == "all_reduce":
                expected = hierarchical_all_reduce(machines, local, size, _ENDS, ("ring", inside), ("ring", between))
            else:
                expected = hierarchical_all_to_all(machines, local, size, _ENDS, inside, between)
            times = collective_times_ps(tree, kind, size)
            figures.append(Figures.of(expected[-1], times, f"{machines} x {local} ranks"))
        return figures

    return run


_UNEVEN: dict[str, Any] = {
    "platform": {"kind": "leaf_spine", "ranks": 8, "ranks_per_leaf": 4, "spines": 2},
    "transport": {"payload": "1000B"},
}


def _checks(name: str) -> Callable[[], Sequence[Figures]]:
    """A check of runs, as figures: what was declared, and what was measured."""

    def run() -> list[Figures]:
        figures = []
        for kind, size in (("all_to_all_v", 999_999), ("all_reduce", 1_000_001), ("all_gather", 77_777)):
            check = next(check for check in run_collective(_UNEVEN, kind, size).checks if check.name == name)
            figures.append(Figures(expected=check.declared, packet=check.measured, point=f"{kind} of {size} B"))
        return figures

    return run


#: busbw over algbw by number of ranks, as nccl-tests' doc/PERFORMANCE.md derives them.
_BUS_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1,
    "reduce": lambda n: 1,
    "sendrecv": lambda n: 1,
}


def _bus_bandwidths() -> list[Figures]:
    """The reported busbw of every kind, against its size over its time by hand; in GB/s."""
    figures = []
    for kind, factor in _BUS_FACTORS.items():
        result = run_collective(_UNEVEN, kind, 800_000)
        row = {name: float(result.columns("collectives")[name][0]) for name in ("time_ps", "busbw_GBps")}
        ranks = 2 if kind == "sendrecv" else 8
        figures.append(
            Figures(expected=800_000 / row["time_ps"] * 1000 * factor(ranks), packet=row["busbw_GBps"], point=kind)
        )
    return figures


def _text_units() -> list[Figures]:
    """A run of a scenario in text against the same in numbers: MiB is 2^20 B, Gbps 10^9 bit/s, us 10^6 ps."""
    link, payload = Link(200 * _GBPS, 3_000_000), 4096
    ends = Endpoint(payload)
    platform = {
        "kind": "single_switch",
        "ranks": 4,
        "link_rate": "200Gbps",
        "link_delay": "3us",
        "switch_latency": "0ns",
    }
    tree = {"platform": platform, "transport": {**EXACT_REGIME, "payload": "4KiB"}}
    expected = max(direct_all_to_all(4, 8 * 2**20, ends, link, link, 0))
    return [Figures.of(expected, collective_times_ps(tree, "all_to_all", parse_size("8MiB")))]


def _monotone() -> list[Figures]:
    """Runs that got faster by more bytes, a slower link, or a longer one; 60 pairs drawn with a fixed seed."""
    random, got_faster = np.random.default_rng(1), dict.fromkeys(("packet", *BESIDE), 0)
    for number in range(60):
        less = [int(random.integers(*span)) for span in ((1, 200_000), (10, 400), (1_000, 2_000_000))]
        more = list(less)
        axis = number % 3
        more[axis] += (int(random.integers(1, 5_000)), -int(random.integers(1, 9)), int(random.integers(1, 500_000)))[
            axis
        ]
        times = []
        for some_size, some_gbps, some_delay_ps in (less, more):
            links = [Link(some_gbps * _GBPS, some_delay_ps)] * 4
            template = build_template("all_reduce", "ring", 4, some_size)
            times.append(engine_times_ps(template, star(links, _LATENCY_PS), _scenario(1000)))
        for name in got_faster:
            got_faster[name] += times[1][name] < times[0][name]
    return [Figures.of(0, got_faster, "60 pairs of runs")]


def _repeated() -> list[Figures]:
    """Values of the message table that differ between two runs of one seed, another run between them."""
    tree = {**_UNEVEN, "platform": {**_UNEVEN["platform"], "link_loss": 0.001}, "seed": 7}

    def messages() -> list[np.ndarray[Any, Any]]:
        columns = run_collective(tree, "all_to_all", 800_000).columns("messages")
        return [np.asarray(column) for column in columns.values()]

    first = messages()
    run_collective({**tree, "seed": 8}, "all_reduce", 800_000)
    second = messages()
    return [Figures(expected=0, packet=sum(int((a != b).sum()) for a, b in zip(first, second, strict=True)))]


def _incast() -> list[Figures]:
    """Last byte of an incast of k ranks under pauses, against what the shared link allows."""
    figures = []
    for senders in (2, 8, 24):
        payload = 4096
        tree = {
            "platform": {"kind": "single_switch", "ranks": senders + 1, "link_rate": "100Gbps", "link_delay": "1us"},
            "switch": {"buffer": "4MB", "lossless": [0]},
            "transport": {"congestion_control": "none", "payload": f"{payload}B", "ack": "out_of_band"},
        }
        size = 500_000 * (senders + 1)
        lines = packet_lines(500_000, payload)
        link = Link(100 * _GBPS, 1_000_000)
        frame_ps = -(-8 * max(lines) * 10**12 // link.rate_bps)
        shared_ps = senders * sum(-(-8 * line * 10**12 // link.rate_bps) for line in lines)
        loop_ps = 2 * (2 * link.delay_ps + _LATENCY_PS) + 2 * frame_ps
        time_ps = collective_times_ps(tree, "gather", size, ("packet",))["packet"]
        figures.append(
            Figures(expected=shared_ps + senders * frame_ps + loop_ps, packet=time_ps, point=f"{senders} senders")
        )
    return figures


def exact_cases() -> list[Case]:
    """Cases of the exact regime, of conservation and of order."""

    def case(
        name: str,
        title: str,
        measure: Callable[[], Sequence[Figures]],
        unit: str = "ps",
        source: str = _RECURRENCE,
        **more: Any,
    ) -> Case:
        return Case(id=f"exact.{name}", title=title, source=source, kind=Kind.EXACT, unit=unit, measure=measure, **more)

    ranks = f"{_RANKS[0]} to {_RANKS[-1]} ranks"
    flat = [
        ("all_reduce", "ring", _steps(ring_steps), 10_007),
        ("all_reduce", "direct", _exchanges(2), 10_007),
        ("all_reduce", "halving_doubling", _steps(halving_doubling_steps), 10_007),
        ("reduce_scatter", "ring", _steps(_half_a_ring), 10_007),
        ("all_gather", "ring", _steps(_half_a_ring), 10_007),
        ("reduce_scatter", "direct", _exchanges(1), 10_007),
        ("all_gather", "direct", _exchanges(1), 10_007),
        ("all_to_all", "direct", _all_to_all, 10_007),
    ]
    declared = "the workload, closed forms, routes and headers"
    return [
        *(
            case(f"message_{hops}", f"one message over {hops} link{'s' * (hops > 1)}, 4 MTUs, 7 sizes", _messages(hops))
            for hops in range(1, len(_LINKS) + 1)
        ),
        case("message_4GiB", "one message of 2^32 + 1 B", _long_message),
        *(
            case(f"{kind}_{algorithm}", f"{kind} {algorithm}, {ranks}", _on_a_star(kind, algorithm, expected, unit))
            for kind, algorithm, expected, unit in flat
        ),
        *(
            case(
                f"{kind}_hierarchical",
                f"{kind} hierarchical, {len(_SHAPES)} shapes",
                _hierarchical(kind),
            )
            for kind in ("all_reduce", "all_to_all")
        ),
        case("delivered_bytes", "payload delivered = declared", _checks("message_bytes"), "B", declared),
        case("port_bytes", "payload that ports counted = declared", _checks("ports_sent"), "B", declared),
        case("line_bytes", "line bytes of links = routes and headers", _checks("link_line_bytes"), "B", declared),
        case(
            "busbw",
            "reported busbw, every kind",
            _bus_bandwidths,
            "GB/s",
            "nccl-tests, doc/PERFORMANCE.md",
            tolerance=1e-9,
        ),
        case("units", "a scenario in text: KiB, MiB, Gbps, us", _text_units),
        case("monotone", "more work, less rate, more delay: never faster", _monotone, "runs", "order"),
        case("repeated", "same seed, same result to the bit", _repeated, "values", "identity"),
        case(
            "incast_pauses",
            "incast under pauses: the shared link is never idle",
            _incast,
            "ps",
            "bandwidth of the shared link, a frame a sender, the loop's delay",
            relation=Relation.AT_MOST,
        ),
    ]
