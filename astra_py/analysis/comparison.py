# SPDX-License-Identifier: GPL-2.0-only
"""What engines and variants say of one scenario, side by side, and why a packet run takes as long as it does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.analysis.cases import unobserved
from astra_py.analysis.comparison_text import markdown, plain_rows, report, row_names
from astra_py.analysis.explain import explain
from astra_py.analysis.stretches import Part
from astra_py.analysis.times import times_table
from astra_py.analysis.why import stretch_rows, to_frame, why_rows
from astra_py.errors import ConfigError
from astra_py.results.provenance import provenance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from astra_py.analysis.cases import Case, Observe
    from astra_py.results.result import Result

__all__ = ["MEASURED", "Comparison"]

#: The column of a log that is compared with.
MEASURED = "measured"


class Comparison:
    """Runs of one scenario side by side; :func:`astra_py.compare` makes it.

    Attributes
    ----------
    cases : what was run; the first one, or a log, is what the others are compared with.
    results : of each case, one result a run.
    tolerance : largest difference that is allowed, as a share of the first column; None for any.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        reference: pd.DataFrame | None = None,
        tolerance: float | None = None,
        observe: Observe = unobserved,
    ) -> None:
        self.cases = tuple(cases)
        self.tolerance = tolerance
        self._reference = reference
        self._observe = observe
        self.results: tuple[tuple[Result, ...], ...] = tuple(tuple(case.results(observe)) for case in cases)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a user may not expect: of the runs, with the label of the first one that it is of, and of the log."""
        told: dict[str, str] = {}
        for case in self.cases:
            for run in case.runs:
                for warning in run.warnings:
                    told.setdefault(warning, case.label)
        return (*(f"{label}: {warning}" for warning, label in told.items()), *self._not_measured)

    @cached_property
    def _not_measured(self) -> tuple[str, ...]:
        """A sentence on the sizes that are run, and that the log has no time of: no tolerance holds for them."""
        if self._reference is None:
            return ()
        rows = self.collectives
        sizes = sorted(set(rows["size_bytes"][rows[f"{MEASURED}_us"].isna()].tolist()))
        if not sizes:
            return ()
        return (f"{MEASURED}: the log has no time of {', '.join(f'{size:,} B' for size in sizes)}",)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The columns that are compared, the one first that the others are compared with."""
        return (*((MEASURED,) if self._reference is not None else ()), *(case.label for case in self.cases))

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row an iteration, its exposed communication, a collective, and a phase of one: its time by each column.

        Columns: level, run (of several sizes), job, iteration, name, number (of those of one name), phase, size_bytes;
        for each label ``<label>_us``, for all but the first ``<label>_difference``, a share of the first's time, and of
        collectives ``<label>_bottleneck``, what they waited for (see ``bottleneck`` of
        :attr:`astra_py.Result.collectives`).
        """
        columns = [(case.label, results) for case, results in zip(self.cases, self.results, strict=True)]
        return times_table(columns, None if self._reference is None else (MEASURED, self._reference))

    def level(self, level: str) -> pd.DataFrame:
        """The table's rows of one of :data:`~astra_py.analysis.times.LEVELS`."""
        return self.table[self.table["level"] == level].drop(columns="level").reset_index(drop=True)

    @property
    def iterations(self) -> pd.DataFrame:
        """The table's rows of iterations."""
        return self.level("iteration")

    @property
    def exposed(self) -> pd.DataFrame:
        """The table's rows of exposed communication, one an iteration that computes: its time less its compute."""
        return self.level("exposed")

    @property
    def collectives(self) -> pd.DataFrame:
        """The table's rows of collectives."""
        return self.level("collective")

    @property
    def phases(self) -> pd.DataFrame:
        """The table's rows of phases: from the first post of a message of one to its last delivery."""
        return self.level("phase")

    @cached_property
    def outside(self) -> pd.DataFrame:
        """Rows of iterations and collectives with a difference that is larger than the tolerance, or that is missing.

        A log has measured collectives only; the rest of its column is not missed.
        """
        wanted = self.table[self.table["level"].isin(("iteration", "collective"))]
        if self._reference is not None:
            wanted = wanted[wanted[f"{MEASURED}_us"].notna()]
        if self.tolerance is None:
            return wanted.iloc[:0]
        differences = wanted[[f"{label}_difference" for label in self.labels[1:]]]
        is_within = (differences.abs() <= self.tolerance).all(axis=1)
        return wanted[~is_within]

    @property
    def is_within_tolerance(self) -> bool:
        """Whether nothing is :attr:`outside`, and something was compared where a tolerance is given."""
        return not len(self.outside) and (self.tolerance is None or self._is_anything_compared)

    @property
    def _is_anything_compared(self) -> bool:
        return bool(len(self.labels) > 1 and self.table[f"{self.labels[0]}_us"].notna().any())

    @cached_property
    def _explained(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        followed = [case for case in self.cases if case.is_followed]
        if not followed:
            raise ConfigError("why: no packet run over RoCE is compared, and of the others no frames are followed")
        rows: list[dict[str, Any]] = []
        stretches: list[dict[str, Any]] = []
        for case in followed:
            for run, each in enumerate(case.runs):
                with self._observe(f"{case.label}: {each.title}, watched") as progress:
                    explanation = explain(each, progress=progress)
                label = {"variant": case.variant, "run": run}
                rows += [label | row for row in why_rows(explanation, self._others(case, run))]
                stretches += [label | row for row in stretch_rows(explanation)]
        return rows, stretches

    def _others(self, packet: Case, run: int) -> Mapping[str, Any]:
        """Times of each collective by the other engines on the same variant, in ps; the analytic one's in any case."""
        others: dict[str, Any] = {}
        for case, results in zip(self.cases, self.results, strict=True):
            if case is packet:
                others.setdefault("analytic", results[run].columns("collectives")["analytic_time_ps"])
            elif case.variant == packet.variant:
                others[case.engine] = results[run].columns("collectives")["time_ps"]
        return dict(sorted(others.items()))

    @cached_property
    def why(self) -> pd.DataFrame:
        """One row a collective of each packet run: its time, that of other engines, and the parts of its critical path.

        Columns: variant, run, collective, name, number (of those of one name and iteration), kind, algorithm, job,
        iteration, ranks, size_bytes, ``packet_us``, ``<engine>_us`` and ``<engine>_difference_us`` of the others,
        ``<part>_us`` of each part (they add up to ``packet_us``), largest_part, knob (the key that moves it),
        longest_queue and its time, last_to_join, ``time_ps``, ``unexplained_ps``.
        """
        table = to_frame(self._explained[0])
        if len(table):
            table.insert(4, "number", table.groupby(["variant", "run", "job", "iteration", "name"]).cumcount())
        return table

    @cached_property
    def stretches(self) -> pd.DataFrame:
        """The critical paths: one row a stretch, in order of time."""
        return to_frame(self._explained[1])

    @cached_property
    def queueing(self) -> pd.DataFrame:
        """Queueing by link: one row a link at which a critical path queued, of each collective the longest first.

        Columns: variant, run, collective, job, iteration, name, number, link, ``queueing_us``; of one collective they
        add up to the queueing of :attr:`why`.
        """
        import pandas as pd

        place = ["variant", "run", "collective", "job", "iteration", "name", "number"]
        link = ["variant", "run", "collective", "link"]
        if not len(self.stretches):
            return pd.DataFrame(columns=[*place, "link", "queueing_us"])
        queues = self.stretches[self.stretches["part"] == Part.QUEUEING]
        time_ps = (queues["end_ps"] - queues["start_ps"]).groupby([queues[key] for key in link]).sum()
        found = (time_ps / 1e6).rename("queueing_us").reset_index()
        table = self.why[place].reset_index().merge(found, on=link[:3])
        table = table.sort_values(["index", "queueing_us"], ascending=[True, False], ignore_index=True)
        return table.drop(columns="index")

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """How the parts of each variant's packet run differ from the first one's, collective by collective, in us."""
        import pandas as pd

        key = ["run", "job", "iteration", "name", "number"]
        table = self.why
        if not len(table):
            return table
        columns = ["packet_us", *(f"{part}_us" for part in Part)]
        first_variant, *others = dict.fromkeys(table["variant"])
        first = table[table["variant"] == first_variant].set_index(key)[columns]
        gaps = []
        for variant in others:
            other = table[table["variant"] == variant].set_index(key)[columns]
            # only what both have has a gap
            gaps.append((other - first).dropna().reset_index().assign(variant=variant))
        return pd.concat(gaps, ignore_index=True) if gaps else table.iloc[:0][[*key, *columns, "variant"]]

    @property
    def is_explained(self) -> bool:
        """Whether there is a packet run over RoCE, whose frames can be followed."""
        return any(case.is_followed for case in self.cases)

    @property
    def verdict(self) -> str:
        """One line on the tolerance."""
        if self.tolerance is None:
            return f"{len(self.labels)} columns compared; the first one is {self.labels[0]}"
        allowed = f"{100 * self.tolerance:g} %"
        if self.is_within_tolerance:
            return f"within {allowed} of {self.labels[0]}"
        if not self._is_anything_compared:
            return f"nothing to compare with {self.labels[0]}"
        return f"{len(self.outside)} of the iterations and collectives are not within {allowed} of {self.labels[0]}"

    # ------------------------------------------------------------------------------------ output

    def report(self, *, has_why: bool = True) -> str:
        """What was compared as text; with a bar and a sentence for each collective of a packet run."""
        return report(self, has_why=has_why)

    def plot(self, ax: Axes | None = None) -> Axes:
        """A stacked bar of the parts of each row of :attr:`why`, on axes of matplotlib.

        Parameters
        ----------
        ax : where to draw; new axes where None.

        Raises
        ------
        ConfigError : no packet run is compared, or matplotlib is not installed.
        """
        from astra_py.plots import plot_why

        return plot_why(self, ax=ax)

    def to_markdown(self, *, has_why: bool = True) -> str:
        """The tables as Markdown."""
        return markdown(self, has_why=has_why)

    def to_json(self, *, has_why: bool = True) -> str:
        """Everything as one JSON object: labels, table, why, queueing, gaps, tolerance, whether all is within it.

        ``runs`` says what was run: of each run its case's label, scenario, platform, engine, seed and digest.
        """
        is_explained = has_why and self.is_explained
        content = {
            "labels": list(self.labels),
            "runs": [
                {"label": case.label} | provenance(result)
                for case, results in zip(self.cases, self.results, strict=True)
                for result in results
            ],
            "table": plain_rows(self.table),
            "why": plain_rows(self.why) if is_explained else [],
            "why_names": row_names(self) if is_explained else [],
            "queueing": plain_rows(self.queueing) if is_explained else [],
            "gaps": plain_rows(self.gaps) if is_explained else [],
            "tolerance": self.tolerance,
            "is_within_tolerance": self.is_within_tolerance,
        }
        return json.dumps(content, allow_nan=False)

    def save(self, folder: str | Path, *, has_why: bool = True) -> Path:
        """Write the tables as CSV, ``comparison.json`` and ``comparison.md`` into a folder; gives its path."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        self.table.to_csv(path / "table.csv", index=False)
        if has_why and self.is_explained:
            self.why.to_csv(path / "why.csv", index=False)
            self.queueing.to_csv(path / "queueing.csv", index=False)
            self.stretches.to_csv(path / "stretches.csv", index=False)
        (path / "comparison.json").write_text(self.to_json(has_why=has_why) + "\n", encoding="utf-8")
        (path / "comparison.md").write_text(self.to_markdown(has_why=has_why) + "\n", encoding="utf-8")
        return path
