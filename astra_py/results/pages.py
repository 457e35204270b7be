# SPDX-License-Identifier: GPL-2.0-only
"""A page a table: what a row is, how its figures are taken, its columns, an example and the checks that hold it.

The columns come from :data:`astra_py.results.TABLES`, the text from a file of the table's name in ``about/``. The pages
are ``docs/tables/``, and what a saved result says of itself in ``TABLES.md``.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from astra_py.results.columns import TABLES

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["TABLES_PAGE", "page", "tables_page", "write_pages"]

#: Name of the file beside saved tables.
TABLES_PAGE = "TABLES.md"
_UNITS = (
    "Column names end in their unit: `us` is microseconds, `ps` picoseconds, `GBps` 10^9 bytes and `Gbps` 10^9 bits a "
    "second. An empty field (NaN) is a moment that never came, or a ratio to nothing."
)
_COMMENT = re.compile(r"<!--.*?-->\n")
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


def page(table: str) -> str:
    """The page of a table, in Markdown.

    Raises
    ------
    KeyError : there is no such table.
    """
    columns = TABLES[table]
    text = (files("astra_py.results") / "about" / f"{table}.md").read_text(encoding="utf-8")
    about, heading, rest = text.partition("## In pandas")
    rows = [f"| `{column.name}` | {column.dtype} | {column.meaning} |" for column in columns]
    listed = "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])
    return f"# `{table}`\n\n{about.strip()}\n\n## Columns\n\n{listed}\n\n{heading}{rest.rstrip()}\n"


def tables_page(result: Result) -> str:
    """What the saved tables of ``result`` are: a section for each that has rows."""
    manifest = result.manifest
    title = manifest.get("title", "Results")
    head = f"# {title}\n\nengine {manifest['engine']}, seed {manifest['seed']}, digest `{result.digest}`\n"
    parts = [head]
    if result.is_partial:
        from astra_py.results.result import how_far

        run = manifest["run"]
        parts.append(f"**A partial result.** {run['exit_message']}\n\n{how_far(run)}\n")
    parts.append(f"{_UNITS} `astra_py.read_result(folder)` reads the tables as pandas DataFrames.\n")
    cut = result.cut
    parts += [f"- `{name}` has {each} (`results.max_rows`)" for name, each in cut.items()]
    empty = [name for name in TABLES if not len(result.table(name))]
    for name in TABLES:
        if name not in empty:
            # a heading less, and no links: there is nothing beside it that they could lead to
            parts.append("\n" + _LINK.sub(r"\1", re.sub(r"(?m)^#", "##", _COMMENT.sub("", page(name)))))
    if empty:
        parts.append("Without rows: " + ", ".join(f"`{name}`" for name in empty) + ".\n")
    return "\n".join(parts)


def write_pages(folder: str | Path) -> None:
    """Write each table's page into ``folder``."""
    for table in TABLES:
        (Path(folder) / f"{table}.md").write_text(page(table), encoding="utf-8")
