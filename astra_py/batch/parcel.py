# SPDX-License-Identifier: GPL-2.0-only
"""A point to send to a machine that has none of its files: its effective configuration, and its files' bytes beside."""

from __future__ import annotations

import copy
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import astra_py
from astra_py.api import versions_here
from astra_py.batch.point import Point
from astra_py.batch.study import Study
from astra_py.config.input_files import input_files
from astra_py.config.load import map_paths
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["Bundle", "Packer", "Parcel", "code_here"]


@dataclass(frozen=True)
class Bundle:
    """Files that lie in one folder.

    Attributes
    ----------
    files : name and contents of each.
    """

    files: tuple[tuple[str, bytes], ...]

    @property
    def digest(self) -> str:
        """SHA-256 of names and contents."""
        found = hashlib.sha256()
        for name, contents in self.files:
            found.update(f"{len(name)} {name} {len(contents)} ".encode())
            found.update(contents)
        return found.hexdigest()

    def place(self, folder: Path) -> None:
        """Write the files into ``folder``, all at once; nothing happens where it is there."""
        if folder.is_dir():
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=folder.parent))
        for name, contents in self.files:
            (new / name).write_bytes(contents)
        with suppress(OSError):  # another thread was faster
            os.rename(new, folder)
        shutil.rmtree(new, ignore_errors=True)


@dataclass(frozen=True)
class Parcel:
    """A point without its files.

    Attributes
    ----------
    index, digest : the point's.
    tree : its effective configuration; a path in it is that of a bundle's file, ``DIGEST/NAME``.
    paths : of each path in ``tree``, the one that it stands for.
    bundles : digests of the bundles that it needs, in order.
    put_aside : keys that its scenario puts aside, which ``tree`` does not have.
    code : what :func:`code_here` gave where it was packed.
    """

    index: int
    digest: str
    tree: Mapping[str, Any]
    paths: Mapping[str, str]
    bundles: tuple[str, ...]
    put_aside: tuple[str, ...]
    code: Mapping[str, str]

    def unpack(self, folder: Path) -> tuple[Study, Point]:
        """The point, and a study of it alone, with bundles placed in ``folder``, each in one of its digest's name.

        Raises
        ------
        ConfigError : the package or what it stands on is not the same here.
        """
        here = code_here()
        if different := [name for name in self.code if self.code[name] != here.get(name)]:
            each = ", ".join(f"{name} {here.get(name)} and not {self.code[name]}" for name in different)
            raise ConfigError(f"{os.uname().nodename} has {each}; allowed: the same on all machines of a sweep")
        tree = copy.deepcopy(dict(self.tree))
        map_paths(tree, lambda path: str(folder / path))
        return Study("a point", tree, (), folder, put_aside=self.put_aside), Point(self.index, {}, self.digest)

    def retold(self, text: str, folder: Path) -> str:
        """``text`` with the paths that it would have where the point was packed."""
        for path, original in self.paths.items():
            text = text.replace(str(folder / path), original)
        return text


class Packer:
    """Packs the points of one study; each file is read once.

    Attributes
    ----------
    bundles : all bundles so far by digest; who has sent one may take it out.
    """

    def __init__(self) -> None:
        self.bundles: dict[str, Bundle] = {}
        self._known: dict[Path, str] = {}

    def pack(self, point: Point, scenario: Scenario) -> Parcel:
        """Pack a point.

        Raises
        ------
        ConfigError : a file cannot be read.
        """
        paths: dict[str, str] = {}
        bundles: list[str] = []

        def placed(text: str) -> str:
            path, name = _split(text)
            digest = self._bundle_of(path)
            if digest is None:
                return text
            paths[f"{digest}/{path.name}"] = str(path)
            if digest not in bundles:
                bundles.append(digest)
            return f"{digest}/{path.name}{name}"

        tree = scenario.resolved()
        map_paths(tree, placed)
        return Parcel(
            point.index, point.digest, tree, paths, tuple(bundles), put_aside=scenario.put_aside, code=code_here()
        )

    def _bundle_of(self, path: Path) -> str | None:
        """Digest of the bundle of the files that ``path`` names; None where there are none."""
        if path not in self._known:
            files = input_files(path).values()
            if not files:
                return None
            try:
                bundle = Bundle(tuple((file.name, file.read_bytes()) for file in files))
            except OSError as error:
                raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
            self._known[path] = bundle.digest
            self.bundles[bundle.digest] = bundle
        return self._known[path]


def _split(text: str) -> tuple[Path, str]:
    """A path, and the ``:NAME`` that may end it."""
    head, colon, name = text.rpartition(":")
    if colon and name.isidentifier() and not Path(text).exists():
        return Path(head), f"{colon}{name}"
    return Path(text), ""


@cache
def code_here() -> dict[str, str]:
    """What results depend on beside the configuration: version and sources of the package, versions under it."""
    sources = hashlib.sha256()
    folder = Path(astra_py.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        sources.update(file.relative_to(folder).as_posix().encode())
        sources.update(file.read_bytes())
    found = {name: text for name, text in versions_here().items() if name != "python"}
    return found | {"sources of astra_py": sources.hexdigest()[:12]}
