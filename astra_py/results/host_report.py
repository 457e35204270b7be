# SPDX-License-Identifier: GPL-2.0-only
"""Parts of the printed report: what bounds each collective, and what hosts did under TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.columns import Columns
from astra_py.results.text import figure, grid
from astra_py.units import format_size

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["bottlenecks_section", "equal_collectives", "hosts_section"]

#: Kinds of a core's work, by their columns of the table ``host_cores``.
_WORK = {"copies": "copy_us", "packets": "packet_us", "segments": "segment_us", "messages": "message_us"}


def equal_collectives(table: Columns, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows of equal kind, algorithm, ranks and size, in order of first appearance."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i in rows.tolist():
        key = tuple(table[column][i] for column in ("kind", "algorithm", "ranks", "size_bytes"))
        groups.setdefault(key, []).append(i)
    return [np.array(group) for group in groups.values()]


def bottlenecks_section(result: Result) -> list[str]:
    """Lines on what bounds the collectives of the last iteration; none where none has a message."""
    table = result.columns("collectives")
    last = table["iteration"].max(initial=-1)
    rows = []
    for group in equal_collectives(table, np.flatnonzero(table["iteration"] == last)):
        kinds = table["bottleneck"][group]
        for kind in dict.fromkeys(kinds[kinds != ""].tolist()):
            mine = group[kinds == kind]
            name = f"{table['kind'][mine[0]]} {table['algorithm'][mine[0]]}"
            rows.append(
                [
                    f"{name} {format_size(int(table['size_bytes'][mine[0]]))}",
                    str(kind),
                    str(table["bottleneck_at"][mine[0]]),
                    f"x {len(mine)}" if len(mine) > 1 else "",
                    f"{table['bottleneck_percent'][mine].mean():.1f} %",
                ]
            )
    if not rows:
        return []
    lines = [
        *grid([f"iteration {last}", "bound by", "at", "", "of its time"], rows, left=3),
        "what a collective's messages need longest, or what held its sender that was held longest",
    ]
    if any(row[1] == "latency" for row in rows):
        lines.append("latency is neither: ways, switches, steps that wait for one another or for ranks that come late")
    return lines


def hosts_section(result: Result) -> list[str]:
    """Lines on cores, copies and sockets of TCP; none without it."""
    return [*_cores(result), *_staging(result), *_sockets(result)]


def _cores(result: Result) -> list[str]:
    table = result.columns("host_cores")
    busy = table["busy_us"]
    if not busy.any():
        return []
    worst = int(np.argmax(busy))
    parts = [
        f"{name} {100 * table[column][worst] / busy[worst]:.0f} %"
        for name, column in _WORK.items()
        if table[column][worst]
    ]
    use = table["utilisation_percent"]
    return [
        f"host cores: {int((busy > 0).sum()):,} of {len(busy):,} worked; busy for {use.mean():.1f} % of the run on "
        f"average, at most {use[worst]:.1f} %:",
        f"  core {table['core'][worst]} of machine {table['machine'][worst]}, of that {', '.join(parts)}",
    ]


def _staging(result: Result) -> list[str]:
    table = result.columns("staging")
    if not len(table["rank"]):
        return []
    size = int(table["out_bytes"].sum() + table["in_bytes"].sum())
    most = max(float(table[f"{way}_utilisation_percent"].max()) for way in ("out", "in"))
    return [f"copies between accelerators and hosts: {size:,} B, at most {most:.1f} % of the run for one accelerator"]


def _sockets(result: Result) -> list[str]:
    table = result.columns("sockets")
    if not len(table["src"]):
        return []
    again, timeouts = int(table["retransmitted_segments"].sum()), int(table["timeouts"].sum())
    trips = table["round_trip_us"][~np.isnan(table["round_trip_us"])]
    line = (
        f"sockets: {len(table['src']):,} sent {int(table['segments'].sum()):,} segments, of these {again:,} again, and "
        f"had {timeouts:,} timeouts"
    )
    lines = [line]
    if len(trips):
        lines.append(
            f"  round trips at the end: {figure(trips.mean(), 1)} us on average, at most {figure(trips.max(), 1)} us"
        )
    late = int(table["late_acks"].sum())
    if late:
        lines.append(
            f"  {late:,} acknowledgements that a sender waited for came by the delayed-ACK timer "
            "(transport.tcp.delayed_ack, delayed_ack_timeout)"
        )
    return lines
