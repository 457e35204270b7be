# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py plan``: which rank holds what of a DLRM's tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from astra_py.cli.common import print_json
from astra_py.errors import ConfigError
from astra_py.results.text import figure, grid

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.analysis.planning import Planned

__all__ = ["plan"]

#: Ranks, and proposals, that are printed line by line.
_MOST_RANKS = 32
_MOST_PROPOSALS = 8
_JUDGED = "iterations by the analytic engine, which knows no congestion; astra-py run tells what packets make of a plan"
#: Figures of a rank that are printed, and their headings.
_COLUMNS = {
    "memory_bytes": "memory",
    "host_bytes": "host",
    "looked_up_bytes": "looked up",
    "index_in_bytes": "index in",
    "forward_out_bytes": "fwd out",
    "forward_in_bytes": "fwd in",
    "backward_out_bytes": "bwd out",
    "backward_in_bytes": "bwd in",
}


def plan(
    scenario: Annotated[Path, typer.Argument(help="Scenario file with a DLRM.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[key.path=value]...", help="Changes, such as workload.sharder=planner.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the plan there, .csv or .json, to edit and give as workload.plan.", show_default=False
        ),
    ] = None,
    is_overwritten: Annotated[bool, typer.Option("--overwrite", help="Write to --out whatever is there.")] = False,
    is_judged: Annotated[
        bool,
        typer.Option(
            "--judge/--no-judge", help="With the planner: time the best proposals by the analytic engine, or do not."
        ),
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a rank.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Shard a DLRM's tables: memory, lookups and bytes of each rank, and the plan as a table to edit."""
    from astra_py.analysis.planning import plan_tables

    if out is not None and out.exists() and not is_overwritten:
        raise ConfigError(f"--out {out}: it exists; allowed: a path that does not, or --overwrite")
    if is_overwritten and out is None:
        raise ConfigError("--overwrite: there is no --out that it would allow to replace")
    found = plan_tables(
        scenario,
        *(overrides or []),
        is_judged=is_judged,
        tell=None if is_quiet else lambda line: print(line, file=sys.stderr),
    )
    if out is not None:
        found.write(out)
    if as_json:
        print_json(_records(found.ranks))
        return
    print("\n".join(_report(found)))
    if out is not None:
        print(f"\nplan: {out} (workload.plan={out})")


def _report(found: Planned) -> list[str]:
    lines = [*_proposals(found), *found.notes]
    ranks = found.ranks
    if len(ranks) > _MOST_RANKS:
        return [*lines, "", f"of {len(ranks):,} ranks, --json prints each"]
    header = ["rank", "shards", *_COLUMNS.values()]
    rows = [
        [str(row["rank"]), str(row["shards"]), *(figure(row[column] / 1e6) for column in _COLUMNS)]
        for row in _records(ranks)
    ]
    return [*lines, "", *grid(header, rows), "", "memory and traffic of an iteration in MB (10^6 B)"]


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as plain JSON."""
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def _proposals(found: Planned) -> list[str]:
    if not found.proposals:
        return []
    rows = [
        [each.title, figure(each.seconds * 1e3), figure(each.judged_ps / 1e9) if each.judged_ps >= 0 else ""]
        for each in found.proposals[:_MOST_PROPOSALS]
    ]
    more = len(found.proposals) - len(rows)
    return [
        *grid(["proposal", "tables ms", "iteration ms"], rows),
        *([f"and {more} more"] if more > 0 else []),
        _JUDGED,
        "",
    ]
