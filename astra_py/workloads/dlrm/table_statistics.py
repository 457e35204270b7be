# SPDX-License-Identifier: GPL-2.0-only
"""Statistics of embedding tables in CSV: a header ``name,rows,dim,pooling,dtype`` in any order, and a line a table.

A further column ``count`` makes as many equal tables, numbered. Empty lines, and lines that begin with #, are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from astra_py.errors import WorkloadError, did_you_mean
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.model import EmbeddingTable

__all__ = ["read_table_statistics", "write_table_statistics"]

_COLUMNS = ("name", "rows", "dim", "pooling", "dtype")
_COUNT = "count"
#: Least and most of each figure; those of ``[[tables]]`` in a model's description.
_LIMITS = {"rows": (1, 2**40), "dim": (1, 2**16), _COUNT: (1, 2**20)}
_MOST_POOLING = 2**20


def read_table_statistics(path: str | Path) -> list[EmbeddingTable]:
    """Read tables from a file.

    Parameters
    ----------
    path : CSV as the module describes it.

    Raises
    ------
    WorkloadError : it cannot be read or a line is not understood; with file, line, column and what is allowed.
    """
    path = Path(path)
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WorkloadError(f"{path}: not a table: CSV is UTF-8 text, and byte {error.start} is not") from error
    header: list[str] = []
    tables: list[EmbeddingTable] = []
    named: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{path}:{number}"
        cells = _cells(where, line)
        if not header:
            header = _header(where, cells)
            continue
        for table in _tables(where, header, cells):
            if table.name in named:
                raise WorkloadError(
                    f"{where}: there is a table {table.name!r} at line {named[table.name]} already; allowed: names once"
                )
            named[table.name] = number
            tables.append(table)
    if not tables:
        raise WorkloadError(f"{path}: there is no table; allowed: a header {','.join(_COLUMNS)} and a line a table")
    return tables


def write_table_statistics(tables: Sequence[EmbeddingTable], path: str | Path) -> None:
    """Write tables, a line each; :func:`read_table_statistics` makes the same of them.

    Raises
    ------
    WorkloadError : the file cannot be written.
    """
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as out:
            lines = csv.writer(out, lineterminator="\n")
            lines.writerow(_COLUMNS)
            lines.writerows([table.name, table.rows, table.dim, table.pooling, table.dtype] for table in tables)
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be written: {error.strerror}") from error


def _cells(where: str, line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True))]
    except (csv.Error, StopIteration) as error:
        raise WorkloadError(f"{where}: not a line of CSV: {error}") from None


def _header(where: str, cells: list[str]) -> list[str]:
    allowed = (*_COLUMNS, _COUNT)
    for cell in cells:
        if cell not in allowed:
            hint = did_you_mean(cell, allowed)
            raise WorkloadError(f"{where}: unknown column {cell[:40]!r}{hint}; allowed: {','.join(allowed)}")
    if len(set(cells)) < len(cells) or (missing := [column for column in _COLUMNS if column not in cells]):
        what = "a column is there twice" if len(set(cells)) < len(cells) else f"column {missing[0]!r} is missing"
        raise WorkloadError(f"{where}: {what}; allowed: each of {','.join(_COLUMNS)} once, and {_COUNT}")
    return cells


def _tables(where: str, header: list[str], cells: list[str]) -> list[EmbeddingTable]:
    if len(cells) != len(header):
        raise WorkloadError(f"{where}: {len(cells)} cells; allowed: {len(header)}, {','.join(header)}")
    row = dict(zip(header, cells, strict=True))
    name, dtype = row["name"], row["dtype"]
    if not name:
        raise WorkloadError(f"{where}: name is empty; allowed: a name")
    if dtype not in DTYPE_BYTES:
        hint = did_you_mean(dtype, DTYPE_BYTES)
        raise WorkloadError(f"{where}: dtype = {dtype!r}{hint}; allowed: {', '.join(DTYPE_BYTES)}")
    figures: dict[str, Any] = {column: _whole(where, column, row[column]) for column in ("rows", "dim")}
    figures["pooling"] = _pooling(where, row["pooling"])
    count = _whole(where, _COUNT, row[_COUNT]) if _COUNT in row else 1
    names = [name] if count == 1 else [f"{name}_{i}" for i in range(count)]
    return [EmbeddingTable(name=each, dtype=dtype, **figures) for each in names]


def _whole(where: str, column: str, text: str) -> int:
    least, most = _LIMITS[column]
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 15 else -1
    if not least <= value <= most:
        raise WorkloadError(f"{where}: {column} = {text[:40]!r}; allowed: a whole number from {least} to {most}")
    return value


def _pooling(where: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= _MOST_POOLING:
        raise WorkloadError(f"{where}: pooling = {text[:40]!r}; allowed: a number above 0 to {_MOST_POOLING}")
    return value
