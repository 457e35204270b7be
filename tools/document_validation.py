# SPDX-License-Identifier: GPL-2.0-only
"""Measure the tables of ``docs/validation.md`` anew, and write them.

``python tools/document_validation.py [TABLE ...]``: what was measured is kept in ``docs/validation.json``, by table;
the page has each between its two comments. Without arguments all of them are measured, minutes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "validation.md"
FIGURES = ROOT / "docs" / "validation.json"
_PS_PER_US, _PS_PER_MS = 10**6, 10**9
_CONTROLS = ("none", "dcqcn", "timely", "dctcp", "hpcc", "swift")
#: Senders over TCP: the words of the row, then control, marks, buffer and further keys.
_TCP_INCAST = (
    ("`newreno`, no marks", ("newreno", "false", "16MB")),
    ("`cubic`, no marks", ("cubic", "false", "16MB")),
    ("`newreno`, no marks", ("newreno", "false", "250kB")),
    ("`cubic`, no marks", ("cubic", "false", "250kB")),
    ("`newreno`, no marks, no delayed ACKs", ("newreno", "false", "1MB", "transport.tcp.delayed_ack=1")),
    ("`dctcp`, K = 65 frames, no delayed ACKs", ("dctcp", "true", "1MB", "transport.tcp.delayed_ack=1")),
    ("`dctcp`, K = 65 frames", ("dctcp", "true", "1MB", "transport.tcp.delayed_ack=2")),
)

#: Rows of a table as they are kept.
Rows = list[dict[str, Any]]


def cases() -> Rows:
    """What ``astra-py validate --json`` has of all cases, without what it cost."""
    from astra_py.analysis.validation.table import records, validate

    rows = json.loads(json.dumps(records(validate())))
    return [{key: value for key, value in row.items() if key != "cpu_s"} for row in rows]


def incast() -> Rows:
    """Sixty-four senders of RoCE: one row a congestion control."""
    test = _test("test_incast")
    rows = []
    for control in _CONTROLS:
        run = test.sixty_four(control)
        rows.append(
            {
                "control": control,
                "deepest_queue_bytes": test.peak_queue(run),
                "pauses": int(run.queues["pauses_sent"].sum()),
                "p99_us": test.p99_ps(run) / _PS_PER_US,
                "drops": int(run.queues["refused_frames"].sum()),
            }
        )
    return rows


def shares() -> Rows:
    """Four long flows: one row a congestion control, each flow's bytes over their mean."""
    test = _test("test_fairness")
    controls = ("none", "dctcp", "hpcc", "swift", "dcqcn", "timely")
    return [{"control": control, "shares": [float(each) for each in test.shares(control)]} for control in controls]


def tcp_incast() -> Rows:
    """Thirty-two senders of TCP: one row a control, buffer and way to acknowledge."""
    test = _test("test_tcp_incast")
    rows = []
    for words, arguments in _TCP_INCAST:
        run = test.thirty_two(*arguments)
        rows.append(
            {
                "control": words,
                "buffer": arguments[2],
                "last_byte_ms": test.last_ps(run) / _PS_PER_MS,
                "timeouts": int(run.counters["timeouts"]),
                "refused_frames": int(run.queues["refused_frames"].sum()),
            }
        )
    return rows


#: How each table of the page is measured.
TABLES: dict[str, Callable[[], Rows]] = {
    "cases": cases,
    "incast": incast,
    "shares": shares,
    "tcp_incast": tcp_incast,
}
#: How far the shares of flows of a control may be from equal, as ``tests/behaviour/test_fairness.py`` asks.
_TOLERANCE = {"dcqcn": "10 %", "timely": "none: no fair point (Zhu et al., CoNEXT 2016)"}


def table(name: str, rows: Rows) -> str:
    """A table of the page in Markdown, of the rows that are kept of it.

    Raises
    ------
    KeyError : there is no such table, or a row lacks a figure.
    """
    header, cells = _LAYOUTS[name](rows)
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *cells)]
    return "\n".join(lines) + "\n"


