# SPDX-License-Identifier: GPL-2.0-only
"""Looking at files of the field and writing them as others: ``astra-py inspect`` and ``astra-py convert``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.config.load import load_scenario
from astra_py.errors import ConfigError
from astra_py.formats.registry import (
    Document,
    Format,
    Kind,
    Options,
    find_format,
    format_names,
    read,
)
from astra_py.platforms import build_platform

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["convert", "inspect"]

#: Keys that say what the command line says: which file it is, and of what format.
_OF_THE_FILE = ("workload.kind", "workload.file", "workload.format")


def inspect(path: str | Path, format: str | None = None, *, is_strict: bool = False) -> Document:
    """Read a file, recognise its format where none is given, and check all that can be checked of it.

    Parameters
    ----------
    path : the file, or what the names of one file a rank begin with.
    format : the name of its format.
    is_strict : whether what is only warned of is an error.

    Raises
    ------
    ConfigError : no format has this name.
    TopologyError, WorkloadError : the file is not understood, or of a format that is not known.
    """
    document = read(path, format, options=Options(is_strict=is_strict))
    if find_format(format or document.format).kind is Kind.PLATFORM:
        document.content()
    return document


def convert(
    source: str | Path,
    target: str | Path,
    to: str | None = None,
    *,
    overrides: Sequence[str] = (),
    format: str | None = None,
    ranks: int | None = None,
    is_strict: bool = False,
    is_overwriting: bool = False,
) -> tuple[str, ...]:
    """Write a file as one of another format, and return what was read and written, a sentence each.

    Parameters
    ----------
    source : the file, or what the names of one file a rank begin with.
    target : what to write; its suffix tells the format where ``to`` does not.
    to : the name of the format to write.
    overrides : ``"key.path=value"`` of ``[workload]`` and ``[platform]``, as of the scenario that a workload file is
        given in: what becomes of ranks without a file, say. It is done once, on a switch, unless they say otherwise.
    format : the name of the source's format; recognised where it is None.
    ranks : number of ranks, where the source fits any.
    is_strict : whether what is only warned of is an error.
    is_overwriting : whether ``target`` may be there already.

    Raises
    ------
    ConfigError : no format has such a name or suffix, the one wanted cannot be made of the source, ``target`` is
        there already or cannot be written, or ``overrides`` are not allowed, or not beside such a source.
    TopologyError, WorkloadError : the source is not understood, or what is in it cannot be said in the other format.
    """
    source, target = Path(source), Path(target)
    options = Options(is_strict=is_strict, ranks=ranks, is_overwriting=is_overwriting)
    document = read(source, format, options=options)
    kind = find_format(format or document.format).kind
    wanted = _wanted(document, kind, target, to)
    if target.exists() and not is_overwriting:
        raise ConfigError(f"{target}: is there already; allowed: another name, or --overwrite")
    if target.exists() and os.path.samefile(source, target):
        raise ConfigError(f"{target}: is the source itself; allowed: another name")
    assert wanted.write is not None
    notes = document.notes
    if kind is Kind.WORKLOAD:
        named = format or document.format
        options, notes = replace(options, scenario=_scenario(document, named, ranks, overrides)), ()
    elif overrides:
        raise ConfigError(
            f"{overrides[0]}: {source} is a {kind} file, and only a workload is written as a scenario makes it"
        )
    try:
        written = wanted.write(document, target, options)
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written: {error.strerror}") from error
    return (*notes, *written)


def _scenario(document: Document, format: str, ranks: int | None, overrides: Sequence[str]) -> Scenario:
    """The scenario that a workload file is given in, of as many ranks as the file or ``ranks`` says."""
    for override in overrides:
        key = override.partition("=")[0].strip()
        if key in _OF_THE_FILE or not key.startswith(("workload.", "platform.")):
            raise ConfigError(
                f"{override}: not taken by a conversion; allowed: keys of [workload] but kind, file and format, and of "
                "[platform]"
            )
    known = document.ranks if ranks is None else ranks
    tree: dict[str, Any] = {
        "workload": {"file": str(document.path), "format": format, "iterations": 1},
    }
    is_sized = any(override.startswith("platform.") for override in overrides)
    if not is_sized:
        if known is None:
            raise ConfigError(f"{document.path}: fits any number of ranks; allowed: --ranks, a number of them")
        tree["platform"] = {"kind": "single_switch", "ranks": known}
    scenario = load_scenario(tree, overrides)
    if is_sized and known not in (None, there := build_platform(scenario.platform).ranks):
        raise ConfigError(f"{document.path}: {known} ranks are wanted, and the platform has {there}")
    return scenario


def _wanted(document: Document, kind: Kind, target: Path, to: str | None) -> Format:
    """The format to write."""
    able = [each for name in format_names() if kind in (each := find_format(name)).writes]
    if not able:
        script = "; in Python, write_chakra of astra_py.formats writes the trace of astra_py.load(...)"
        hint = script if kind is Kind.SCENARIO else ""
        raise ConfigError(f"{document.path}: a {kind} file is only read; no format is written from one{hint}")
    listed = ", ".join(f"{each.name!r} ({' '.join(each.suffixes)})" for each in able)
    if to is not None:
        wanted = find_format(to)
        if wanted not in able:
            raise ConfigError(f"{document.path}: a {kind} file cannot be written as {to!r}; allowed: {listed}")
        return wanted
    fitting = [each for each in able if target.name.endswith(each.suffixes)]
    if len(fitting) != 1:
        problem = "a suffix tells no format" if not fitting else "a suffix tells several formats"
        raise ConfigError(f"{target}: {problem} of {kind} files; allowed: {listed}, or --to with one of their names")
    return fitting[0]
