# SPDX-License-Identifier: GPL-2.0-only
"""Results on disk: one CSV per table, and ``manifest.json``, whose presence says that the folder is whole."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError
from astra_py.results.check import Check
from astra_py.results.columns import TABLES, Columns
from astra_py.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MANIFEST", "read_result", "require_free", "save_result"]

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
    ConfigError : it is not, and ``overwrite`` is not given; or it is no folder, none can be made there, or one of its
        own folders has the name of a table.
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
    if not target.exists() or not any(target.iterdir()):
        return
    if blocked := [name for name in _FILES if (target / name).is_dir()]:
        raise ConfigError(f"{folder}: results cannot be written: {blocked[0]} in it is a folder, not a file")
    if overwrite:
        return
    allowed = "it must be absent, empty or hold results of the same digest (or allow overwriting: --overwrite)"
    if not (target / MANIFEST).is_file():
        raise ConfigError(f"{folder}: the folder is not empty and holds no {MANIFEST}; {allowed}")
    found = _read_manifest(target)["digest"]
    if found != digest:
        raise ConfigError(f"{folder}: the folder holds results of digest {found[:12]}, not {digest[:12]}; {allowed}")


def save_result(result: Result, folder: Path, *, overwrite: bool = False) -> Path:
    """Write ``result`` to ``folder``: into a temporary folder first, then moved.

    Raises
    ------
    ConfigError : see :func:`require_free`; or the folder cannot be written.
    """
    require_free(folder, result.digest, overwrite=overwrite)
    target = _target(folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # inside a folder that exists, which may be another file system's root or the current folder
        near = target if target.exists() else target.parent
        with tempfile.TemporaryDirectory(dir=near, prefix=f".{target.name}.") as aside:
            whole = Path(aside) / target.name
            whole.mkdir()
            _write(result, whole)
            _move(whole, target)
    except OSError as error:
        raise ConfigError(f"{folder}: results cannot be written: {error.strerror or error}") from error
    return folder


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
    """Put the folder ``whole`` in the place of ``folder``; what else lies there stays."""
    if not folder.exists():
        os.replace(whole, folder)
        return
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
