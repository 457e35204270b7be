# SPDX-License-Identifier: GPL-2.0-only
"""The command line, ``astra-py``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process; the console script calls it."""
    from astra_py.cli.app import command

    command(prog_name="astra-py")
