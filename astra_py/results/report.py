# SPDX-License-Identifier: GPL-2.0-only
"""The printed report of a run: iterations, collectives and phases, bytes by link class, and the checks that passed."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.results.columns import Columns
from astra_py.results.congestion import congestion_section
from astra_py.results.flow_report import flows_section
from astra_py.results.host_report import bottlenecks_section, equal_collectives, hosts_section
from astra_py.results.phases import LEVELS
from astra_py.results.result import how_far
from astra_py.results.text import WIDTH, figure, grid
from astra_py.units import format_size
from astra_py.workloads.calls import FLOWS

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["iterations_section", "report"]

#: So many iterations are printed one by one; of more, the first and the last of these.
_MOST_ITERATIONS = 8


def report(result: Result) -> str:
    """The report of ``result``; at most 100 columns wide."""
    jobs = list(dict.fromkeys(result.columns("iterations")["job"].tolist()))
    sections = [_head(result)]
    for job in jobs:
        sections += [_iterations(result, job), _collectives(result, job)]
    sections += [bottlenecks_section(result), flows_section(result), _phases(result), _links(result)]
    sections += [hosts_section(result), congestion_section(result), _checks(result)]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _head(result: Result) -> list[str]:
    manifest = result.manifest
    platform = manifest["platform"]
    links = ", ".join(f"{count} {name}" for name, count in platform["links"].items())
    lines = [
        *([f"PARTIAL: {how_far(manifest['run'])}", manifest["run"]["exit_message"]] if result.is_partial else []),
        manifest["title"],
        f"{platform['ranks']} ranks on {platform['name']} (links: {links})",
        f"engine {manifest['engine']}, seed {manifest['seed']}, digest {result.digest[:12]}",
    ]
    for note in manifest["notes"]:
        lines += textwrap.wrap(note, WIDTH, initial_indent="- ", subsequent_indent="  ")
    return lines


def _iterations(result: Result, job: str) -> list[str]:
    table = result.columns("iterations")
    mine = table["job"] == job
    table = {name: column[mine] for name, column in table.items()}
    lines = iterations_section(table)
    if job:
        lines.insert(0, f"job {job}, from {figure(table['start_us'][0])} us on")
    return [*lines, f"figures of rank {table['rank'][0]}, which ends the {'job' if job else 'run'}"]


def iterations_section(table: Columns) -> list[str]:
    """Lines of the table of iterations; of many, the first and the last ones."""
    count = len(table["iteration"])
    shown = list(range(count)) if count <= _MOST_ITERATIONS else [0, *range(count - _MOST_ITERATIONS + 1, count)]
    header = ["iteration", "time us", "compute us", "communication us", "exposed communication us", "exposed %"]
    columns = ["time_us", "compute_us", "communication_us", "exposed_us"]
    rows = [
        [
            str(table["iteration"][i]),
            *(figure(table[column][i]) for column in columns),
            figure(table["exposed_percent"][i], 1),
        ]
        for i in shown
    ]
    if len(shown) < count:
        rows.insert(1, ["..."] * len(header))
    if count > 1:
        # collectives of different iterations overlap, so that their times do not add up
        total = ["-" if column == "communication_us" else figure(float(table[column].sum())) for column in columns]
        share = 100 * table["exposed_us"].sum() / max(table["time_us"].sum(), 1e-300)
        rows.append(["job" if table["job"][0] else "run", *total, figure(share, 1)])
    return grid(header, rows)


def _collectives(result: Result, job: str) -> list[str]:
    table = result.columns("collectives")
    mine = (table["job"] == job) & (table["kind"] != FLOWS)
    wanted = np.unique(table["iteration"][mine])
    # the first iteration and the last: how it starts, and the steady state
    wanted = wanted[[0, -1]] if len(wanted) > 1 else wanted
    header = ["collective", "", "ranks", "size", "time", "exposed", "algbw", "busbw", "ideal", "analytic", "ratio"]
    lines = []
    for iteration in wanted:
        rows = [
            _row(table, group)
            for group in equal_collectives(table, np.flatnonzero(mine & (table["iteration"] == iteration)))
        ]
        lines += [f"collectives of iteration {iteration}", *grid(header, rows), ""]
    if not lines:
        return []
    return [*lines[:-1], "times in us, bandwidths in GB/s; of n equal collectives (x n) the means"]


def _row(table: Columns, group: NDArray[np.int64]) -> list[str]:
    first = group[0]
    time, exposed, ideal, analytic = (
        float(table[column][group].mean()) for column in ("time_us", "exposed_us", "ideal_time_us", "analytic_time_us")
    )
    algbw = table["size_bytes"][first] / time / 1e3 if time else np.nan
    factor = table["busbw_GBps"][first] / table["algbw_GBps"][first] if table["algbw_GBps"][first] else np.nan
    return [
        f"{table['kind'][first]} {table['algorithm'][first]}",
        f"x {len(group)}" if len(group) > 1 else "",
        str(table["ranks"][first]),
        format_size(int(table["size_bytes"][first])),
        figure(time, 2),
        figure(exposed, 2),
        figure(algbw, 2),
        figure(algbw * factor, 2),
        figure(ideal, 2),
        figure(analytic, 2),
        figure(time / analytic if analytic else np.nan, 3),
    ]


def _phases(result: Result) -> list[str]:
    """Phases of the last iteration's collectives, where any goes inside machines and between them; and the imbalance.

    Without machines that matter, a phase tells no more than its collective, and only the imbalance is printed.
    """
    table, phases = result.columns("collectives"), result.columns("phases")
    rows_of: dict[int, list[int]] = {}
    for i, collective in enumerate(phases["collective"].tolist()):
        rows_of.setdefault(collective, []).append(i)
    levels = {collective: set(phases["level"][rows].tolist()) for collective, rows in rows_of.items()}
    lines: list[str] = []
    if any(len(found) > 1 for found in levels.values()):
        last = table["iteration"].max()
        rows = []
        for group in equal_collectives(table, np.flatnonzero(table["iteration"] == last)):
            several = [i for i in group.tolist() if len(rows_of.get(i, [])) > 1]
            rows += _phase_rows(table, phases, [rows_of[i] for i in several])
        header = ["collective", "phase", "level", "time", "bytes/rank", "max/min"]
        lines = [f"phases of iteration {last}", *grid(header, rows, left=3)]
        lines.append(
            "time in us, first message posted to last delivered; bytes a rank sends: mean, and max/min over ranks"
        )
    return [*lines, *_imbalance(phases)]


def _phase_rows(table: Columns, phases: Columns, equal: list[list[int]]) -> list[list[str]]:
    """One row a phase and level of equal collectives, whose rows of ``phases`` are given: their means."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i in (i for rows in equal for i in rows):
        groups.setdefault((phases["phase"][i], phases["level"][i]), []).append(i)
    rows: list[list[str]] = []
    for (phase, level), group in groups.items():
        first = phases["collective"][group[0]]
        name = f"{table['kind'][first]} {format_size(int(table['size_bytes'][first]))}"
        title = f"{name} x {len(equal)}" if len(equal) > 1 else name
        mean = float(phases["size_bytes"][group].mean()) / int(phases["ranks"][group[0]])
        most, least = (float(phases[f"bytes_per_rank_{end}"][group].mean()) for end in ("max", "min"))
        rows.append(
            [
                "" if rows else title,
                phase,
                level,
                figure(float(phases["time_us"][group].mean()), 2),
                figure(mean, 0),
                figure(most / least if least else np.nan, 2),
            ]
        )
    return rows


