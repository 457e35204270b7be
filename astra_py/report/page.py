# SPDX-License-Identifier: GPL-2.0-only
"""The page: what is known of each run, put into the template and written as one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.analysis.comparison import Comparison
from astra_py.analysis.stretches import Part
from astra_py.errors import ConfigError
from astra_py.plots.style import COLLECTIVES, COMMUNICATION, COMPUTE, EXPOSED, MEMORY
from astra_py.report.glossary import GLOSSARY
from astra_py.report.headline import Headline, headline
from astra_py.report.pictures import Picture, has_pictures, pictures_of, why_picture
from astra_py.report.scenario import Setting, settings
from astra_py.report.tables import Table, table_of, tables_of_result
from astra_py.report.timeline import rank_timeline, ranks_timeline
from astra_py.results.result import Result, how_far

if TYPE_CHECKING:
    from astra_py.results.check import Check

__all__ = ["write_report"]

#: Runs that have sections of their own; of more, the table that compares them is enough to find one to look at.
_MOST_RUNS = 6
_LEGEND = {
    "compute": COMPUTE,
    # two entries of one colour could not be told apart
    **{
        kind.replace("_", "-") + (", any other communication" if colour == COMMUNICATION else ""): colour
        for kind, colour in COLLECTIVES.items()
        if kind != "all_to_all_v"
    },
    "memory": MEMORY,
    "exposed": EXPOSED,
}


@dataclass(frozen=True)
class _Figure:
    """An SVG, and what it shows."""

    title: str
    svg: str
    caption: str


@dataclass(frozen=True)
class _Part:
    """What the page has of a run; ``id`` is what its anchors begin with."""

    id: str
    label: str
    manifest: Mapping[str, Any]
    digest: str
    headline: Headline | None
    times: Mapping[str, float]
    stopped: str
    cut: tuple[str, ...]
    checks: tuple[Check, ...]
    settings: tuple[Setting, ...]
    figures: tuple[_Figure, ...]
    pictures: tuple[Picture, ...]
    tables: tuple[Table, ...]


def write_report(source: Result | Comparison | Mapping[str, Result], path: str | Path, *, has_why: bool = True) -> Path:
    """Write one HTML file that needs nothing else: no network, no fonts, no further files.

    The same results give the same file. Without matplotlib it has no pictures but the timelines, and says so.

    Parameters
    ----------
    source : a result, a comparison, or results by name, side by side.
    path : the file; one that is there is replaced, once the new one is whole.
    has_why : of a comparison: whether where the time of packet runs over RoCE went is in it. For that they are run
        again, watched, unless the comparison has done so.

    Returns
    -------
    ``path``.

    Raises
    ------
    ConfigError : there is no result, the file cannot be written, or Jinja2 is not installed.
    """
    path = Path(path)
    named = _named(source)
    if not named:
        raise ConfigError("a report of no result; allowed: one or more")
    comparison = source if isinstance(source, Comparison) else None
    is_long = len(named) > _MOST_RUNS
    parts = [
        _part(f"r{number}", label, result, is_drawn=not is_long)
        for number, (label, result) in enumerate(named.items(), 1)
    ]
    text = _template().render(
        title=_title(named, comparison),
        parts=[] if is_long else parts,
        many=len(parts) if is_long else 0,
        summary=_summary(parts) if len(parts) > 1 else None,
        verdict=comparison.verdict if comparison else "",
        compared=_compared(comparison, has_why=has_why) if comparison else [],
        why=why_picture(comparison) if comparison and has_why and comparison.is_explained else None,
        has_pictures=has_pictures(),
        glossary=GLOSSARY,
        legend=_LEGEND,
    )
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            aside.write_text(text, encoding="utf-8")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{path}: the report cannot be written: {error.strerror or error}") from error
    return path


def _template() -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise ConfigError("a report needs Jinja2: pip install 'astra-py[report]'") from None
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("page.html.j2")


def _named(source: Result | Comparison | Mapping[str, Result]) -> dict[str, Result]:
    """The results by the names that the page gives them."""
    if isinstance(source, Result):
        return {str(source.manifest["title"]): source}
    if isinstance(source, Mapping):
        return dict(source)
    found = {}
    for case, results in zip(source.cases, source.results, strict=True):
        for run, result in zip(case.runs, results, strict=True):
            found[case.label if len(results) == 1 else f"{case.label}, {run.title}"] = result
    return found


def _title(named: Mapping[str, Result], comparison: Comparison | None) -> str:
    titles = list(dict.fromkeys(str(result.manifest["title"]) for result in named.values()))
    told = titles[0] if len(titles) == 1 else f"{len(titles)} scenarios"
    return told if len(named) == 1 else f"{told}: {len(named)} runs {'compared' if comparison else 'side by side'}"


def _part(anchor: str, label: str, result: Result, *, is_drawn: bool) -> _Part:
    figures = [
        _Figure("One rank", *rank_timeline(result)),
        _Figure("All ranks", *ranks_timeline(result)),
    ]
    return _Part(
        id=anchor,
        label=label,
        manifest=result.manifest,
        digest=result.digest,
        headline=headline(result),
        times=_times(result),
        stopped=_stopped(result),
        cut=tuple(f"{table}: {cut}" for table, cut in result.cut.items()),
        checks=result.checks,
        settings=tuple(settings(result.manifest["scenario"])),
        figures=tuple(figure for figure in figures if figure.svg),
        pictures=tuple(pictures_of(result)) if is_drawn else (),
        tables=tuple(tables_of_result(result)),
    )


def _times(result: Result) -> dict[str, float]:
    """Times of the run in us: of all its iterations, of the job that ends last where it has several."""
    table = result.iterations
    time_us = result.manifest["run"]["time_ps"] / 1e6
    if not len(table):
        return {"time": time_us}
    ends = table["start_us"] + table["time_us"]
    mine = table[table["job"] == table["job"].iloc[int(ends.to_numpy().argmax())]]
    sums = {name: float(mine[f"{name}_us"].sum()) for name in ("time", "compute", "exposed")}
    return {"time": time_us, "iterations": sums["time"], "compute": sums["compute"], "exposed": sums["exposed"]}


def _stopped(result: Result) -> str:
    """How a run ended that did not come to its end, and how far it came; empty for one that did."""
    return how_far(result.manifest["run"]) if result.is_partial else ""


def _summary(parts: list[_Part]) -> Table:
    import pandas as pd

    rows = []
    for part in parts:
        head = part.headline
        exposed, whole = part.times.get("exposed", float("nan")), part.times.get("iterations", float("nan"))
        rows.append(
            {
                "run": part.label + (" (a part of it)" if part.stopped else ""),
                "engine": part.manifest["engine"],
                "ranks": int(part.manifest["platform"]["ranks"]),
                "time_us": part.times["time"],
                "exposed_us": exposed,
                "exposed_percent": 100 * exposed / whole if whole else float("nan"),
                "most exposed collective": head.name if head else "-",
                "bound by": head.cause if head else "-",
                "busiest link": head.busiest_link if head else "-",
            }
        )
    return table_of(pd.DataFrame(rows), "summary", "Runs", "exposed: of all iterations of the rank that ends the run")


def _compared(comparison: Comparison, *, has_why: bool) -> list[Table]:
    """Tables of a comparison: times by level, and where the time of packet runs went."""
    found = []
    for level, title in (
        ("iteration", "Iterations"),
        ("exposed", "Exposed communication"),
        ("collective", "Collectives"),
    ):
        frame = comparison.level(level)
        frame = frame.loc[:, [not frame[column].isin(("", None)).all() for column in frame.columns]]
        if not len(frame):
            continue
        shares = {column: 100 * frame[column] for column in frame.columns if column.endswith("_difference")}
        note = f"differences from {comparison.labels[0]} in percent of it" if shares else ""
        found.append(table_of(frame.assign(**shares).head(100), f"compared-{level}", f"{title} compared", note))
    if has_why and comparison.is_explained and len(comparison.why):
        frame = comparison.why
        parts = [f"{part}_us" for part in Part if frame[f"{part}_us"].any()]
        wanted = ["variant", "name", "iteration", "packet_us", *parts, "largest_part", "knob", "longest_queue"]
        frame = frame[[column for column in wanted if not frame[column].isin(("", None)).all()]]
        note = "parts of a collective's critical path, which add up to its time; knob: the key that moves the largest"
        found.append(table_of(frame.head(100), "why", "Where the time of packet runs went", note))
    return found
