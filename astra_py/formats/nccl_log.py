# SPDX-License-Identifier: GPL-2.0-only
"""The format ``nccl_tests``: what nccl-tests print, as a table to compare a simulation with.

A row is ``size count type [redop] [root]``, then time (us), algbw, busbw (GB/s of 10^9 B) and the number of wrong
values out of place, and the same four in place. Older versions have the largest relative error in place of that number,
and say at the end alone whether results were right. The average at the end is the mean of all busbw values of both
columns; it is computed again from the rows and compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import WorkloadError
from astra_py.formats.head import Head
from astra_py.formats.lines import DECIMAL, Line, read_lines
from astra_py.formats.registry import Document, Format, Kind, Options, register_format

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NCCL_TESTS"]

#: Fields of one placement: time, algbw, busbw, #wrong.
_FIGURES = 4
_RESULT_FIELDS = (11, 12, 13)
_TYPE = re.compile(r"(u?int(8|32|64)|half|float|double|bfloat16|fp8_?e[45]m[23]|f8e[45]m[23])")
_AVERAGE = re.compile(r"#\s*Avg bus bandwidth\s*:\s*(?P<GBps>[0-9]+(\.[0-9]+)?)\s*$")
_OUT_OF_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*(?P<count>[0-9]{1,18})\s*(?P<verdict>\S*)")
_RANK = re.compile(r"#\s*Rank\s+(?P<rank>[0-9]{1,9})\b.*?\bon\s+(?P<host>\S+)\s+device\s+(?P<device>[0-9]+)")
#: The heading of older versions' columns.
_OF_ERRORS = re.compile(r"#.*\bbusbw error\b")
_PROGRAM = re.compile(r"#\s*Collective test starting:\s*(?P<name>\w+?)_perf\b")
#: Names of nccl-tests' programs that are not those of their collectives.
_COLLECTIVES = {"alltoall": "all_to_all"}
#: Busbw values are printed with two decimals, the average with six digits.
_ROUNDING_GBPS = Fraction(1, 100)


@dataclass(frozen=True)
class _Row:
    """One row as it stands: what was moved, and the figures of each placement."""

    line: Line
    size_bytes: int
    count: int
    dtype: str
    redop: str
    root: int
    figures: tuple[tuple[Fraction, Fraction, Fraction, str], ...]


def _recognises(path: Path, head: Head) -> bool:
    """A heading of columns with algbw and busbw, or rows of them."""
    if head.is_gzip or head.text is None:
        return False
    return bool(re.search(r"^\s*#.*\btime\s+algbw\s+busbw\b", head.text, re.MULTILINE))


def _is_row(fields: list[str]) -> bool:
    """Whether fields begin as a row's do; a log may have anything else between the rows."""
    return len(fields) >= 5 and fields[0].isdecimal() and fields[1].isdecimal() and bool(_TYPE.fullmatch(fields[2]))


def _read(path: Path, options: Options) -> Document:
    rows: list[_Row] = []
    ranks: dict[int, str] = {}
    average = None
    wrong, program, other, has_errors = "", "", 0, False
    for line in read_lines(path):
        text = " ".join(line.fields)
        if _is_row(line.fields):
            rows.append(_row(line))
        elif (match := _AVERAGE.match(text)) is not None:
            if average is not None:
                raise line.error("a second average: the log is of several runs; allowed: one run a file")
            average = line, Fraction(match["GBps"])
        elif (match := _OUT_OF_BOUNDS.match(text)) is not None:
            wrong = "" if int(match["count"]) == 0 else f"{path}, line {line.number}: {match['count']} values are wrong"
        elif (match := _RANK.match(text)) is not None:
            ranks[int(match["rank"])] = match["host"]
        elif (match := _PROGRAM.match(text)) is not None:
            program = match["name"]
        elif _OF_ERRORS.match(text) is not None:
            has_errors = True
        elif not text.startswith("#"):
            other += 1
    if not rows:
        raise WorkloadError(
            f"{path}: has no row of results; allowed: 'size count type redop root', then time, algbw, ..."
        )
    table = _table(rows)
    table.attrs["collective"] = _COLLECTIVES.get(program, program)
    summary = [f"{path}: {len(rows)} rows read, {_sizes(rows)}"]
    if program:
        summary.append(f"collective {program}")
    if ranks:
        summary.append(f"{len(ranks)} GPUs on {len(set(ranks.values()))} hosts")
    summary.append(_averages(path, table, average))
    return Document(
        format=NCCL_TESTS.name,
        path=path,
        content=table,
        summary=tuple(summary),
        ignored=(f"{other} other lines",) if other else (),
        warnings=tuple(filter(None, [wrong, *([] if has_errors else _wrong_rows(rows))])),
        ranks=len(ranks) or None,
    )


