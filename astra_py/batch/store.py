# SPDX-License-Identifier: GPL-2.0-only
"""The folder of a sweep: what is done, kept so that it is never lost, mixed, or done twice.

One driver writes to it at a time, or one a shard. The journals (one a shard) are the truth: a line an outcome, on disk
before it counts. Tables and manifest are made from them, and are replaced as whole files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from astra_py.batch.journal import Journal, read_journal
from astra_py.batch.manifest import MANIFEST, Manifest, read_manifest
from astra_py.batch.outcome import Outcome
from astra_py.batch.shard import WHOLE, Shard
from astra_py.batch.spread import spread_table
from astra_py.batch.table import SweepTable, best_outcomes, results_table, runs_table
from astra_py.errors import ConfigError
from astra_py.results.lock import LOCK, FolderLock

if TYPE_CHECKING:
    from astra_py.batch.study import Study

__all__ = ["Store", "read_outcomes"]

_JOURNAL = re.compile(r"journal(\.[0-9]+-of-[0-9]+)?\.jsonl")
#: Held while tables are made, so that of two drivers the later one has all outcomes.
_TABLES_LOCK = f"{LOCK}.tables"
_TABLES = ("results.csv", "results.parquet", "runs.csv", "spread.csv")
#: What may be in a folder that counts as empty: what a driver leaves that was killed before it began.
_LEFT_OVER = re.compile(r"\.lock.*|\..*\.new")


class Store:
    """A sweep's folder, open for one driver until :meth:`close` or the end of the process, however it ends.

    Parameters
    ----------
    folder : absent, empty, or of the same study.
    study : what is swept.
    shard : the driver's share; drivers of different shards of one count may be at work at once.
    is_overwritten : whether what another sweep left in the folder goes.

    Raises
    ------
    ConfigError : another driver is at work in the folder, or it holds something else.
    """

    def __init__(
        self,
        folder: Path,
        study: Study,
        shard: Shard = WHOLE,
        *,
        is_overwritten: bool = False,
    ) -> None:
        if is_overwritten and not shard.is_whole:
            raise ConfigError("overwriting would take other shards' points away; allowed: without a shard")
        manifest = Manifest.of(study)
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder}: a sweep goes to a folder, and this is a file")
        self.folder = folder
        self._locks = [FolderLock(folder, is_shared=not shard.is_whole)]
        try:
            if not shard.is_whole:
                self._locks.append(FolderLock(folder, f"{LOCK}{shard.suffix}"))
            # shards that begin at once look one after another: the first finds the folder empty
            with FolderLock(folder, _TABLES_LOCK, is_waiting=True):
                if not shard.is_whole:
                    _require_no_other_count(folder, shard)
                self._manifest = self._begun(manifest, is_overwritten=is_overwritten)
                self._journal = Journal(folder / f"journal{shard.suffix}.jsonl")
            self._outcomes, _ = read_outcomes(folder)
            self._write_tables()
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                raise ConfigError(f"{folder}: a sweep cannot be written: {error.strerror or error}") from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the tables and give the folder back; raises as :meth:`write_tables`."""
        try:
            self.write_tables()
        finally:
            self._journal.close()
            self._release()

    def begin(self, driver: dict[str, Any]) -> None:
        """Write down who begins to run points, in plain JSON; raises as :meth:`append`."""
        with _writing(self.folder, "journal"):
            self._journal.begin(driver)

    def done(self) -> dict[str, Outcome]:
        """The best outcome of each digest, of all shards when the store was opened and of this one since."""
        return best_outcomes(self._outcomes)

    def append(self, outcome: Outcome) -> None:
        """Keep an outcome; it is on disk when this returns.

        Raises
        ------
        ConfigError : the folder cannot be written to; what was kept before stays.
        """
        with _writing(self.folder, "journal"):
            self._journal.append(outcome)
        self._outcomes.append(outcome)

    def write_tables(self) -> None:
        """Make tables and manifest from all journals.

        Raises
        ------
        ConfigError : the folder cannot be written to.
        """
        with _writing(self.folder, "tables"):
            self._write_tables()

    def _begun(self, manifest: Manifest, *, is_overwritten: bool) -> Manifest:
        """The manifest of the folder: its own, with the versions and the title of its first driver, or ``manifest``.

        A new one is there before any journal: a folder with a journal and without a manifest would be somebody else's.
        """
        found = read_manifest(self.folder)
        if found is not None and not is_overwritten:
            manifest.require_same(found, self.folder)
            return found
        if found is None:
            _require_empty(self.folder)
        else:
            _clear(self.folder)
        self._write_manifest(manifest, [], [])
        return manifest

    def _write_tables(self) -> None:
        with FolderLock(self.folder, _TABLES_LOCK, is_waiting=True):
            outcomes, drivers = read_outcomes(self.folder)
            manifest = self._manifest
            self._write_manifest(manifest, outcomes, drivers)
            table = results_table(manifest.keys, manifest.points, outcomes)
            self._replace("results.csv", table.to_csv().encode())
            self._replace("runs.csv", runs_table(manifest.points, outcomes).to_csv().encode())
            if (spread := spread_table(table, manifest.keys)) is not None:
                self._replace("spread.csv", spread.to_csv().encode())
            if find_spec("pyarrow") is not None:
                self._write_parquet(table)

    def _write_manifest(self, manifest: Manifest, outcomes: list[Outcome], drivers: list[dict[str, Any]]) -> None:
        best = best_outcomes(outcomes)
        counts = {
            "runs": len({point.digest for point in manifest.points}),
            "done": len(best),
            "failed": sum(not outcome.is_ok for outcome in best.values()),
        }
        hosts = sorted({outcome.worker.rpartition(":")[0] for outcome in outcomes if outcome.worker})
        self._replace(MANIFEST, manifest.to_json({**counts, "hosts": hosts, "drivers": drivers}).encode())

    def _write_parquet(self, table: SweepTable) -> None:
        path = self.folder / ".results.parquet.new"
        table.to_pandas().to_parquet(path, index=False)
        os.replace(path, self.folder / "results.parquet")

    def _replace(self, name: str, content: bytes) -> None:
        """Put a whole file in the place of the one of this name."""
        path = self.folder / f".{name}.new"
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path, self.folder / name)

    def _release(self) -> None:
        for lock in reversed(self._locks):
            lock.release()


