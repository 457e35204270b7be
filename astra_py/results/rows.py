# SPDX-License-Identifier: GPL-2.0-only
"""A result as rows of plain JSON, under the public names of the command line's ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from astra_py.results.result import Result

__all__ = ["collective_rows", "iteration_rows", "phase_rows", "run_row"]

#: Keys of a collective's row, and the column of the table ``collectives`` that each comes from.
_COLLECTIVE_KEYS = {
    "name": "name",
    "iteration": "iteration",
    "collective": "kind",
    "algorithm": "algorithm",
    "ranks": "ranks",
    "size_bytes": "size_bytes",
    "time_ps": "time_ps",
    "algbw_GBps": "algbw_GBps",
    "busbw_GBps": "busbw_GBps",
    "analytic_time_ps": "analytic_time_ps",
    "ideal_time_ps": "ideal_time_ps",
    "exposed_us": "exposed_us",
    "bottleneck_link": "bottleneck_link",
    "bottleneck": "bottleneck",
    "bottleneck_percent": "bottleneck_percent",
    "bottleneck_at": "bottleneck_at",
    "retransmitted_packets": "retransmitted_packets",
}
#: Keys of a phase's row, and the column of the table ``phases`` that each comes from.
_PHASE_KEYS = {
    "name": "name",
    "iteration": "iteration",
    "collective": "kind",
    "phase": "phase",
    "level": "level",
    "ranks": "ranks",
    "messages": "messages",
    "size_bytes": "size_bytes",
    "bytes_per_rank_max": "bytes_per_rank_max",
    "bytes_per_rank_min": "bytes_per_rank_min",
    "start_ps": "start_ps",
    "end_ps": "end_ps",
    "time_ps": "time_ps",
}


def iteration_rows(result: Result) -> list[dict[str, Any]]:
    """One row an iteration, with the columns of the table ``iterations``."""
    table = result.columns("iterations")
    return _rows({name: table[name] for name in table})


def collective_rows(result: Result) -> list[dict[str, Any]]:
    """One row a collective."""
    table = result.columns("collectives")
    return _rows({key: table[column] for key, column in _COLLECTIVE_KEYS.items()})


def phase_rows(result: Result) -> list[dict[str, Any]]:
    """One row a collective, phase and level."""
    table = result.columns("phases")
    return _rows({key: table[column] for key, column in _PHASE_KEYS.items()})


def run_row(result: Result) -> dict[str, Any]:
    """The run as a whole: what the engine counted, what it cost, and the checks it passed."""
    manifest, counters = result.manifest, result.counters
    cost, cores = manifest["run"], result.columns("host_cores")["utilisation_percent"]
    return {
        "engine": manifest["engine"],
        "time_ps": cost["time_ps"],
        "messages": cost["messages"],
        **{name: counters.get(name, 0) for name in ("events", "packets", "packet_hops", "most_pending_events")},
        "wire_bytes": int(result.columns("links")["line_bytes"].sum()),
        "retransmitted_packets": int(result.columns("collectives")["retransmitted_packets"].sum()),
        "timeouts": counters.get("timeouts", 0),
        "max_core_utilisation_percent": float(cores.max()) if len(cores) else None,
        **{name: cost[name] for name in ("setup_cpu_s", "simulation_cpu_s", "peak_rss_bytes")},
        "seed": manifest["seed"],
        "digest": result.digest,
        "checks": {check.name: "passed" for check in result.checks},
    }


def _rows(columns: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """Columns as rows of Python's own values; JSON has no NaN, so that becomes None."""
    lists = []
    for column in columns.values():
        values = column.tolist()
        lists.append([None if value != value else value for value in values] if column.dtype.kind == "f" else values)
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