def _imbalance(phases: Columns) -> list[str]:
    """One line on how unevenly ranks send in all-to-all-v, by level; none where there is no all-to-all-v."""
    parts = []
    for level in LEVELS:
        mine = (phases["kind"] == "all_to_all_v") & (phases["level"] == level)
        most, least = phases["bytes_per_rank_max"][mine], phases["bytes_per_rank_min"][mine]
        if not len(most):
            continue
        if (least > 0).all():
            ratio = most / least
            low, high = figure(ratio.min(), 2), figure(ratio.max(), 2)
            parts.append(f"{level} {low}" if low == high else f"{level} {low} to {high}")
        else:
            parts.append(f"{level} up to {most.max():,} B, and none")
    return [f"all_to_all_v, bytes that a rank sends, max/min over ranks: {', '.join(parts)}"] if parts else []


def _links(result: Result) -> list[str]:
    table = result.columns("links")
    header = [
        "link class",
        "channels",
        "rate Gb/s",
        "line bytes",
        "payload",
        "frames",
        "mean use",
        "max use",
        "max queue",
    ]
    # an engine without packets has neither frames nor queues of them
    has_frames = bool(table["frames"].any())
    rows = []
    for name in dict.fromkeys(table["link_class"].tolist()):
        mine = table["link_class"] == name
        rates = np.unique(table["rate_Gbps"][mine])
        use = table["utilisation_percent"][mine]
        rows.append(
            [
                str(name),
                f"{int(mine.sum()):,}",
                f"{rates[0]:g}" if len(rates) == 1 else f"{rates[0]:g}-{rates[-1]:g}",
                f"{int(table['line_bytes'][mine].sum()):,}",
                f"{int(table['payload_bytes'][mine].sum()):,}",
                f"{int(table['frames'][mine].sum()):,}" if has_frames else "-",
                f"{use.mean():.1f} %",
                f"{use.max():.1f} %",
                f"{int(table['max_queue_bytes'][mine].max()):,} B" if has_frames else "-",
            ]
        )
    return [*grid(header, rows), "", *_cost(result)]


def _cost(result: Result) -> list[str]:
    run = result.manifest["run"]
    counted = {"messages": run["messages"], **result.counters}
    listed = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in counted.items() if value)
    lines = textwrap.wrap(f"counted: {listed}", WIDTH)
    cut = [f"table {name}: {each}, by results.max_rows" for name, each in result.cut.items()]
    return [
        *lines,
        *cut,
        f"cost: set-up {run['setup_cpu_s']:.2f} s and simulation {run['simulation_cpu_s']:.2f} s of CPU, "
        f"peak memory {run['peak_rss_bytes'] / 1e6:,.0f} MB",
    ]


def _checks(result: Result) -> list[str]:
    rows = [[check.name, f"{check.measured:,}", check.meaning] for check in result.checks]
    width = max(len(row[1]) for row in rows)
    lines = [f"  {name:<18}  {count:>{width}}  {meaning}" for name, count, meaning in rows]
    failed = [check for check in result.checks if not check.passed]
    if failed:
        return [f"{len(failed)} of {len(rows)} checks failed", *(f"  {check}" for check in failed)]
    held = "of a part: nothing more than declared" if result.is_partial else "declared = measured"
    return [f"{len(rows)} checks passed: {held}", *lines]
