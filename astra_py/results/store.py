# SPDX-License-Identifier: GPL-2.0-only
"""Results on disk: one CSV per table, and ``manifest.json``, whose presence says that the folder is whole."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError
from astra_py.results.check import Check
from astra_py.results.columns import TABLES, Columns
from astra_py.results.lock import LOCK, FolderLock
from astra_py.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MANIFEST", "read_result", "require_free", "reserved", "save_result"]

MANIFEST = "manifest.json"
#: Version of the layout of a folder of results.
_FORMAT = 2
#: What a folder of results holds, the manifest last.
_FILES = (*(f"{table}.csv" for table in TABLES), MANIFEST)
#: Keys of every manifest, whatever else it has, and what they hold.
_KEYS = {"digest": str, "engine": str, "seed": int, "platform": dict, "run": dict, "counters": dict} | {
    "checks": list,
    "tables": dict,
}


def require_free(folder: Path, digest: str, *, overwrite: bool = False) -> None:
    """Check that results can be written to ``folder``: it is absent, empty, or holds a result of the same digest.

    That a folder can be made there is tried, and what was made is taken away again.

    Raises
    ------
    ConfigError : it is not, and ``overwrite`` is not given; or it is no folder, none can be made there, one of its
        own folders has the name of a table, or it holds a sweep.
    """
    target = _target(folder)
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{folder}: results go to a folder, and this is a file")
    # a link that is left here leads nowhere but to itself
    nearest = next(path for path in (target, *target.parents) if path.exists() or path.is_symlink())
    try:
        tempfile.TemporaryDirectory(dir=nearest, prefix=".").cleanup()
    except OSError as error:
        raise ConfigError(
            f"{folder}: results cannot be written: {nearest} is no folder that may be written to ({error.strerror})"
        ) from error
    if not target.exists() or all(_is_left_over(path) for path in target.iterdir()):
        return
    if blocked := [name for name in _FILES if (target / name).is_dir()]:
        raise ConfigError(f"{folder}: results cannot be written: {blocked[0]} in it is a folder, not a file")
    # the truth of a sweep, which may be the work of days, and nothing without its manifest
    if journals := sorted(target.glob("journal*.jsonl")):
        raise ConfigError(
            f"{folder}: the folder holds a sweep ({journals[0].name}), whose manifest results would replace; allowed: "
            "another folder"
        )
    if overwrite:
        return
    allowed = "it must be absent, empty or hold results of the same digest (or allow overwriting: --overwrite)"
    if not (target / MANIFEST).is_file():
        raise ConfigError(f"{folder}: the folder is not empty and holds no {MANIFEST}; {allowed}")
    found = _read_manifest(target)["digest"]
    if found != digest:
        raise ConfigError(f"{folder}: the folder holds results of digest {found[:12]}, not {digest[:12]}; {allowed}")


def _is_left_over(path: Path) -> bool:
    """Whether it is what is left where the process that wrote results was killed."""
    return path.name == LOCK or path.name.startswith(f".{path.parent.name}.")


@contextmanager
def reserved(folder: Path, digest: str, *, overwrite: bool = False) -> Iterator[Callable[[Result], None]]:
    """Keep ``folder`` for a result while it is made, and give the function that writes it there.

    Nobody else writes there meanwhile. Where no result is written, a folder that was made for it goes again.

    Parameters
    ----------
    folder, digest, overwrite : as :func:`require_free` takes them.

    Raises
    ------
    ConfigError : see :func:`require_free`; or another run or sweep is writing there.
    """
    require_free(folder, digest, overwrite=overwrite)
    with FolderLock(_target(folder)):
        # what was there may have changed before it was locked
        require_free(folder, digest, overwrite=overwrite)
        yield lambda result: _save(result, folder)


def save_result(result: Result, folder: Path, *, overwrite: bool = False) -> Path:
    """Write ``result`` to ``folder``: into a temporary folder first, then moved.

    Raises
    ------
    ConfigError : see :func:`reserved`; or the folder cannot be written.
    """
    with reserved(folder, result.digest, overwrite=overwrite) as save:
        save(result)
    return folder


def _save(result: Result, folder: Path) -> None:
    target = _target(folder)
    try:
        # inside the folder itself, which may be another file system's root or the current folder
        with tempfile.TemporaryDirectory(dir=target, prefix=f".{target.name}.") as aside:
            whole = Path(aside) / target.name
            whole.mkdir()
            _write(result, whole)
            _move(whole, target)
    except OSError as error:
        raise ConfigError(f"{folder}: results cannot be written: {error.strerror or error}") from error


def _target(folder: Path) -> Path:
    """The folder itself, whatever links and dots lead there; a name that the file system refuses is found here."""
    try:
        target = folder.resolve()
        target.exists()
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{folder}: results cannot be written: {error}") from error
    return target


def _write(result: Result, folder: Path) -> None:
    rows = {}
    for name in TABLES:
        frame = result.table(name)
        frame.to_csv(folder / f"{name}.csv", index=False)
        rows[name] = len(frame)
    manifest = {
        "format": _FORMAT,
        **result.manifest,
        "checks": [asdict(check) for check in result.checks],
        "tables": {name: {"rows": count} for name, count in rows.items()},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, allow_nan=False) + "\n")


def _move(whole: Path, folder: Path) -> None:
    """Put what ``whole`` has into ``folder``; what else lies there stays."""
    # without a manifest the folder counts as not whole: it goes first and comes last
    (folder / MANIFEST).unlink(missing_ok=True)
    for name in _FILES:
        os.replace(whole / name, folder / name)


def read_result(folder: str | Path) -> Result:
    """Read results that :meth:`Result.save` wrote; tables are read when first asked for.

    Raises
    ------
    ConfigError : the folder holds no whole result, or one of another layout.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    rows = manifest.pop("tables")
    checks = tuple(Check(**check) for check in manifest.pop("checks"))
    del manifest["format"]
    return Result(lambda table: _read_table(folder, table, rows[table]["rows"]), checks, manifest)


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text())
    except FileNotFoundError:
        raise ConfigError(f"{folder}: no results here: there is no {MANIFEST}") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not a manifest of results: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise ConfigError(f"{path}: not a manifest of results in layout {_FORMAT}")
    for key, kind in _KEYS.items():
        if not isinstance(manifest.get(key), kind):
            raise ConfigError(f"{path}: not a manifest of results: {key!r} is missing or no {kind.__name__}")
    for table in TABLES:
        rows = manifest["tables"].get(table)
        if not isinstance(rows, dict) or not isinstance(rows.get("rows"), int):
            raise ConfigError(f"{path}: not a manifest of results: the rows of table {table!r} are not given")
    names = {field.name for field in fields(Check)}
    if any(not isinstance(check, dict) or set(check) != names for check in manifest["checks"]):
        raise ConfigError(f"{path}: not a manifest of results: a check has not the keys {', '.join(sorted(names))}")
    return manifest


def _read_table(folder: Path, table: str, rows: int) -> Columns:
    import pandas as pd

    columns = TABLES[table]
    path = folder / f"{table}.csv"
    try:
        frame: pd.DataFrame = pd.read_csv(
            path,
            dtype={column.name: column.dtype for column in columns if column.dtype != "float64"},
            # pandas' own reading of floats is not exact in all of its versions
            converters={column.name: _to_float for column in columns if column.dtype == "float64"},
            keep_default_na=False,
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not the table {table}: {error}") from error
    if len(frame) != rows or list(frame.columns) != [column.name for column in columns]:
        raise ConfigError(f"{path}: not the table of {rows} rows that {MANIFEST} names")
    return {column.name: frame[column.name].to_numpy() for column in columns}


def _to_float(text: str) -> float:
    return float(text or "nan")