def _row(line: Line) -> _Row:
    fields = line.fields
    # the operation and the root are there where the collective has them
    if len(fields) not in _RESULT_FIELDS:
        raise line.error(
            f"{len(fields)} fields, and a row has 11 to 13: size count type [redop] [root], then time algbw busbw "
            "#wrong out of place and in place"
        )
    first = len(fields) - 2 * _FIGURES
    labels = fields[3:first]
    root = next((label for label in labels if re.fullmatch(r"-?[0-9]{1,9}", label)), "-1")
    redop = next((label for label in labels if label != root), "none")
    figures = []
    for start in (first, first + _FIGURES):
        names = ("time in us", "algbw in GB/s", "busbw in GB/s")
        time, algbw, busbw = (line.decimal(start + offset, name) for offset, name in enumerate(names))
        if min(time, algbw, busbw) < 0:
            raise line.error(f"fields {start + 1} to {start + 3} are negative")
        count = fields[start + 3]
        if count != "N/A" and not DECIMAL.fullmatch(count):
            raise line.error(f"field {start + 4}, #wrong, is {count!r}; allowed: a number or N/A")
        figures.append((time, algbw, busbw, count))
    return _Row(
        line=line,
        size_bytes=line.whole(0, "size in B"),
        count=line.whole(1, "count"),
        dtype=fields[2],
        redop=redop,
        root=int(root),
        figures=tuple(figures),
    )


def _table(rows: list[_Row]) -> pd.DataFrame:
    import pandas as pd

    columns: dict[str, list[Any]] = {
        "size_bytes": [row.size_bytes for row in rows],
        "count": [row.count for row in rows],
        "dtype": [row.dtype for row in rows],
        "redop": [row.redop for row in rows],
        "root": [row.root for row in rows],
    }
    for place, prefix in enumerate(("", "in_place_")):
        for index, name in enumerate(("time_us", "algbw_GBps", "busbw_GBps")):
            columns[prefix + name] = [float(row.figures[place][index]) for row in rows]
        columns[f"{prefix}wrong"] = [row.figures[place][3] for row in rows]
    return pd.DataFrame(columns)


def _sizes(rows: list[_Row]) -> str:
    sizes = [row.size_bytes for row in rows]
    return f"{min(sizes)} to {max(sizes)} B, times in us, bandwidths in GB/s of 10^9 B"


def _averages(path: Path, table: pd.DataFrame, printed: tuple[Line, Fraction] | None) -> str:
    """Say what the average busbw is, and compare it with the printed one."""
    values = [Fraction(value) for name in ("busbw_GBps", "in_place_busbw_GBps") for value in table[name]]
    mean = sum(values, Fraction(0)) / len(values)
    if printed is None:
        return f"average busbw {float(mean):.6g} GB/s, computed; the log has none"
    line, given = printed
    if abs(mean - given) > _ROUNDING_GBPS + given / 10**5:
        raise line.error(
            f"the average busbw is {float(given):g} GB/s, and the {len(table)} rows above have {float(mean):.6g}: rows "
            "are missing or damaged"
        )
    return f"average busbw {float(mean):.6g} GB/s, computed; the log has {float(given):g}"


def _wrong_rows(rows: list[_Row]) -> list[str]:
    bad = [row for row in rows if any(figures[3] not in ("0", "N/A") for figures in row.figures)]
    if not bad:
        return []
    return [f"{bad[0].line.where}: #wrong is not 0, as in {len(bad)} of {len(rows)} rows: results were not right"]


NCCL_TESTS = register_format(
    Format(
        name="nccl_tests",
        title="log of nccl-tests",
        kind=Kind.MEASUREMENTS,
        recognises=_recognises,
        read=_read,
    )
)
