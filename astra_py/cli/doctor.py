# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py doctor``: whether this installation can work, what to do where it cannot, and what to send in a report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from astra_py.bug_report import bug_report
from astra_py.cli.common import print_json
from astra_py.installation import State, examine

__all__ = ["doctor"]


def doctor(
    is_report: Annotated[
        bool,
        typer.Option(
            "--report", help="Print what to send in a bug report: versions, machine, a small run; no paths of yours."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a check; of the report, one.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Only what is not well.")] = False,
) -> None:
    """Check the installation: interpreter, packages, ns-3 libraries, the extension; exit 2 where it cannot work."""
    if is_report:
        _report(as_json=as_json)
        return
    checks = []
    for check in examine():
        checks.append(check)
        if is_quiet and check.state is State.OK:
            continue
        if as_json:
            print_json([asdict(check)])
            continue
        print(f"{check.state.upper():<5} {check.name}: {check.finding}", flush=True)
        if check.advice:
            print(f"      {check.advice}")
    if any(check.state is State.FAIL for check in checks):
        raise typer.Exit(2)


def _report(*, as_json: bool) -> None:
    report = bug_report()
    if as_json:
        print_json([asdict(report)])
    else:
        print("\n".join(report.lines()))
    if report.problem:
        raise typer.Exit(2)
