# SPDX-License-Identifier: GPL-2.0-only
"""Results on disk: a file a table, and ``manifest.json``, whose presence says that the folder is whole."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.engines.base import ExitReason
from astra_py.errors import ConfigError
from astra_py.results.check import Check
from astra_py.results.columns import TABLES
from astra_py.results.lock import LOCK, FolderLock
from astra_py.results.pages import TABLES_PAGE, tables_page
from astra_py.results.result import Result
from astra_py.results.tables_on_disk import FORMATS, read_table, require_writable, write_table
from astra_py.results.volume import Cut, Volume

if TYPE_CHECKING:
    from astra_py.platforms.platform import Platform

__all__ = ["MANIFEST", "PLATFORM", "read_result", "require_free", "reserved", "save_result"]

MANIFEST = "manifest.json"
#: What the run was on, so that nobody has to make it again from files that may be gone.
PLATFORM = "run_platform.json"
#: Version of the layout of a folder of results.
_FORMAT = 3
#: What a folder of results holds, the manifest last.
_FILES = (*(f"{table}.{suffix}" for suffix in FORMATS["both"] for table in TABLES), TABLES_PAGE, PLATFORM, MANIFEST)
#: Keys of every manifest, whatever else it has, and what they hold.
_KEYS = {"digest": str, "engine": str, "seed": int, "platform": dict, "run": dict, "counters": dict} | {
    "checks": list,
    "tables": dict,
}


def require_free(folder: Path, digest: str, *, overwrite: bool = False) -> None:
    """Check that results can be written to ``folder``: absent, empty, or with a result, partial or of the same digest.

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
    manifest = _read_manifest(target)
    found = manifest["digest"]
    # what a stopped run has left is there to be run again, with another limit, say
    if found != digest and _is_whole(manifest):
        raise ConfigError(f"{folder}: the folder holds results of digest {found[:12]}, not {digest[:12]}; {allowed}")


def _is_left_over(path: Path) -> bool:
    """Whether it is what is left where the process that wrote results was killed."""
    return path.name == LOCK or path.name.startswith(f".{path.parent.name}.")


@contextmanager
def reserved(folder: Path, digest: str, *, overwrite: bool = False) -> Iterator[Callable[[Result], bool]]:
    """Keep ``folder`` for a result while it is made, and give the function that writes it there.

    Nobody else writes there meanwhile. Where no result is written, a folder that was made for it goes again. A partial
    result takes the place of a whole one only where overwriting is allowed; the function says whether it wrote.

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
        yield lambda result: _save(result, folder, overwrite=overwrite)


def save_result(result: Result, folder: Path, *, overwrite: bool = False, form: str | None = None) -> Path:
    """Write ``result`` to ``folder``: into a temporary folder first, then moved.

    Raises
    ------
    ConfigError : see :func:`reserved`; or the folder cannot be written, or not in that format.
    """
    with reserved(folder, result.digest, overwrite=overwrite):
        if not _save(result, folder, overwrite=overwrite, form=form):
            raise ConfigError(
                f"{folder}: the folder holds a whole result, and this one is partial; allowed: another folder (or "
                "allow overwriting: --overwrite)"
            )
    return folder


def _save(result: Result, folder: Path, *, overwrite: bool, form: str | None = None) -> bool:
    target = _target(folder)
    if form is None:
        form = str(result.manifest.get("scenario", {}).get("results", {}).get("format", "csv"))
    require_writable(form)
    if result.is_partial and not overwrite and _holds_whole(target):
        return False
    try:
        # inside the folder itself, which may be another file system's root or the current folder
        with tempfile.TemporaryDirectory(dir=target, prefix=f".{target.name}.") as aside:
            whole = Path(aside) / target.name
            whole.mkdir()
            _write(result, whole, form)
            with _uninterrupted():
                _move(whole, target)
    except OSError as error:
        raise ConfigError(f"{folder}: results cannot be written: {error.strerror or error}") from error
    return True


def _holds_whole(folder: Path) -> bool:
    """Whether the folder has a result of a run that came to its end."""
    return (folder / MANIFEST).is_file() and _is_whole(_read_manifest(folder))


def _is_whole(manifest: dict[str, Any]) -> bool:
    return bool(manifest["run"]["exit_reason"] == ExitReason.COMPLETED)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A moment that Ctrl-C comes after, and not in."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _target(folder: Path) -> Path:
    """The folder itself, whatever links and dots lead there; a name that the file system refuses is found here."""
    try:
        target = folder.resolve()
        target.exists()
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{folder}: results cannot be written: {error}") from error
    return target


def _write(result: Result, folder: Path, form: str) -> None:
    rows = {}
    about = {"digest": result.digest, "title": str(result.manifest.get("title", ""))}
    for name in TABLES:
        frame = result.table(name)
        write_table(frame, name, folder, form, about)
        rows[name] = len(frame)
    (folder / TABLES_PAGE).write_text(tables_page(result))
    if (platform := result.kept_platform) is not None:
        from astra_py.formats.platform_json import write_platform

        write_platform(platform, folder / PLATFORM)
    cut = result.cut
    manifest = {
        "format": _FORMAT,
        **result.manifest,
        "checks": [asdict(check) for check in result.checks],
        "tables": {
            name: {"rows": count} | ({"of": cut[name].of, "kept": cut[name].how} if name in cut else {})
            for name, count in rows.items()
        },
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, allow_nan=False) + "\n")


def _move(whole: Path, folder: Path) -> None:
    """Put what ``whole`` has into ``folder``; what else lies there stays."""
    # without a manifest the folder counts as not whole: it goes first and comes last
    (folder / MANIFEST).unlink(missing_ok=True)
    for name in _FILES:
        if (whole / name).exists():
            os.replace(whole / name, folder / name)
        else:
            # of an earlier result in another format
            (folder / name).unlink(missing_ok=True)


def read_result(folder: str | Path) -> Result:
    """Read results that :meth:`Result.save` wrote; tables are read when first asked for.

    Raises
    ------
    ConfigError : the folder holds no whole result, or one of another layout.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    rows = manifest.pop("tables")
    volume = Volume(None, {})
    volume.cut = {name: Cut(of["rows"], of["of"], of["kept"]) for name, of in rows.items() if "of" in of}
    checks = tuple(Check(**check) for check in manifest.pop("checks"))
    del manifest["format"]
    platform = partial(_read_platform, folder / PLATFORM) if (folder / PLATFORM).is_file() else None
    return Result(lambda table: read_table(table, folder, rows[table]["rows"]), checks, manifest, volume, platform)


def _read_platform(path: Path) -> Platform:
    from astra_py.formats.platform_json import read_platform

    return read_platform(path)


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
    if not isinstance(manifest["run"].get("exit_reason"), str):
        raise ConfigError(f"{path}: not a manifest of results: how the run ended is not said")
    for table in TABLES:
        rows = manifest["tables"].get(table)
        if not isinstance(rows, dict) or not isinstance(rows.get("rows"), int):
            raise ConfigError(f"{path}: not a manifest of results: the rows of table {table!r} are not given")
    names = {field.name for field in fields(Check)}
    if any(not isinstance(check, dict) or set(check) != names for check in manifest["checks"]):
        raise ConfigError(f"{path}: not a manifest of results: a check has not the keys {', '.join(sorted(names))}")
    return manifest
