# SPDX-License-Identifier: GPL-2.0-only
"""The command line, ``astra-py``."""

from __future__ import annotations

import gc

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process; the console script calls it."""
    # What is imported stays until the process ends: looking through it again and again takes a tenth of a short run.
    gc.set_threshold(100_000, 20, 100)

    from astra_py.cli.app import command

    command(prog_name="astra-py")
