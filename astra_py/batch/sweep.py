# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps from Python: run one, or read what one left; either way a :class:`Sweep`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.batch.designs import Design, Grid, PointList
from astra_py.batch.driver import SweepProgress, distinct, drive
from astra_py.batch.limits import Limits
from astra_py.batch.manifest import Manifest, read_manifest
from astra_py.batch.outcome import Outcome
from astra_py.batch.point import SEED
from astra_py.batch.shard import WHOLE, Shard
from astra_py.batch.spread import CONFIDENCE, spread_table
from astra_py.batch.store import Store, read_outcomes
from astra_py.batch.study import Study
from astra_py.batch.table import SweepTable, best_outcomes, results_table, runs_table
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.batch.executor import Executor

__all__ = ["Sweep", "read_sweep", "run_study", "run_sweep"]


class Sweep:
    """What a sweep has found, as far as it is.

    Parameters
    ----------
    folder : where it is kept.
    manifest : what was swept.
    outcomes : what became of its points.
    """

    def __init__(self, folder: Path, manifest: Manifest, outcomes: Iterable[Outcome]) -> None:
        self.folder = folder
        self.manifest = manifest
        self.outcomes = tuple(outcomes)

    def __repr__(self) -> str:
        rows, failed, points = len(self.results.rows), len(self.failures), len(self.manifest.points)
        return f"<Sweep of {self.manifest.title} in {self.folder}: {rows} of {points} points, {failed} failed>"

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that are varied, in order."""
        return self.manifest.keys

    @cached_property
    def results(self) -> SweepTable:
        """One row a point that is over, as ``results.csv`` has it; :func:`astra_py.batch.table.results_table`."""
        return results_table(self.keys, self.manifest.points, self.outcomes)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a point that is over: keys, status, and the figures of :func:`~astra_py.batch.row.point_row`."""
        return self.results.to_pandas()

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The rows of points that failed: ``point``, the keys, ``status`` and ``reason``."""
        status = self.results.columns.index("status")
        columns = [column for column in self.results.columns[:status] if column in ("point", *self.keys)]
        return self.table.loc[self.table["status"] != "ok", [*columns, "status", "reason"]].reset_index(drop=True)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Who ran what when, and what it cost; :func:`astra_py.batch.table.runs_table`."""
        return runs_table(self.manifest.points, self.outcomes).to_pandas()

    @property
    def is_complete(self) -> bool:
        """Whether every point is over, failed ones included."""
        return len(best_outcomes(self.outcomes)) == len(distinct(self.manifest.points))

    def report(self) -> str:
        """The sweep as text: headline figures of its points, and what failed."""
        from astra_py.batch.report import report

        return report(self)

    def spread(self, confidence: float = CONFIDENCE) -> pd.DataFrame:
        """How each figure spreads over seeds: one row a point without its seed and figure.

        Columns: the other keys, ``figure``, ``seeds``, ``mean``, ``std``, ``min``, ``p5``, ``p50``, ``p95``, ``max``,
        ``ci_low`` and ``ci_high`` (Student's interval of the mean; :func:`astra_py.batch.spread.spread_table`).

        Parameters
        ----------
        confidence : of the interval, between 0 and 1.

        Raises
        ------
        ConfigError : no seeds are varied, or ``confidence`` is none.
        """
        table = spread_table(self.results, self.keys, confidence)
        if table is None:
            raise ConfigError(
                f"there is no spread: the sweep varies {', '.join(self.keys)}; allowed: with {SEED!r}, too"
            )
        return table.to_pandas()


