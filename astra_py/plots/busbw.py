# SPDX-License-Identifier: GPL-2.0-only
"""Bus bandwidth against size, as nccl-tests' users draw it: of runs, of single collectives, and of a measured log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.errors import ConfigError
from astra_py.plots.caption import caption_of
from astra_py.plots.figure import are_beside, drawing, legend_above
from astra_py.plots.style import MEASURED, MOST_SERIES, line_look
from astra_py.results.provenance import provenance
from astra_py.results.result import Result
from astra_py.units import format_size

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_busbw", "read_rows"]

#: What tells series apart, and how it is said; what all have in common is said once, above.
_KEYS = {"run": "{}", "kind": "{}", "algorithm": "{}", "ranks": "{} ranks", "engine": "engine {}"}
#: What rows say of their run, beside its engine, for the caption.
_SAID = ("scenario", "platform", "seed", "digest")
_MARKERS = "osD^vPX*"
#: Ticks of the axis of sizes, at most.
_MOST_TICKS = 9


def plot_busbw(
    *sources: Result | pd.DataFrame,
    names: Sequence[str] = (),
    log: pd.DataFrame | None = None,
    log_name: str = "",
    ax: Axes | None = None,
    size: str = "paper",
) -> Axes:
    """Draw the bus bandwidth of collectives against their sizes, a line a kind, algorithm, number of ranks and engine.

    Where a run has several collectives of one size, each is a point, and the line goes through their medians.

    Parameters
    ----------
    sources : results of runs, or rows of ``astra-py collective --json``, see :func:`read_rows`.
    names : what each source is called; needed where two are alike in all else.
    log : rows of an nccl-tests log, as :func:`astra_py.formats.read` gives them; its times out of place are drawn.
    log_name : of its file, for the caption.
    ax, size : as :func:`~astra_py.plots.timeline.plot_timeline` takes them.

    Raises
    ------
    ConfigError : nothing has a bus bandwidth, there are more lines than can be told apart, or matplotlib is not
        installed.
    """
    rows = _all_rows(sources, names)
    if not len(rows) and log is None:
        raise ConfigError("no collective has a bus bandwidth: there is nothing to draw")
    under = ", ".join(
        part
        for part in (
            caption_of(run for source in sources for run in _runs(source)),
            "" if log is None else f"measured: {log_name or 'a log of nccl-tests'}",
        )
        if part
    )
    lines = list(rows.groupby(list(_KEYS), sort=False))
    if len(lines) > MOST_SERIES:
        raise ConfigError(f"busbw of {len(lines)} lines; allowed: {MOST_SERIES}, which can be told apart")
    varied = [key for key in _KEYS if rows[key].nunique() > 1]
    shared = [_said(key, rows[key].iloc[0]) for key in _KEYS if key not in varied and len(rows)]
    with drawing(ax, size, 0.5, under) as axes:
        handles: list[Any] = []
        for number, (_, series) in enumerate(lines):
            label = ", ".join(filter(None, (_said(key, series[key].iloc[0]) for key in varied))) or "simulated"
            handles.append(_draw_series(axes, series, number, label))
        if log is not None:
            measured = log[log["busbw_GBps"] > 0].sort_values("size_bytes")
            look: dict[str, Any] = {"color": MEASURED, "linestyle": "--", "marker": "x"}
            handles += axes.plot(measured["size_bytes"], measured["busbw_GBps"], label="measured", **look)
        _set_axes(axes)
        legend_above(axes, handles, ", ".join(filter(None, shared)) or None)
    return axes


def read_rows(path: str | Path) -> pd.DataFrame:
    """Rows that ``astra-py collective --json`` printed, one JSON object a line.

    Raises
    ------
    ConfigError : the file cannot be read, or a line is no such row.
    """
    import pandas as pd

    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    wanted = {"collective", "algorithm", "ranks", "size_bytes", "busbw_GBps", "engine"}
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, Mapping) or not wanted <= set(row):
            raise ConfigError(f"{path}, line {number}: no row of astra-py collective --json")
        rows.append({key: row[key] for key in sorted(wanted)} | {key: row.get(key) for key in _SAID})
    if not rows:
        raise ConfigError(f"{path}: has no rows of astra-py collective --json")
    return pd.DataFrame(rows)


def _all_rows(sources: Sequence[Result | pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Rows of all sources that have a bus bandwidth, each with the name of its source where nothing else tells."""
    import pandas as pd

    tables = [_rows(source).assign(run=names[number] if names else "") for number, source in enumerate(sources)]
    columns = [*_KEYS, "size_bytes", "busbw_GBps"]
    rows = pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)
    # a list of flows has a size, but is no collective
    rows = rows[(rows["kind"] != "flows") & (rows["size_bytes"] > 0) & (rows["busbw_GBps"] > 0)]
    is_told = rows.groupby([key for key in _KEYS if key != "run"])["run"].nunique().le(1).all()
    return rows.assign(run="") if is_told else rows


def _rows(source: Result | pd.DataFrame) -> pd.DataFrame:
    """Rows of a source, in columns of :data:`_KEYS`, size_bytes and busbw_GBps."""
    columns = ["kind", "algorithm", "ranks", "engine", "size_bytes", "busbw_GBps"]
    if isinstance(source, Result):
        return source.collectives.assign(engine=source.manifest["engine"])[columns].copy()
    table = source.rename(columns={"collective": "kind"})[columns].copy()
    # a barrier has none
    table["busbw_GBps"] = table["busbw_GBps"].astype(float)
    return table


def _runs(source: Result | pd.DataFrame) -> list[dict[str, Any]]:
    """What the caption says of a source."""
    if isinstance(source, Result):
        return [provenance(source)]
    known = source.reindex(columns=["engine", *_SAID]).astype(object)
    # rows of other makes need not say it
    known["scenario"] = known["scenario"].where(known["scenario"].notna(), "scenario unknown")
    known["seed"] = known["seed"].where(known["seed"].notna(), "unknown")
    return [{str(key): value for key, value in row.items() if value == value} for row in known.to_dict("records")]


def _said(key: str, value: Any) -> str:
    return _KEYS[key].format(f"{value:,}" if isinstance(value, int | np.integer) else value)


def _draw_series(axes: Axes, series: pd.DataFrame, number: int, label: str) -> Any:
    look: dict[str, Any] = {**line_look(number), "marker": _MARKERS[number % len(_MARKERS)]}
    medians = series.groupby("size_bytes")["busbw_GBps"].median()
    if len(medians) < len(series):
        axes.plot(series["size_bytes"], series["busbw_GBps"], alpha=0.35, **{**look, "linestyle": "none"})
    (line,) = axes.plot(medians.index, medians.to_numpy(), label=label, **look)
    return line


def _set_axes(axes: Axes) -> None:
    axes.set_xscale("log", base=2)
    low, high = axes.dataLim.intervalx
    first, last = int(np.floor(np.log2(low))), int(np.ceil(np.log2(high)))
    step = 1
    while True:
        sizes = 2 ** np.arange(first, last + 1, step)
        names = [format_size(int(size)) for size in sizes]
        if len(sizes) <= _MOST_TICKS and are_beside(axes, names):
            break
        step += 1
    axes.set_xticks(sizes, names)
    # the first name is beside that of the other axis
    axes.set_xlim(2.0 ** (first - 0.04 * (last - first) - 0.1), 2.0 ** (last + 0.02 * (last - first)))
    axes.minorticks_off()
    axes.set(xlabel="size", ylabel="bus bandwidth (GB/s)")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
