# SPDX-License-Identifier: GPL-2.0-only
"""The format ``hpcc_flows``: flow lists of HPCC's simulator on ns-3.

Line 1 is the number of flows; each further line is ``src dst pg dport bytes start``: node ids of the topology, priority
group, destination port, payload in bytes and start in seconds. A flow completes when its last byte is acknowledged, and
its completion time counts from its start. Lines behind the declared number are not run, as in that program.
"""

from __future__ import annotations

from pathlib import Path

from astra_py.formats.head import Head
from astra_py.formats.lines import DECIMAL, Line, read_lines
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.units import format_time
from astra_py.workloads.flows import LATEST_START_PS, FlowList

__all__ = ["HPCC_FLOWS"]

_FLOW = "src dst pg dport bytes start"
_MOST_BYTES = 2**50
#: What published flow lists of that simulator have, where a flow list does not say it.
_GROUP, _PORT = 3, 100


def _recognises(path: Path, head: Head) -> bool:
    """A count alone, then six numbers a line."""
    lines = head.lines
    if head.is_gzip or len(lines) < 2 or len(lines[0]) != 1 or not lines[0][0].isdecimal():
        return False
    return len(lines[1]) == 6 and all(map(str.isdecimal, lines[1][:5])) and DECIMAL.fullmatch(lines[1][5]) is not None


def _read(path: Path, options: Options) -> Document:
    header, *lines = read_lines(path)
    header.require("flows")
    declared = header.whole(0, "the number of flows")
    if len(lines) < declared:
        raise header.error(f"{declared} flows are declared and {len(lines)} follow")
    flows = _flows(path, lines[:declared])
    return Document(
        format=HPCC_FLOWS.name,
        path=path,
        content=flows,
        summary=tuple(_summary(path, flows)),
        ignored=("priority groups and destination ports; all flows share one class, and ways go by the ranks",),
        warnings=_left_over(header, declared, len(lines)),
    )


def _left_over(header: Line, declared: int, found: int) -> tuple[str, ...]:
    if found == declared:
        return ()
    return (f"{header.where}: {declared} flows are declared and run, and {found - declared} more lines are not",)


def _flows(path: Path, lines: list[Line]) -> FlowList:
    rows = [_flow(line) for line in lines]
    src, dst, sizes, starts = zip(*rows, strict=True) if rows else ((), (), (), ())
    return FlowList(src, dst, sizes, starts, source=str(path))


def _flow(line: Line) -> tuple[int, int, int, int]:
    """Sender, receiver, bytes and start in ps of a line."""
    line.require(_FLOW)
    src, dst = (line.whole(index, name, most=2**31 - 1) for index, name in ((0, "src"), (1, "dst")))
    if src == dst:
        raise line.error(f"the flow goes from node {src} to itself; allowed: two nodes")
    line.whole(2, "pg", most=7)
    line.whole(3, "dport", most=2**16 - 1)
    size = line.whole(4, "bytes", most=_MOST_BYTES)
    start = line.decimal(5, "start in seconds") * 10**12
    if start.denominator != 1 or not 0 <= start <= LATEST_START_PS:
        raise line.error(
            f"field 6, start, is {line.fields[5]} s; allowed: whole picoseconds from 0 to {LATEST_START_PS // 10**12} s"
        )
    return src, dst, size, int(start)


def _summary(path: Path, flows: FlowList) -> list[str]:
    lines = [f"{path}: {len(flows)} flows between {len(flows.ranks)} nodes, {flows.total_bytes} B together"]
    if len(flows):
        starts = [format_time(int(start)) for start in (flows.start_ps.min(), flows.start_ps.max())]
        lines.append(
            f"flows of {flows.size_bytes.min()} to {flows.size_bytes.max()} B, from {starts[0]} to {starts[1]}"
        )
    return lines


def _write(document: Document, path: Path, options: Options) -> tuple[str, ...]:
    """Write a flow list; starts in seconds, exactly."""
    flows: FlowList = document.content
    rows = zip(*(column.tolist() for column in (flows.src, flows.dst, flows.size_bytes, flows.start_ps)), strict=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{len(flows)}\n")
        file.writelines(
            f"{src} {dst} {_GROUP} {_PORT} {size} {start // 10**12}.{start % 10**12:012d}\n"
            for src, dst, size, start in rows
        )
    return (f"{path}: {len(flows)} flows of priority group {_GROUP} to port {_PORT}",)


HPCC_FLOWS = register_format(
    Format(
        name="hpcc_flows",
        title="flow list of HPCC's simulator",
        kind=Kind.FLOWS,
        recognises=_recognises,
        read=_read,
        write=_write,
        writes=frozenset({Kind.FLOWS}),
        suffixes=(".txt",),
        keys=frozenset(),
    )
)