def run_sweep(
    scenario: str | Path | Mapping[str, Any],
    design: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]] | Design | Iterable[Design],
    *overrides: str,
    out: str | Path,
    workers: int | None = None,
    limits: Limits | None = None,
    executor: Executor | None = None,
    shard: Shard = WHOLE,
    overwrite: bool = False,
    retry_failed: bool = False,
    told: Callable[[SweepProgress], None] | None = None,
) -> Sweep:
    """Run a scenario at many points, each in a process of its own, or go on where a sweep was left.

    >>> ap.run_sweep("workloads/incast_64.toml", {"platform.link_rate": ["100Gbps", "400Gbps"], "seed": range(3)},
    ...              out="rates").table  # doctest: +SKIP

    Parameters
    ----------
    scenario : path of a scenario file, or its tables.
    design : what is varied: values by key, of which every combination is a point; a list of points, values by key each;
        or one or several of :class:`~astra_py.batch.designs.Grid`, :class:`~astra_py.batch.designs.PointList` and
        :class:`~astra_py.batch.latin_hypercube.LatinHypercube`, which are multiplied.
    overrides : ``"key.path=value"`` for all points.
    out, workers, limits, executor, shard, overwrite, retry_failed, told : as :func:`run_study` takes them.

    Raises
    ------
    ConfigError : points are not allowed (all of them are named, and nothing has run), or ``out`` is in use or holds
        something else.
    """
    return run_study(
        Study.of(scenario, _designs(design), overrides=overrides),
        out=out,
        workers=workers,
        limits=limits,
        executor=executor,
        shard=shard,
        overwrite=overwrite,
        retry_failed=retry_failed,
        told=told,
    )


def run_study(
    study: Study,
    *,
    out: str | Path,
    workers: int | None = None,
    limits: Limits | None = None,
    executor: Executor | None = None,
    shard: Shard = WHOLE,
    overwrite: bool = False,
    retry_failed: bool = False,
    told: Callable[[SweepProgress], None] | None = None,
) -> Sweep:
    """Run a study, or what is left of it.

    Points that failed are rows of the table with their reason; they raise nothing.

    Parameters
    ----------
    study : from :meth:`Study.of`, or from a file by :func:`~astra_py.batch.sweep_file.read_study`.
    out : folder for journal, tables and manifest; absent, empty, or of the same study, which is then gone on with.
    workers : how many points run at once on this machine; as many as it has CPUs where None.
    limits : what each point may take; no limits and no retries where None.
    executor : who runs the points, in place of this machine: such as
        :class:`~astra_py.batch.dask.DaskExecutor`.
    shard : the share of the points to run; the table has those of other shards of the folder, too.
    overwrite : whether what another sweep left in ``out`` goes.
    retry_failed : whether points that failed before are run again.
    told : called when a point begins, and when one is over.

    Raises
    ------
    ConfigError : points are not allowed (all of them are named, and nothing has run), ``out`` is in use or holds
        something else, or both ``workers`` and ``executor`` are given.
    """
    if executor is None:
        from astra_py.batch.local import LocalExecutor

        executor = LocalExecutor(workers)
    elif workers is not None:
        raise ConfigError("workers would mean nothing beside an executor of its own; allowed: one of both")
    folder = Path(out)
    with Store(folder, study, shard, is_overwritten=overwrite) as store:
        drive(study, store, executor, limits or Limits(), shard=shard, is_failed_retried=retry_failed, told=told)
    return read_sweep(folder)


def read_sweep(folder: str | Path) -> Sweep:
    """Read what a sweep left, or what one that runs has so far.

    Raises
    ------
    ConfigError : the folder holds no sweep.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest is None:
        raise ConfigError(f"{folder}: no sweep here: there is no manifest.json")
    return Sweep(folder, manifest, read_outcomes(folder)[0])


def _designs(design: Any) -> list[Design]:
    """The designs that ``design`` of :func:`run_sweep` stands for."""
    if isinstance(design, Mapping):
        return [Grid.of(design)]
    if hasattr(design, "rows"):
        return [design]
    parts = list(design) if isinstance(design, Iterable) else [design]
    if all(isinstance(part, Mapping) for part in parts):
        return [PointList.of(parts)]
    if all(hasattr(part, "rows") for part in parts):
        return parts
    raise ConfigError(f"design {design!r}: allowed: values by key, a list of points, or designs of astra_py.batch")
