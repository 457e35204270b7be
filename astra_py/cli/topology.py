# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py topology``: what a platform is made of."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from astra_py.cli.common import print_json, print_table, scenario_from
from astra_py.units import format_rate, format_time

if TYPE_CHECKING:
    from astra_py.platforms import Platform, PlatformArrays, PlatformDescription

__all__ = ["topology"]


def topology(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCENARIO] [key.path=value]...",
            help="A scenario file, the default platform without it, and changes such as platform.kind=leaf_spine.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with every node and port.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Only what it is made of: no notes, no drawing.")] = False,
) -> None:
    """Show a platform: machines, NIC ports, links by class, bisection bandwidth, diameter, and a drawing."""
    scenario = scenario_from(arguments or [])

    from astra_py.platforms import build_platform, describe, draw

    platform = build_platform(scenario.platform)
    description = describe(platform)
    if as_json:
        print_json([asdict(description) | _nodes_and_ports(platform)])
        return
    _print_summary(platform, description, has_notes=not is_quiet)
    if not is_quiet:
        print()
        print(draw(platform))


def _print_summary(platform: Platform, description: PlatformDescription, *, has_notes: bool) -> None:
    links = platform.graph.number_of_edges()
    counts = [
        (description.ranks, "rank", "ranks"),
        (description.hosts, "host", "hosts"),
        (description.nics, "NIC", "NICs"),
        (description.switches, "switch", "switches"),
        (links, "link", "links"),
    ]
    always = ("rank", "switch", "link")
    listed = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count or one in always]
    print(f"{description.name}: " + ", ".join(listed))
    ports = _span(description.nic_ports_per_machine)
    if description.machines < description.ranks:
        print(f"machines: {description.machines}, {_span(description.ranks_per_machine)} ranks and {ports} NICs each")
    else:
        print(f"NIC ports: {ports} a rank")
    hops = description.diameter_hops
    diameter = "not computed" if hops is None else f"{hops} link{'s' if hops != 1 else ''}"
    print(f"bisection bandwidth each way: {_bisection(description)}; diameter: {diameter}")
    for note in description.notes if has_notes else ():
        print(f"note: {note}")
    print()
    print_table(
        ["link class", "links", "rate", "delay", "loss", "efficiency"],
        [
            [
                *(kind.name, kind.links, format_rate(kind.rate_bps), format_time(kind.delay_ps), f"{kind.loss:g}"),
                f"{kind.efficiency:g}" if kind.efficiency else "Ethernet",
            ]
            for kind in description.link_classes
        ],
    )


def _bisection(description: PlatformDescription) -> str:
    """Write the bisection, and that of the Ethernet network where there are other links beside."""
    whole, ethernet = (
        "not computed" if rate is None else format_rate(rate)
        for rate in (description.bisection_bps, description.ethernet_bisection_bps)
    )
    has_scale_up = any(kind.efficiency for kind in description.link_classes)
    return f"{whole}, over Ethernet {ethernet}" if has_scale_up else whole


def _span(counts: tuple[int, int]) -> str:
    low, high = counts
    return str(low) if low == high else f"{low} to {high}"


def _place(arrays: PlatformArrays, rank: int) -> dict[str, int]:
    return {"machine": int(arrays.rank_machine[rank]), "rail": int(arrays.rank_rail[rank])}


def _nodes_and_ports(platform: Platform) -> dict[str, Any]:
    """Return every node, and every port as the channel that it feeds."""
    arrays = platform.arrays()
    nodes = [
        {"node": node, "name": data["name"], "kind": data["kind"].name.lower(), "rank": data["rank"]}
        | {"latency_ps": data["latency_ps"], "forwards": int(data["forwards"])}
        | (_place(arrays, data["rank"]) if data["rank"] >= 0 else {})
        for node, data in platform.graph.nodes(data=True)
    ]
    ends = zip(arrays.link_a.tolist(), arrays.link_b.tolist(), arrays.link_class.tolist(), strict=True)
    ports = [
        {"port": 2 * link + back, "node": near, "peer": far, "link": link, "link_class": arrays.class_names[kind]}
        for link, (a, b, kind) in enumerate(ends)
        for back, (near, far) in enumerate(((a, b), (b, a)))
    ]
    return {"nodes": nodes, "ports": ports}
