# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py validate``: what is known from elsewhere, and what the engines say to it."""

from __future__ import annotations

import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from astra_py.cli.common import print_json
from astra_py.results.text import WIDTH, grid

if TYPE_CHECKING:
    from astra_py.analysis.validation import Row

__all__ = ["validate"]

#: Exit code where a row that has to pass does not.
_FAILED = 1


def validate(
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CASE]...", help="Cases or sections, * for anything; all without any.", show_default=False
        ),
    ] = None,
    is_quick: Annotated[bool, typer.Option("--quick", help="Leave out what takes long.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a case.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Run the validation table: recurrences, other simulators, machines; exit 1 where a row fails that must pass."""
    from astra_py.analysis.validation import validate as run_table

    def told(row: Row) -> None:
        if as_json:
            print_json([_json(row)])
            sys.stdout.flush()
        elif not is_quiet:
            print(f"{row.case.id}: {_verdict(row)}, {row.cpu_s:.1f} s of CPU", file=sys.stderr)

    rows = run_table(cases or (), is_quick=is_quick, told=told)
    if not as_json:
        print("\n".join(_table(rows)))
    if any(row.is_fatal for row in rows):
        raise typer.Exit(_FAILED)


def _json(row: Row) -> dict[str, Any]:
    from astra_py.analysis.validation.table import records

    return records([row])[0]


def _verdict(row: Row) -> str:
    if row.passes is None:
        return "reported"
    if row.passes:
        return "pass"
    return "FAIL" if row.case.is_must else "fails"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def _error(row: Row) -> str:
    if row.error is None:
        return "-"
    return "0" if row.error == 0 else f"{100 * row.error:+.2f} %"


def _aim(row: Row) -> str:
    if row.passes is None:
        return ""
    if row.case.relation != "=":
        return row.case.relation.value
    return "exact" if row.case.tolerance == 0 else f"{100 * row.case.tolerance:.3g} %"


def _table(rows: list[Row]) -> list[str]:
    """The table by sections; a case of several points by the one that is furthest off."""
    lines = []
    for section in dict.fromkeys(row.case.section for row in rows):
        mine = [row for row in rows if row.case.section == section]
        header = [section, "kind", "unit", "expected", "packet", "flow", "analytic", "error", "aim", ""]
        cells = [
            [
                row.case.id.partition(".")[2],
                row.case.kind.value,
                row.case.unit,
                _number(row.figures.expected),
                _number(row.figures.packet),
                _number(row.figures.flow),
                _number(row.figures.analytic),
                _error(row),
                _aim(row),
                _verdict(row),
            ]
            for row in mine
        ]
        lines += [*grid(header, cells), ""]
        sources = dict.fromkeys(row.case.source for row in mine)
        notes = [f"source: {source}" for source in sources]
        notes += [f"{row.case.id}: {row.case.note}" for row in mine if row.case.note and row.passes is not True]
        lines += [line for note in notes for line in wrap(note, WIDTH, subsequent_indent="  ")]
        lines.append("")
    failed = sum(row.is_fatal for row in rows)
    loose = sum(row.passes is False and not row.case.is_must for row in rows)
    must = sum(row.case.is_must and row.passes is not None for row in rows)
    verdict = f"{len(rows)} cases: {must - failed} of {must} that must pass do"
    lines.append(
        verdict + (f", {loose} that need not fail" if loose else "") + "; of several points the worst is shown"
    )
    return lines