@contextmanager
def _writing(folder: Path, what: str) -> Iterator[None]:
    """Raises a ConfigError in place of an OSError: the disk is full, or the folder has gone."""
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"{folder}: the sweep's {what} cannot be written: {error.strerror or error}; what was kept before "
            "stays, and the same sweep goes on with the rest"
        ) from error


def read_outcomes(folder: Path) -> tuple[list[Outcome], list[dict[str, Any]]]:
    """The outcomes and the drivers of all journals of a folder.

    Raises
    ------
    ConfigError : as :func:`astra_py.batch.journal.read_journal`.
    """
    outcomes, drivers = [], []
    for path in sorted(folder.iterdir()):
        if _JOURNAL.fullmatch(path.name):
            some, who = read_journal(path)
            outcomes += some
            drivers += who
    return outcomes, drivers


def _require_empty(folder: Path) -> None:
    if found := sorted(path.name for path in folder.iterdir() if not _LEFT_OVER.fullmatch(path.name)):
        raise ConfigError(
            f"{folder}: the folder is not empty (it holds {found[0]}) and holds no sweep; allowed: an empty or absent "
            "folder, or the same sweep's"
        )


def _require_no_other_count(folder: Path, shard: Shard) -> None:
    """Refuse where a driver of a shard of another count is at work: their shares overlap."""
    for path in sorted(folder.glob(f"{LOCK}.*-of-*")):
        if path.name.endswith(f"-of-{shard.count}"):
            continue
        try:
            FolderLock(folder, path.name).release()
        except ConfigError:
            raise ConfigError(
                f"{folder}: shard {path.name.removeprefix(f'{LOCK}.').replace('-of-', '/')} is at work here, which is "
                f"of another count than {shard.number}/{shard.count}; allowed: shards of one count"
            ) from None


def _clear(folder: Path) -> None:
    """Take away what a sweep left; the manifest last, which says that it is one's."""
    for path in sorted(folder.iterdir()):
        if _JOURNAL.fullmatch(path.name) or path.name in _TABLES:
            path.unlink()
    (folder / MANIFEST).unlink(missing_ok=True)
