# SPDX-License-Identifier: GPL-2.0-only
"""Measure the fixed set of benchmarks, print it, and write ``RESULTS.md``.

Usage: ``python benchmarks/run.py [ROW ...] [--all] [--quick] [--repeat 5]``. Without names of rows, all of them but
those that take minutes, which ``--all`` adds; ``--quick`` runs each command once and writes nothing, nor do named rows
unless ``--write`` is given. Rows that are not run keep the figures and the commit of their last run.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from cost_plot import draw_cost
from machine import machine
from measure import Measured, Measurer
from page import heads, line, page
from rows import ROWS, named

HERE = Path(__file__).resolve().parent
RESULTS, PAGE, PICTURE = HERE / "results.json", HERE / "RESULTS.md", HERE / "cost.svg"


def read_results(path: Path = RESULTS) -> dict[str, Measured]:
    """Results of earlier runs by names of rows that there still are; none where they are another machine's."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text(encoding="utf-8"))
    names = {row.name for row in ROWS}
    if kept["machine"] != machine():
        return {}
    return {name: Measured(**figures) for name, figures in kept["rows"].items() if name in names}


def write_results(results: dict[str, Measured]) -> None:
    """Write the figures, the page and the picture."""
    rows = {row.name: asdict(results[row.name]) for row in ROWS if row.name in results}
    RESULTS.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(results, machine()), encoding="utf-8")
    draw_cost(results, PICTURE)


def main() -> None:
    """Run the rows that the command line names."""
    parser = argparse.ArgumentParser(description="Measure the fixed set of benchmarks.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to run; those that take no minutes without any")
    parser.add_argument("--all", action="store_true", help="run rows that take minutes, too")
    parser.add_argument("--quick", action="store_true", help="run each command once, write nothing")
    parser.add_argument("--repeat", type=int, default=5, help="run each command so often and take the best (5)")
    parser.add_argument("--write", action="store_true", help="write the results of named rows, too")
    parser.add_argument("--list", action="store_true", help="list the rows and run nothing")
    given = parser.parse_args()
    if given.list:
        for row in ROWS:
            print(f"{row.name:26} {row.title}")
        return
    if given.repeat < 1:
        parser.error(f"--repeat {given.repeat}; allowed: 1 or more")
    try:
        rows = named(given.rows) if given.rows else [row for row in ROWS if given.all or not row.takes_minutes]
    except ValueError as error:
        parser.error(str(error))
    is_written = not given.quick and (given.write or not given.rows)
    print(machine())
    print(f"{heads()[0]:26}" + "".join(f"{head:>14}" for head in heads()[1:]))
    with tempfile.TemporaryDirectory() as folder:
        measurer = Measurer(1 if given.quick else given.repeat, Path(folder))
        for row in rows:
            measured = measurer.measure(row)
            name, *figures = line(row, measured)
            print(f"{name:26}" + "".join(f"{text:>14}" for text in figures), flush=True)
            if is_written:
                # row by row, so that an interrupted run keeps what it has
                write_results(read_results() | {row.name: measured})


if __name__ == "__main__":
    main()
