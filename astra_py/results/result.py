# SPDX-License-Identifier: GPL-2.0-only
"""The one public result of a run: its tables, its checks, and the manifest that says what was run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError
from astra_py.results.columns import TABLES, Columns, to_dataframe
from astra_py.results.volume import Cut, Volume

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.platforms.platform import Platform
    from astra_py.results.check import Check

__all__ = ["Result", "how_far"]


def how_far(run: Mapping[str, Any]) -> str:
    """How a run was stopped and how far it came, by ``run`` of its manifest; in a line."""
    return (
        f"{run['exit_reason'].replace('_', ' ')} at {run['time_ps'] / 1e6:.6f} us, "
        f"{run['operations_done']:,} of {run['operations']:,} operations done"
    )


class Result:
    """What a run leaves behind: one that came to its end and passed its checks, or, partial, one that was stopped.

    Each table is a DataFrame, built when first asked for; ``astra_py.results.TABLES`` declares its columns.

    Parameters
    ----------
    load : gives the columns of a table by its name.
    checks : the checks that the run passed.
    manifest : what was run, by what, and how it went; plain JSON. Its keys are in ``docs/results.md``.
    volume : what keeps large tables small; none where ``load`` gives them as they are to be.
    platform : gives the platform that it ran on; None where that is not known but by the manifest.
    """

    def __init__(
        self,
        load: Callable[[str], Columns],
        checks: tuple[Check, ...],
        manifest: Mapping[str, Any],
        volume: Volume | None = None,
        platform: Callable[[], Platform] | None = None,
    ) -> None:
        self._load = load
        self._platform = platform
        self._volume = volume if volume is not None else Volume(None, {})
        self._columns: dict[str, Columns] = {}
        self._frames: dict[str, pd.DataFrame] = {}
        self.checks = checks
        self.manifest = manifest

    def __repr__(self) -> str:
        run = self.manifest["run"]
        if self.is_partial:
            return f"<Result {self.digest[:12]}, partial: {how_far(run)}>"
        return f"<Result {self.digest[:12]}: {run['time_ps'] / 1e6:.6f} us, {len(self.checks)} checks passed>"

    def _repr_html_(self) -> str:
        from astra_py.report.notebook import result_html

        return result_html(self)

    @property
    def digest(self) -> str:
        """SHA-256 of the resolved scenario and of every input file."""
        return str(self.manifest["digest"])

    @property
    def is_partial(self) -> bool:
        """Whether the run was stopped: ``manifest["run"]["exit_reason"]`` says by what, and the tables end there."""
        return bool(self.manifest["run"]["exit_reason"] != "completed")

    def require_whole(self) -> None:
        """Refuse a partial result, for what a part of a run would be mistaken in.

        Raises
        ------
        ConfigError : the run was stopped.
        """
        if self.is_partial:
            raise ConfigError(f"a partial result: {how_far(self.manifest['run'])}; allowed: one of a whole run")

    @cached_property
    def kept_platform(self) -> Platform | None:
        """The platform that it ran on, nodes and links; None where no more is known of it than the manifest says.

        Raises
        ------
        TopologyError : the file beside the tables has no platform any more.
        """
        return None if self._platform is None else self._platform()

    @property
    def cut(self) -> Mapping[str, Cut]:
        """Tables that have fewer rows than there were, by ``results.max_rows``: how many, of how many, and which."""
        for table in self._volume.doubtful():
            self.columns(table)
        return dict(self._volume.cut)

    @property
    def counters(self) -> Mapping[str, int]:
        """What the engine counted: events, packets, packet_hops, retransmissions, ..."""
        counters: Mapping[str, int] = self.manifest["counters"]
        return counters

    def columns(self, table: str) -> Columns:
        """A table as plain numpy columns.

        Raises
        ------
        KeyError : there is no such table.
        """
        if table not in TABLES:
            raise KeyError(f"a result has no table {table!r}; it has {', '.join(TABLES)}")
        if table not in self._columns:
            self._columns[table] = self._volume.limit(table, self._load(table))
        return self._columns[table]

    def table(self, name: str) -> pd.DataFrame:
        """A table as a DataFrame, by its name.

        Raises
        ------
        KeyError : there is no such table.
        """
        if name not in self._frames:
            self._frames[name] = to_dataframe(name, self.columns(name))
        return self._frames[name]

    @property
    def iterations(self) -> pd.DataFrame:
        """One row an iteration: time, compute, communication, exposed communication."""
        return self.table("iterations")

    @property
    def collectives(self) -> pd.DataFrame:
        """One row a collective: kind, bytes, time, bandwidths, ideal and analytic time."""
        return self.table("collectives")

    @property
    def phases(self) -> pd.DataFrame:
        """One row a collective, phase and level, inside or between machines: messages, bytes, time."""
        return self.table("phases")

    @property
    def operations(self) -> pd.DataFrame:
        """One row an operation of a rank: compute, memory, or its part in a collective."""
        return self.table("operations")

    @property
    def messages(self) -> pd.DataFrame:
        """One row a message: posted, sent, delivered, acknowledged."""
        return self.table("messages")

    @property
    def pairs(self) -> pd.DataFrame:
        """One row a pair of ranks that exchanged messages."""
        return self.table("pairs")

    @property
    def flows(self) -> pd.DataFrame:
        """One row a flow of a list: its completion time, and what it would have been alone."""
        return self.table("flows")

    @property
    def flow_sizes(self) -> pd.DataFrame:
        """One row a list of flows and decade of their sizes: completion times and slowdowns, of all flows."""
        return self.table("flow_sizes")

    @property
    def links(self) -> pd.DataFrame:
        """One row a channel, a direction of a link: bytes, frames, queue, utilisation."""
        return self.table("links")

    @property
    def link_bins(self) -> pd.DataFrame:
        """One row a channel in use and bin of time: bytes, utilisation, queue; empty of engines without ports."""
        return self.table("link_bins")

    @property
    def queues(self) -> pd.DataFrame:
        """One row an Ethernet port of a switch: queue, marks, refused frames, pauses, and the switch's buffer."""
        return self.table("queues")

    @property
    def pauses(self) -> pd.DataFrame:
        """One row an episode of PFC: which port was held, by whom, when."""
        return self.table("pauses")

    @property
    def congestion(self) -> pd.DataFrame:
        """One row a flow that its congestion control ever held back: notifications, decreases, rates; RoCE alone."""
        return self.table("congestion")

    @property
    def host_cores(self) -> pd.DataFrame:
        """One row a core that runs TCP/IP: how busy, and by what; empty without TCP."""
        return self.table("host_cores")

    @property
    def staging(self) -> pd.DataFrame:
        """One row a rank whose messages are copied between accelerator and host; empty without such copies."""
        return self.table("staging")

    @property
    def sockets(self) -> pd.DataFrame:
        """One row an end of a TCP connection: segments, acknowledgements, repetitions; empty without TCP."""
        return self.table("sockets")

    @property
    def plan(self) -> pd.DataFrame:
        """One row a shard of a DLRM's tables: which rank holds which rows and columns; empty for other jobs."""
        return self.table("plan")

    @property
    def plan_ranks(self) -> pd.DataFrame:
        """One row a rank of a DLRM: memory, lookups and bytes of its plan; empty for other jobs."""
        return self.table("plan_ranks")

    def save(self, folder: str | Path, *, overwrite: bool = False, format: str | None = None) -> Path:
        """Write every table, ``TABLES.md``, which says what they are, and the manifest into ``folder``; gives its path.

        The folder appears whole or not at all. :func:`astra_py.read_result` gives the same tables back.

        Parameters
        ----------
        folder : where to; made where it is missing.
        overwrite : whether another result there, or a whole one where this is partial, may be replaced.
        format : "csv", "parquet" or "both"; ``results.format`` of the scenario where None.

        Raises
        ------
        ConfigError : the folder exists, is neither empty nor of the same digest, and ``overwrite`` is not given; or the
            format needs a package that is not installed.
        """
        from astra_py.results.store import save_result

        return save_result(self, Path(folder), overwrite=overwrite, form=format)

    def report(self) -> str:
        """The result as text of at most 100 columns, as ``astra-py run`` prints it."""
        from astra_py.results.report import report

        return report(self)
