# SPDX-License-Identifier: GPL-2.0-only
"""What notebooks show of a scenario, a platform, a schedule, a result and a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.analysis.comparison_text import plain_rows
from astra_py.collectives.schedule import OuterKind
from astra_py.platforms.node_kind import NodeKind
from astra_py.report.headline import headline
from astra_py.report.html import facts_html, table_html
from astra_py.report.scenario import settings
from astra_py.report.tables import Table, table_of
from astra_py.results.result import how_far
from astra_py.results.text import figure
from astra_py.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.analysis.comparison import Comparison
    from astra_py.collectives.schedule import Schedule
    from astra_py.config.scenario import Scenario
    from astra_py.platforms.platform import Platform
    from astra_py.results.result import Result

__all__ = ["comparison_html", "platform_html", "result_html", "scenario_html", "schedule_html"]

#: Rows of a table that are shown.
_MOST_ROWS = 10
#: Columns of a comparison that stand side by side; of more, each is a row, of which so many are shown.
_MOST_COLUMNS, _MOST_LABELS = 4, 40


def scenario_html(scenario: Scenario) -> str:
    """The keys that are not at their defaults."""
    every = settings(scenario.resolved())
    changed = [(each.key, each.value, each.default) for each in every if not each.is_default]
    note = f"the other {len(every) - len(changed)} keys are at their defaults"
    return facts_html("Scenario", {"of": scenario.title}) + table_html(("key", "value", "default"), changed, note)


def platform_html(platform: Platform) -> str:
    """Nodes by kind, and links by class with their rates and delays."""
    kinds = Counter(NodeKind(data["kind"]).name.lower() for _, data in platform.graph.nodes(data=True))
    facts = {"ranks": f"{platform.ranks:,}", **{f"nodes: {kind}": f"{count:,}" for kind, count in kinds.items()}}
    links: Counter[tuple[str, int, int]] = Counter(
        (link["link_class"], link["rate_bps"], link["delay_ps"]) for *_, link in platform.graph.edges(data=True)
    )
    rows = [
        (name, f"{count:,}", format_rate(rate), format_time(delay))
        for (name, rate, delay), count in links.most_common(_MOST_ROWS)
    ]
    return facts_html(f"Platform {platform.name}", facts) + table_html(
        ("link class", "links", "rate each way", "delay"), rows, _left_out(len(links))
    )


def schedule_html(schedule: Schedule) -> str:
    """Operations by kind, collectives, messages and iterations."""
    count = np.bincount(schedule.kind, minlength=len(OuterKind))
    kinds = {f"operations: {kind.name.lower()}": f"{count[kind]:,}" for kind in OuterKind}
    facts = {
        "ranks": f"{schedule.ranks:,}",
        **kinds,
        "collectives": f"{len(schedule.instance_template):,}",
        "messages": f"{schedule.message_count:,}",
        "iterations": f"{len(np.unique(schedule.iteration)):,}",
    }
    return facts_html("Schedule", facts)


def result_html(result: Result) -> str:
    """The headline, iterations, and the collectives that are most exposed."""
    manifest = result.manifest
    head = headline(result)
    facts = {
        "platform": f"{manifest['platform']['name']} of {manifest['platform']['ranks']:,} ranks",
        "engine, seed": f"{manifest['engine']}, {manifest['seed']}",
        "time": f"{figure(manifest['run']['time_ps'] / 1e6)} us",
        "checks": f"{sum(check.passed for check in result.checks)} of {len(result.checks)} passed",
        "headline": head.sentence if head else "No communication is exposed.",
        **({"a part of a run": how_far(manifest["run"])} if result.is_partial else {}),
        **{f"table {table}": str(cut) for table, cut in result.cut.items()},
    }
    iterations = result.iterations[["iteration", "rank", "time_us", "compute_us", "exposed_us", "exposed_percent"]]
    wanted = ["name", "kind", "iteration", "size_bytes", "time_us", "exposed_us", "busbw_GBps", "bottleneck"]
    collectives = result.collectives.sort_values("exposed_us", ascending=False, kind="stable")[wanted]
    return (
        facts_html(f"Result of {manifest['title']}", facts)
        + _table_html(table_of(iterations.head(_MOST_ROWS), "iterations", ""), len(iterations))
        + _table_html(table_of(collectives.head(_MOST_ROWS), "collectives", ""), len(collectives))
    )


def comparison_html(comparison: Comparison) -> str:
    """The times of iterations, or of collectives where there are none, by column, and the verdict.

    Of more than a few columns each is a row, so that names of variants have room.
    """
    frame = comparison.iterations if len(comparison.iterations) else comparison.collectives
    # what no row has, such as a bottleneck of an iteration
    frame = frame.loc[:, [not frame[column].isin(("", None)).all() for column in frame.columns]]
    frame = frame.drop(
        columns=[name for name in ("run", "number", "size_bytes") if name in frame and not any(frame[name])]
    )
    if len(comparison.labels) > _MOST_COLUMNS:
        facts = {"columns": f"{len(comparison.labels):,}", "verdict": comparison.verdict}
        return facts_html("Comparison", facts) + _columns_html(comparison.labels, frame)
    shares = {column: 100 * frame[column] for column in frame.columns if column.endswith("_difference")}
    shown = table_of(frame.assign(**shares).head(_MOST_ROWS), "times", "")
    return facts_html("Comparison", {"columns": ", ".join(comparison.labels), "verdict": comparison.verdict}) + (
        _table_html(shown, len(frame))
    )


def _columns_html(labels: Sequence[str], frame: pd.DataFrame) -> str:
    """A row a column of a comparison, with its times, and how far each is from the first one's."""
    shown = frame.head(_MOST_COLUMNS)
    header = ["column", *(f"{_row_name(row)} µs" for row in plain_rows(shown))]
    rows = [[label, *(_time(row, label) for row in plain_rows(shown))] for label in labels[:_MOST_LABELS]]
    notes = [
        f"{kept} of {all_of:,} {what}"
        for kept, all_of, what in (
            (_MOST_COLUMNS, len(frame), "iterations or collectives"),
            (_MOST_LABELS, len(labels), "columns"),
        )
        if all_of > kept
    ]
    return table_html(header, rows, ", ".join(notes))


def _row_name(row: Mapping[str, Any]) -> str:
    """What a row of times is of."""
    size = format_size(row["size_bytes"]) if row.get("size_bytes") else ""
    number = f"iteration {row['iteration']}"
    return " ".join(str(part) for part in (row.get("job"), row.get("name"), size, number) if part)


def _time(row: Mapping[str, Any], label: str) -> str:
    time, difference = row.get(f"{label}_us"), row.get(f"{label}_difference")
    if time is None:
        return ""
    return figure(time) + ("" if difference is None else f" ({100 * difference:+.1f} %)")


def _table_html(table: Table, rows: int) -> str:
    if not table.rows:
        return ""
    header = [f"{head.name} {head.unit}".strip() for head in table.heads]
    return table_html(header, [[cell.text for cell in row] for row in table.rows], _left_out(rows))


def _left_out(rows: int) -> str:
    return f"{_MOST_ROWS} of {rows:,} rows" if rows > _MOST_ROWS else ""
