# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py doctor``: whether this installation can work, and what to do where it cannot."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from astra_py.cli.common import print_json
from astra_py.installation import State, examine

__all__ = ["doctor"]


def doctor(as_json: Annotated[bool, typer.Option("--json", help="One JSON object a check.")] = False) -> None:
    """Check the installation: interpreter, packages, ns-3 libraries, the extension; exit 2 where it cannot work."""
    checks = []
    for check in examine():
        checks.append(check)
        if as_json:
            print_json([asdict(check)])
            continue
        print(f"{check.state.upper():<5} {check.name}: {check.finding}", flush=True)
        if check.advice:
            print(f"      {check.advice}")
    if any(check.state is State.FAIL for check in checks):
        raise typer.Exit(2)
