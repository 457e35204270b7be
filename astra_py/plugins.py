# SPDX-License-Identifier: GPL-2.0-only
"""Where algorithms, topologies and workloads come from: the package, installed plug-ins, and files of the user.

All three register themselves with the same decorators, and all come in the same way: a module is imported, and what its
decorators register is found under its name. The package's own modules are listed in :data:`BUILT_IN`; a plug-in names
its modules as entry points of the same group; a file is named where it is used, ``file:PATH.py`` or
``file:PATH.py:NAME``.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Generic, TypeVar

from astra_py.errors import AstraPyError, ConfigError, PluginError, did_you_mean

__all__ = ["BUILT_IN", "FILE", "Registry", "calling", "file_of", "is_of_script", "is_registered", "load_group"]

#: What begins a name that is a file's.
FILE = "file:"

#: The package's own modules by group; ``load_group`` imports them as it imports those of plug-ins.
BUILT_IN: Mapping[str, tuple[str, ...]] = {
    "astra_py.collectives": ("astra_py.collectives",),
    "astra_py.topologies": ("astra_py.platforms", "astra_py.formats"),
    "astra_py.workloads": ("astra_py.workloads", "astra_py.formats"),
    "astra_py.formats": ("astra_py.formats",),
}

T = TypeVar("T")


@dataclass
class _Source:
    """Who registers at the moment, other than the package or a user's own script.

    Attributes
    ----------
    name : for messages.
    own : the table of a file, which nobody else sees: (what, name) to what was registered. None for a plug-in.
    """

    name: str
    own: dict[tuple[str, str], Any] | None = None


@dataclass(frozen=True)
class _File:
    """A user's file as it was when it was loaded."""

    modified_ns: int
    registered: dict[tuple[str, str], Any] = field(default_factory=dict)


_source: ContextVar[_Source | None] = ContextVar("_source", default=None)
_registries: dict[str, list[Registry[Any]]] = {group: [] for group in BUILT_IN}
_loaded: set[str] = set()
_files: dict[Path, _File] = {}


class Registry(Generic[T]):
    """Things of one sort by name.

    Parameters
    ----------
    group : the entry points' group.
    what : what one of them is, such as ``"topology"``.
    is_replaceable : whether a script may register a name again, so that the last one counts; a plug-in, which nobody
        sees, never may.
    """

    def __init__(self, group: str, what: str, *, is_replaceable: bool = False) -> None:
        self._group = group
        self._what = what
        self._is_replaceable = is_replaceable
        self._known: dict[str, T] = {}
        self._of_script: dict[str, T] = {}
        _registries[group].append(self)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def add(self, name: str, thing: T) -> None:
        """Register ``thing``: among all others, or, while a user's file is loaded, for that file only.

        Raises
        ------
        ConfigError : a name that cannot be one, or is taken.
        """
        if not isinstance(name, str) or not name.isidentifier():
            raise ConfigError(f"{self._what} {name!r}: a name is made of letters, digits and '_', such as 'my_own'")
        source = _source.get()
        if source is not None and source.own is not None:
            source.own[self._what, name] = thing
            return
        if name in self._known and not (self._is_replaceable and source is None):
            raise ConfigError(f"{self._what} {name!r} is registered already")
        self._known[name] = thing
        if source is None and not _is_own(thing):
            self._of_script[name] = thing

    def is_of_script(self, name: str) -> bool:
        """Whether ``name`` was registered by a script, so that no other process knows it."""
        return name in self._of_script and self._known.get(name) is self._of_script[name]

    def names(self) -> tuple[str, ...]:
        """Names of all there are, those of plug-ins too, in order of registration.

        Raises
        ------
        ConfigError : a plug-in is broken.
        """
        load_group(self._group)
        return tuple(self._known)

    def find(self, name: str) -> T:
        """What is registered as ``name``, or by the file that it names.

        Raises
        ------
        ConfigError : there is none, with the nearest and all there are; a plug-in or the file is broken.
        """
        if name.startswith(FILE):
            return self._find_in_file(name)
        if name not in self._known:
            allowed = self.names()
            if name not in self._known:
                raise ConfigError(
                    f"unknown {self._what} {name!r}; allowed: {', '.join(allowed)}{did_you_mean(name, allowed)}"
                )
        return self._known[name]

    def _find_in_file(self, name: str) -> T:
        path, wanted = _split(name)
        registered = _load_file(path)
        own = {key: thing for (what, key), thing in registered.items() if what == self._what}
        if not own:
            others = ", ".join(f"{what} {key!r}" for what, key in registered) or "nothing"
            raise ConfigError(f"{path} registers no {self._what}; it registers {others}")
        if wanted is None:
            if len(own) > 1:
                each = ", ".join(f"{FILE}{path}:{key}" for key in own)
                raise ConfigError(f"{path} registers more than one {self._what}; allowed: {each}")
            (thing,) = own.values()
        elif wanted not in own:
            raise ConfigError(f"{path} registers no {self._what} {wanted!r}; allowed: {', '.join(own)}")
        else:
            thing = own[wanted]
        found: T = thing
        return found


