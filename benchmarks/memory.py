# SPDX-License-Identifier: GPL-2.0-only
"""Memory for a message: the peaks of two runs that differ in their messages only, and what lies between.

``python benchmarks/memory.py`` runs two all-to-alls on the fat tree of 1,024, of all ranks and of half of them, and
prints the bytes for a message of the simulation, which are those of its peak before results are made. All messages of
such a run are posted at its start, so that all of them are live at once.
"""

from __future__ import annotations

import json
import subprocess
import sys

__all__ = ["bytes_per_message", "main"]

_TREE = ("platform.kind=fat_tree", "platform.ranks={ranks}")
_RANKS = (512, 1024)


def _run(ranks: int) -> tuple[int, int]:
    """Messages of an all-to-all of 1 KiB for each peer, and its peak of memory in bytes."""
    arguments = [argument.format(ranks=ranks) for argument in _TREE]
    command = [sys.executable, "-P", "-c", "from astra_py.cli import main; main()", "collective", "all_to_all"]
    command += ["--sizes", f"{ranks}KiB", *arguments, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures = json.loads(done.stdout)
    return int(figures["messages"]), int(figures["peak_rss_bytes"])


def bytes_per_message(few: tuple[int, int], many: tuple[int, int]) -> float:
    """Bytes that each message more costs.

    Parameters
    ----------
    few, many : messages of a run, and its peak in bytes.

    Raises
    ------
    ValueError : the second run has no more messages than the first.
    """
    if many[0] <= few[0]:
        raise ValueError(f"runs of {few[0]} and {many[0]} messages; allowed: more in the second")
    return (many[1] - few[1]) / (many[0] - few[0])


def main() -> None:
    """Measure, and print what was measured."""
    few, many = (_run(ranks) for ranks in _RANKS)
    for ranks, (messages, peak) in zip(_RANKS, (few, many), strict=True):
        print(f"{ranks:,} ranks: {messages:,} messages, {peak / 1e6:,.0f} MB")
    print(f"{bytes_per_message(few, many):.0f} B for a message")


if __name__ == "__main__":
    main()
