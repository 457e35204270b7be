# SPDX-License-Identifier: GPL-2.0-only
"""Formats of files by name, and how a file's format is recognised from its content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError, TopologyError, WorkloadError
from astra_py.formats.head import Head, foreign_title
from astra_py.plugins import Registry

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig, Scenario
    from astra_py.platforms import Platform
    from astra_py.workloads import Job

__all__ = [
    "Document",
    "Format",
    "JobMaker",
    "Kind",
    "Options",
    "PlatformMaker",
    "error_of",
    "find_format",
    "format_names",
    "read",
    "recognise",
    "register_format",
]


class Kind(StrEnum):
    """What a file is about, and so the type of :attr:`Document.content`."""

    WORKLOAD = "workload"  # JobMaker
    PLATFORM = "platform"  # PlatformMaker
    TRANSPORT = "transport"  # settings: tables of scenario keys
    SYSTEM = "system"  # settings: tables of scenario keys
    FLOWS = "flows"  # FlowList
    SCHEDULE = "schedule"  # Template
    MEASUREMENTS = "measurements"  # DataFrame
    PLAN = "plan"  # Plan
    SCENARIO = "scenario"  # Scenario


#: What makes the job of a workload file for a number of ranks, with the scenario's ``[workload]``.
JobMaker = Callable[["Scenario", int], "Job"]

#: What builds the platform of a file: reading takes memory by the file's size, building by the platform's.
PlatformMaker = Callable[[], "Platform"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a reader or a writer is told beside the path.

    Attributes
    ----------
    is_strict : whether what is only warned of is an error.
    ranks : number of ranks of the job or the platform, or None where it is not known.
    is_overwriting : whether a writer of several files may write over such that are there.
    dims : sizes of the network's dimensions, that of neighbouring ranks first, or None where they are not known.
    given : key paths that the scenario gives, such as ``"transport.ack"``, and that so override the file.
    platform : the scenario's ``[platform]``, where a platform is read: what its file does not say.
    scenario : where a workload is written, what its job is made for.
    """

    is_strict: bool = False
    ranks: int | None = None
    is_overwriting: bool = False
    dims: tuple[int, ...] | None = None
    given: frozenset[str] = frozenset()
    platform: PlatformConfig | None = None
    scenario: Scenario | None = None


@dataclass(frozen=True, kw_only=True)
class Document:
    """What was read from a file.

    Attributes
    ----------
    format : the format's name.
    path : the file.
    content : as :class:`Kind` says.
    summary : what was taken, a sentence each, with units.
    ignored : what the file says and what was not taken, a sentence each.
    warnings : what a user may not expect, a sentence each; none with :attr:`Options.is_strict`.
    ranks : number of ranks that the content is for; None where it fits any.
    """

    format: str
    path: Path
    content: Any
    summary: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ranks: int | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """All sentences, for a report: what was taken, then what one may not expect, then what was ignored."""
        return (*self.summary, *self.warnings, *(f"ignored: {what}" for what in self.ignored))


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of files.

    Attributes
    ----------
    name : what ``workload.format``, ``astra-py convert --to`` and the like call it.
    title : what people call it.
    kind : what its files are about.
    recognises : whether a file is of this format, by its path and :class:`~astra_py.formats.head.Head`; it raises
        nothing, and is right about no file of another format.
    read : reads a file. Raises :class:`~astra_py.errors.TopologyError` for a platform and
        :class:`~astra_py.errors.WorkloadError` for anything else, and no other exception whatever the file holds; the
        message has the file, then line, node id or byte offset. Its memory is bounded by a small multiple of the file.
    write : writes the content of a document of a kind in ``writes`` to a path that is not there yet, and returns what
        it wrote, a sentence each, after the job's notes where it is a workload; None where the format is only read.
    writes : the kinds of documents that it can be made of.
    suffixes : how the names of its files end, by which ``astra-py convert`` knows it.
    """

    name: str
    title: str
    kind: Kind
    recognises: Callable[[Path, Head], bool]
    read: Callable[[Path, Options], Document]
    write: Callable[[Document, Path, Options], tuple[str, ...]] | None = None
    writes: frozenset[Kind] = frozenset()
    suffixes: tuple[str, ...] = ()


_formats: Registry[Format] = Registry("astra_py.formats", "format")


def register_format(format: Format) -> Format:
    """Register a format under its name.

    Raises
    ------
    ConfigError : the name cannot be one, or is taken.
    """
    _formats.add(format.name, format)
    return format


def format_names(*kinds: Kind) -> tuple[str, ...]:
    """Names of the formats of some kinds, or of all, those of plug-ins too, in order of registration.

    Raises
    ------
    ConfigError : a plug-in is broken.
    """
    return tuple(name for name in _formats.names() if not kinds or _formats.find(name).kind in kinds)


def find_format(name: str) -> Format:
    """Return the format of this name.

    Raises
    ------
    ConfigError : there is none; names the nearest and all there are.
    """
    return _formats.find(name)


def error_of(kind: Kind) -> type[TopologyError] | type[WorkloadError]:
    """Return the class of errors about files of a kind."""
    return TopologyError if kind is Kind.PLATFORM else WorkloadError


def recognise(path: str | Path, *kinds: Kind) -> Format:
    """Return the format of a file, from its content.

    Parameters
    ----------
    path : the file, or what the names of one file a rank begin with.
    kinds : what it may be about; anything where there are none.

    Raises
    ------
    TopologyError, WorkloadError : it cannot be read, is of no format that is known, or is of another kind; says what it
        seems to be instead. A TopologyError only where a platform alone is wanted.
    """
    path = Path(path)
    error = error_of(kinds[0] if len(kinds) == 1 else Kind.WORKLOAD)
    try:
        head = Head.of(path)
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    known = [_formats.find(name) for name in _formats.names()]
    found = [format for format in known if format.recognises(path, head)]
    fitting = [format for format in found if not kinds or format.kind in kinds]
    if len(fitting) == 1:
        return fitting[0]
    wanted = [format for format in known if not kinds or format.kind in kinds]
    allowed = "; allowed: " + ", ".join(f"{format.title} ({format.name!r})" for format in wanted)
    if len(fitting) > 1:
        names = " and ".join(repr(format.name) for format in fitting)
        raise error(f"{path}: its content may be {names}; say which")
    seems = f"is {found[0].title}, a {found[0].kind} file" if found else foreign_title(head) or "is not recognised"
    needed = f", and a {' or '.join(kinds)} file is needed" if kinds else ""
    raise error(f"{path}: {seems}{needed}{allowed}")


def read(
    path: str | Path, format: str | None = None, *, kinds: tuple[Kind, ...] = (), options: Options | None = None
) -> Document:
    """Read a file of the field.

    Parameters
    ----------
    path : the file, or what the names of one file a rank begin with.
    format : the name of its format; recognised from the content where it is None.
    kinds : what it may be about; anything where there are none.
    options : see :class:`Options`.

    Raises
    ------
    ConfigError : no format has this name, or it is of another kind.
    TopologyError, WorkloadError : the file is not understood; see :func:`recognise` and :class:`Format`.
    """
    path, options = Path(path), options or Options()
    found = recognise(path, *kinds) if format is None else find_format(format)
    if kinds and found.kind not in kinds:
        raise ConfigError(
            f"{path}: format {found.name!r} is of {found.kind} files, and a {' or '.join(kinds)} file is needed; "
            f"allowed: {', '.join(format_names(*kinds))}"
        )
    document = found.read(path, options)
    if options.is_strict and document.warnings:
        raise error_of(found.kind)(f"{document.warnings[0]} (strict: an error)")
    return document
