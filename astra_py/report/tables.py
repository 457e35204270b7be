# SPDX-License-Identifier: GPL-2.0-only
"""Tables of a report: which columns of a result's tables are shown, in which order, and how many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.results.columns import TABLES

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.results.result import Result

__all__ = ["Cell", "Head", "Table", "table_of", "tables_of_result"]

#: Endings of columns' names, and how their units are written.
_UNITS = {"us": "µs", "bytes": "B", "GBps": "GB/s", "Gbps": "Gb/s", "percent": "%", "difference": "%"}


@dataclass(frozen=True)
class Head:
    """A column: its name to read, its unit, and what it means."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Cell:
    """A field: how it is written, and the number that it is sorted by, or None for a text."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Table:
    """A table to show.

    Attributes
    ----------
    name : of the table in a result, for the page's own links.
    title : above it.
    note : below it: what is left out, or how it is ordered.
    heads, rows : the columns and their fields.
    """

    name: str
    title: str
    note: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class _Shown:
    """How a table is shown: its title, columns, and the rows that are largest in ``by``, in the run's order without."""

    title: str
    columns: str
    by: str = ""
    most: int = 50


#: The tables of a result in the order of the page.
_SHOWN = {
    "iterations": _Shown(
        "Iterations",
        "job iteration rank time_us compute_us communication_us exposed_us exposed_percent memory_us "
        "slowest_rank_time_us",
    ),
    "collectives": _Shown(
        "Collectives, the most exposed first",
        "collective name job kind algorithm iteration ranks size_bytes exposed_us time_us busbw_GBps ideal_time_us "
        "analytic_time_us ratio bottleneck bottleneck_percent bottleneck_at bottleneck_link retransmitted_packets",
        by="exposed_us",
        most=100,
    ),
    "phases": _Shown(
        "Phases of collectives, the longest first",
        "collective name kind iteration phase level ranks messages size_bytes bytes_per_rank_max bytes_per_rank_min "
        "time_us",
        by="time_us",
    ),
    "flows": _Shown(
        "Flows, the most slowed down first",
        "flow job src dst size_bytes start_us time_us ideal_time_us slowdown retransmitted_packets",
        by="slowdown",
    ),
    "links": _Shown(
        "Links, the busiest first",
        "channel from to link_class rate_Gbps utilisation_percent busy_us line_bytes payload_bytes frames "
        "max_queue_bytes dropped_frames",
        by="utilisation_percent",
    ),
    "queues": _Shown(
        "Queues of switches, the fullest first",
        "switch peer channel link_class rate_Gbps max_queue_bytes marked_percent refused_frames pauses_sent "
        "peer_paused_us pauses_received paused_us max_buffer_bytes buffer_bytes",
        by="max_queue_bytes",
        most=30,
    ),
    "pauses": _Shown(
        "Pauses of PFC, the longest first", "channel paused by priority start_us end_us time_us", by="time_us", most=30
    ),
    "congestion": _Shown(
        "Flows that congestion control held back, the longest first",
        "src dst queue_pair priority notifications decreases line_rate_Gbps least_rate_Gbps last_rate_Gbps "
        "least_window_bytes last_window_bytes slow_us",
        by="slow_us",
        most=30,
    ),
    "host_cores": _Shown(
        "Cores of hosts, the busiest first",
        "machine core utilisation_percent busy_us message_us segment_us packet_us copy_us works",
        by="busy_us",
        most=32,
    ),
    "staging": _Shown(
        "Copies between accelerators and hosts, the longest first",
        "rank out_bytes in_bytes out_us in_us out_utilisation_percent in_utilisation_percent",
        by="out_us",
        most=32,
    ),
    "pairs": _Shown(
        "Pairs of ranks, the largest first",
        "src dst messages size_bytes packets retransmitted_packets mean_message_us max_message_us",
        by="size_bytes",
        most=30,
    ),
}


def _head(name: str, meaning: str) -> Head:
    words, _, ending = name.rpartition("_")
    is_unit = ending in _UNITS and words
    return Head((words if is_unit else name).replace("_", " "), _UNITS[ending] if is_unit else "", meaning)


def _cell(value: Any, *, is_plain: bool) -> Cell:
    if isinstance(value, str):
        return Cell(value, None)
    number = float(value)
    if number != number:
        return Cell("-", float("-inf"))
    if isinstance(value, float | np.floating):
        return Cell(f"{number:,.3f}", number)
    return Cell(str(int(value)) if is_plain else f"{int(value):,}", number)


#: Numbers of things, which are names and no amounts.
_NUMBERS = {
    "collective",
    "iteration",
    "rank",
    "channel",
    "src",
    "dst",
    "flow",
    "machine",
    "core",
    "priority",
    "queue_pair",
}


def table_of(
    frame: pd.DataFrame, name: str, title: str, note: str = "", meanings: dict[str, str] | None = None
) -> Table:
    """A DataFrame as a table; what it has no meaning for is explained by its name alone."""
    heads = tuple(_head(column, (meanings or {}).get(column, "")) for column in frame.columns)
    columns = [
        [_cell(value, is_plain=column in _NUMBERS) for value in frame[column].tolist()] for column in frame.columns
    ]
    return Table(name, title, note, heads, tuple(zip(*columns, strict=True)))


def tables_of_result(result: Result) -> list[Table]:
    """The tables of a result that have rows."""
    found, cut = [], result.cut
    for name, shown in _SHOWN.items():
        frame = result.table(name)
        if not len(frame):
            continue
        wanted = [column for column in shown.columns.split() if not _is_empty(frame, column)]
        if shown.by:
            frame = frame.sort_values(shown.by, ascending=False, kind="stable")
        notes = [f"{shown.most:,} of {len(frame):,} rows of the table {name}"] if len(frame) > shown.most else []
        notes += [f"the table keeps {cut[name]}"] if name in cut else []
        meanings = {column.name: column.meaning for column in TABLES[name]}
        found.append(table_of(frame[wanted].head(shown.most), name, shown.title, "; ".join(notes), meanings))
    return found


def _is_empty(frame: pd.DataFrame, column: str) -> bool:
    """Whether no row has a text there: of one job, none has its name."""
    values: Sequence[Any] = frame[column].tolist()
    return all(value == "" for value in values)
