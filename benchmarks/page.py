# SPDX-License-Identifier: GPL-2.0-only
"""The page of results, ``RESULTS.md``: every number in it is of a measured row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measure import SHORT_S, SHORT_TIMES, Measured
from rows import ROWS, Bar, Figure, Row

__all__ = ["heads", "line", "page"]

#: Columns of the table: head, and whether it is a number.
_HEADS = (
    "row",
    "CPU s",
    "whole, s",
    "simulated",
    "messages",
    "packets",
    "packet-hops",
    "M hops/CPU s",
    "events/hop",
    "pending",
    "x bare",
    "memory, MB",
)

_TOP = """\
# Benchmarks

`python benchmarks/run.py --all` (or `make benchmarks`) measures these rows and writes this page, its picture and
`benchmarks/results.json`; `--quick` runs each command once, names of rows run these alone, and neither writes anything.
Figures are of {machine}, best of {repeat}, of commands under
{short_s} s of {short_times} times as many runs; rows may be of different commits: {commits}.

- *CPU s*: user and system seconds of the whole process, less those of the same command at one byte: what bytes cost.
  *whole*: without that.
- *packet-hops*: frames sent on links, acknowledgements and all else too. *M hops/CPU s*: millions of them by *CPU s*.
- *events/hop*: all events of the run by packet-hops. *pending*: most events pending at once, looked at every 32,768.
- *x bare*: CPU s an event by those of an event of a bare event loop, which only schedules another one, with as many
  pending, measured in the same run.
- *memory*: the most that the process had.
"""

_COST = """\
## Cost by ranks and bytes

![CPU seconds by ranks and bytes, and packet-hops a CPU second](cost.svg)
"""


def heads() -> tuple[str, ...]:
    """Heads of the table of rows."""
    return _HEADS


def line(row: Row, measured: Measured) -> list[str]:
    """A row of the table."""
    hops, events = measured.figure(Figure.HOPS_PER_S, row), measured.figure(Figure.EVENTS_PER_HOP, row)
    bare = measured.figure(Figure.TIMES_BARE, row)
    return [
        row.name,
        f"{measured.net_cpu_s:.3f}",
        f"{measured.cpu_s:.2f}",
        f"{measured.time_ps / 1e6:,.1f} us",
        f"{measured.messages:,}",
        f"{measured.packets:,}",
        f"{measured.packet_hops:,}",
        "" if hops is None else f"{hops / 1e6:.2f}",
        "" if events is None else f"{events:.2f}",
        f"{measured.pending:,}" if measured.pending else "",
        "" if bare is None else f"{bare:.2f}",
        f"{measured.peak_rss_bytes / 1e6:,.0f}",
    ]


def page(results: Mapping[str, Measured], machine: str) -> str:
    """The page; ``results`` by names of rows."""
    rows = [row for row in ROWS if row.name in results]
    commits = ", ".join(sorted({measured.commit for measured in results.values()}))
    repeat = " or ".join(str(n) for n in sorted({measured.repeat for measured in results.values()}))
    plain = [row for row in rows if row.series is None or row.bars]
    points = [row for row in rows if row.series is not None and not row.bars]
    return "\n".join(
        [
            _TOP.format(machine=machine, repeat=repeat, commits=commits, short_s=SHORT_S, short_times=SHORT_TIMES),
            *_table(_HEADS, [line(row, results[row.name]) for row in plain]),
            "",
            *(f"- {row.name}: {row.title}. `astra-py {' '.join(row.command)}`" for row in plain),
            "",
            "## Beside other simulators",
            "",
            "The same packets. Their CPU seconds were measured on another machine of this kind, the plain ns-3",
            "program's beside its row.",
            "",
            *_table(("row", "who", "CPU s", "here", "times less"), _peer_lines(rows, results)),
            "",
            *_beside(results),
            "## Bars",
            "",
            *_table(("row", "bar", "measured", "met"), _bar_lines(rows, results)),
            "",
            *_common_bars(rows, results),
            "",
            _COST,
            *_table(_HEADS, [line(row, results[row.name]) for row in points]),
            "",
        ]
    )


def _peer_lines(rows: Sequence[Row], results: Mapping[str, Measured]) -> list[list[str]]:
    lines = []
    for row in rows:
        measured = results[row.name]
        for peer in row.peers:
            theirs, ours = measured.peer_s(peer), measured.net_cpu_s
            lines.append([row.name, peer.name, f"{theirs:.2f}", f"{ours:.3f}", f"{theirs / ours:.1f}"])
    return lines


def _bar_lines(rows: Sequence[Row], results: Mapping[str, Measured]) -> list[list[str]]:
    """Bars that are a row's own."""
    lines = []
    for row in rows:
        for bar in row.bars:
            value = results[row.name].figure(bar.figure, row)
            if value is None:
                continue
            verdict = "yes" if bar.is_met(value) else "no"
            if bar.goal is not None and bar.is_met(value, bar.goal):
                verdict = "yes, and the goal"
            lines.append([row.name, _bar_text(bar, row), _amount(bar.figure, value), verdict])
    return lines


def _bar_text(bar: Bar, row: Row) -> str:
    name = bar.figure.format(peer=row.peers[0].name if row.peers else "")
    goal = "" if bar.goal is None else f" (goal {_amount(bar.figure, bar.goal)})"
    return f"{'at least' if bar.is_least else 'at most'} {_amount(bar.figure, bar.limit)} {name}{goal}"


def _amount(figure: Figure, value: float) -> str:
    if figure in (Figure.HOPS_PER_S, Figure.MEMORY):
        return f"{value / 1e6:,.2f} M" if figure is Figure.HOPS_PER_S else f"{value / 1e9:.2f} G"
    return f"{value:.3g}"


def _common_bars(rows: Sequence[Row], results: Mapping[str, Measured]) -> list[str]:
    """Bars that all rows of RoCE packets have: how many meet them, and which do not."""
    lines = []
    for figure in (Figure.EVENTS_PER_HOP, Figure.TIMES_BARE):
        held = [(row, bar) for row in rows for bar in row.all_bars if bar.figure is figure and bar not in row.bars]
        valued = [(row, bar, results[row.name].figure(figure, row)) for row, bar in held]
        failing = [f"{row.name} {value:.2f}" for row, bar, value in valued if value and not bar.is_met(value)]
        known = sum(value is not None for _, _, value in valued)
        if known:
            text = f"at most {held[0][1].limit:g} {figure}: {known - len(failing)} of {known} rows of RoCE packets"
            lines.append(f"- {text}" + (f"; above it {', '.join(failing)}." if failing else "."))
    return lines


def _beside(results: Mapping[str, Measured]) -> list[str]:
    """That one background flow changes the result."""
    alone, beside = (results.get(name) for name in ("dlrm_communication", "dlrm_communication_beside"))
    if alone is None or beside is None:
        return []
    times = f"{alone.time_ps / 1e6:,.3f} us alone and {beside.time_ps / 1e6:,.3f} us"
    return [f"Nothing is left out for speed: dlrm_communication takes {times} beside one background flow.", ""]


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown; all columns but the first are numbers or short."""
    rule = "|".join(["---", *["---:"] * (len(heads) - 1)])
    return [f"| {' | '.join(heads)} |", f"|{rule}|", *(f"| {' | '.join(cells)} |" for cells in lines)]
