# SPDX-License-Identifier: GPL-2.0-only
"""What notebooks show of a scenario, a platform, a schedule, a result and a comparison."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from astra_py.collectives.schedule import OuterKind
from astra_py.report.headline import headline
from astra_py.report.html import facts_html, table_html
from astra_py.report.scenario import settings
from astra_py.report.tables import Table, table_of
from astra_py.results.result import how_far
from astra_py.results.text import figure
from astra_py.units import format_rate, format_time

if TYPE_CHECKING:
    from astra_py.analysis.comparison import Comparison
    from astra_py.collectives.schedule import Schedule
    from astra_py.config.scenario import Scenario
    from astra_py.platforms.platform import Platform
    from astra_py.results.result import Result

__all__ = ["comparison_html", "platform_html", "result_html", "scenario_html", "schedule_html"]

#: Rows of a table that are shown.
_MOST_ROWS = 10


def scenario_html(scenario: Scenario) -> str:
    """The keys that are not at their defaults."""
    every = settings(scenario.resolved())
    changed = [(each.key, each.value, each.default) for each in every if not each.is_default]
    note = f"the other {len(every) - len(changed)} keys are at their defaults"
    return facts_html("Scenario", {"of": scenario.title}) + table_html(("key", "value", "default"), changed, note)


def platform_html(platform: Platform) -> str:
    """Nodes by kind, and links by class with their rates and delays."""
    kinds = Counter(str(kind) for _, kind in platform.graph.nodes(data="kind"))
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
    """The times of iterations, or of collectives where there are none, by column, and the verdict."""
    frame = comparison.iterations if len(comparison.iterations) else comparison.collectives
    frame = frame.loc[:, [not frame[column].isin(("", None)).all() for column in frame.columns]]
    shares = {column: 100 * frame[column] for column in frame.columns if column.endswith("_difference")}
    shown = table_of(frame.assign(**shares).head(_MOST_ROWS), "times", "")
    return facts_html("Comparison", {"columns": ", ".join(comparison.labels), "verdict": comparison.verdict}) + (
        _table_html(shown, len(frame))
    )


def _table_html(table: Table, rows: int) -> str:
    if not table.rows:
        return ""
    header = [f"{head.name} {head.unit}".strip() for head in table.heads]
    return table_html(header, [[cell.text for cell in row] for row in table.rows], _left_out(rows))


def _left_out(rows: int) -> str:
    return f"{_MOST_ROWS} of {rows:,} rows" if rows > _MOST_ROWS else ""