def load_group(group: str) -> None:
    """Import the package's own modules of ``group`` and those of installed plug-ins, once.

    Raises
    ------
    ConfigError : a plug-in does not load; names it, its distribution, and what went wrong.
    """
    if group in _loaded:
        return
    _import_built_in()
    _loaded.add(group)
    try:
        for point in entry_points(group=group):
            _load_plugin(point)
    except BaseException:
        _loaded.discard(group)
        raise


def is_registered(group: str, name: str) -> bool:
    """Whether something of ``group`` has this name, by a script or a plug-in.

    Raises
    ------
    ConfigError : a plug-in is broken.
    """
    load_group(group)
    return any(name in registry for registry in _registries[group])


def is_of_script(group: str, name: str) -> bool:
    """Whether something of ``group`` with this name was registered by a script, so that no other process knows it."""
    return any(registry.is_of_script(name) for registry in _registries[group])


def _is_own(thing: object) -> bool:
    """Whether the package itself has ``thing``: a function, or an object with functions in it, as a format."""
    functions = [thing, *(value for value in getattr(thing, "__dict__", {}).values() if callable(value))]
    # what a script makes with exec() may have no module
    modules = [getattr(each, "__module__", None) or "" for each in functions]
    return all(module.partition(".")[0] == __package__ for module in modules)


def _import_built_in() -> None:
    """Import the package's own modules of all groups, so that no plug-in or file is the first to: they are not its."""
    for modules in BUILT_IN.values():
        for module in modules:
            importlib.import_module(module)


def file_of(name: str) -> Path | None:
    """The file that a name such as ``file:PATH.py:NAME`` is about; None where it is about none."""
    return _split(name)[0] if name.startswith(FILE) else None


def _load_plugin(point: EntryPoint) -> None:
    whose = f" of {point.dist.name} {point.dist.version}" if point.dist is not None else ""
    source = f"plug-in {point.name!r}{whose} ({point.group}: {point.value})"
    with _registering(_Source(source)):
        try:
            point.load()
        except Exception as error:
            raise ConfigError(f"{source} does not load: {_what_happened(error)}") from error


def _split(name: str) -> tuple[Path, str | None]:
    """Path and name of ``file:PATH`` or ``file:PATH:NAME``."""
    text = name.removeprefix(FILE)
    head, colon, tail = text.rpartition(":")
    # a path may have colons, too: what follows a name is an identifier
    return (Path(head), tail) if colon and tail.isidentifier() and Path(head).suffix else (Path(text), None)


def _load_file(path: Path) -> Mapping[tuple[str, str], Any]:
    """What a file registers; loaded once, and again when it has changed."""
    if path.suffix != ".py":
        raise ConfigError(f"{FILE}{path}: a file of Python has the suffix .py")
    try:
        modified_ns = path.stat().st_mtime_ns
    except OSError as error:
        raise ConfigError(f"{FILE}{path}: cannot be read: {error.strerror}") from None
    path = path.resolve()
    _import_built_in()
    known = _files.get(path)
    if known is not None and known.modified_ns == modified_ns:
        return known.registered
    # a name of its own for each file and state, so that functions of it can be told apart
    module_name = f"astra_py_file_{path.stem}_{len(_files)}_{modified_ns}"
    spec = spec_from_file_location(module_name, path, loader=SourceFileLoader(module_name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[module_name] = module
    file = _File(modified_ns)
    with _registering(_Source(str(path), file.registered)):
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            raise ConfigError(f"{path}{_line_in(path, error)} does not load: {_what_happened(error)}") from error
    _files[path] = file
    return file.registered


@contextmanager
def calling(what: str, function: Callable[..., object]) -> Iterator[None]:
    """Where a registered function is called: an exception of one that is not the package's own gets its name and line.

    Parameters
    ----------
    what : what the function is, for the message, such as ``"topology 'mine'"``.

    Raises
    ------
    PluginError : in place of any exception of a foreign function but the package's own errors.
    """
    try:
        yield
    except AstraPyError:
        raise
    except Exception as error:
        if function.__module__.partition(".")[0] == __package__:
            raise
        path = Path(getattr(function, "__code__", calling.__code__).co_filename)
        raise PluginError(f"{what}: {path}{_line_in(path, error)}: {_what_happened(error)}") from error


@contextmanager
def _registering(source: _Source) -> Iterator[None]:
    token = _source.set(source)
    try:
        yield
    finally:
        _source.reset(token)


def _what_happened(error: Exception) -> str:
    return str(error) if isinstance(error, AstraPyError) else f"{type(error).__name__}: {error}"


def _line_in(path: Path, error: Exception) -> str:
    """``:LINE`` of the file at which an error came up."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f":{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f":{lines[-1]}" if lines else ""