def page(text: str, figures: dict[str, Rows]) -> str:
    """The page with its tables of these figures.

    Raises
    ------
    ValueError : the page has no place for a table, or two.
    """
    for name, rows in figures.items():
        place = re.compile(rf"(?<=^<!-- measured: {name} -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)
        drawn = f"\n{table(name, rows)}\n"
        text, places = place.subn(lambda _, drawn=drawn: drawn, text)  # type: ignore[misc]
        if places != 1:
            raise ValueError(f"{DOCUMENT.name} has {places} places for {name!r}; allowed: one")
    return text


def _test(module: str) -> Any:
    """A module of the tests of behaviour, which has the runs that the page is about."""
    if (tests := str(ROOT / "tests")) not in sys.path:
        sys.path.append(tests)
    return import_module(f"behaviour.{module}")


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def _aim(row: dict[str, Any]) -> str:
    if row["pass"] is None:
        return "-"
    if row["relation"] != "=":
        return str(row["relation"])
    return "exact" if row["tolerance"] == 0 else f"{100 * row['tolerance']:.3g} %"


def _verdict(row: dict[str, Any]) -> str:
    if row["pass"] is None:
        return "reported"
    return "pass" if row["pass"] else "**fails**" if row["must"] else "fails, need not pass"


def _case_cells(rows: Rows) -> tuple[list[str], list[list[str]]]:
    header = ["case", "kind", "unit", "expected", "packet", "flow", "analytic", "error", "aim", "verdict"]
    cells = []
    for row in rows:
        error = row["error"]
        figures = [_number(row[key]) for key in ("expected", "packet", "flow", "analytic")]
        told = "-" if error is None else "0" if error == 0 else f"{100 * error:+.2f} %"
        cells.append([f"`{row['case']}`", row["kind"], row["unit"], *figures, told, _aim(row), _verdict(row)])
    return header, cells


def _incast_cells(rows: Rows) -> tuple[list[str], list[list[str]]]:
    header = ["control", "deepest queue, B", "pauses", "p99 of message time, us", "drops"]
    keys = ("deepest_queue_bytes", "pauses", "p99_us", "drops")
    return header, [[f"`{row['control']}`", *(f"{row[key]:,.0f}" for key in keys)] for row in rows]


def _share_cells(rows: Rows) -> tuple[list[str], list[list[str]]]:
    cells = []
    for row in rows:
        control = row["control"]
        name = "`none` (PFC)" if control == "none" else f"`{control}`"
        cells.append([name, " ".join(f"{each:.3f}" for each in row["shares"]), _TOLERANCE.get(control, "5 %")])
    return ["control", "shares", "tolerance"], cells


def _tcp_cells(rows: Rows) -> tuple[list[str], list[list[str]]]:
    cells = []
    for row in rows:
        unit = next(unit for unit in ("kB", "MB") if row["buffer"].endswith(unit))
        buffer = f"{row['buffer'].removesuffix(unit)} {unit}"
        figures = [f"{row['last_byte_ms']:.2f}", str(row["timeouts"]), str(row["refused_frames"])]
        cells.append([row["control"], buffer, *figures])
    return ["control", "buffer", "last byte, ms", "timeouts", "refused frames"], cells


_LAYOUTS: dict[str, Callable[[Rows], tuple[list[str], list[list[str]]]]] = {
    "cases": _case_cells,
    "incast": _incast_cells,
    "shares": _share_cells,
    "tcp_incast": _tcp_cells,
}


def main(names: list[str]) -> None:
    """Measure the tables of these names, or all, and write figures and page."""
    if unknown := set(names) - set(TABLES):
        raise SystemExit(f"there is no table {', '.join(sorted(unknown))}; allowed: {', '.join(TABLES)}")
    kept = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.is_file() else {}
    for name in names or TABLES:
        kept[name] = TABLES[name]()
    figures = {name: kept[name] for name in TABLES if name in kept}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    DOCUMENT.write_text(page(DOCUMENT.read_text(encoding="utf-8"), figures), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
