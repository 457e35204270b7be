# SPDX-License-Identifier: GPL-2.0-only
"""A folder that one process writes to at a time.

A lock is a file of the folder that its owner holds by ``flock``: the kernel gives it back when the owner ends, however
it ends, so that no lock is ever left over. A process that the owner forks does not hold it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Self

from astra_py.errors import ConfigError

__all__ = ["LOCK", "FolderLock"]

#: Name of the file that is locked where a folder has one lock.
LOCK = ".lock"


class FolderLock:
    """A lock that is held until :meth:`release`, the end of a ``with``, or the end of the process.

    Parameters
    ----------
    folder : the folder; made where there is none.
    name : of the file that is locked; it begins with ``.lock``.
    is_shared : whether others may hold it, too, who share it as well.
    is_waiting : whether to wait for it as long as it takes.

    Raises
    ------
    ConfigError : another process, or another part of this one, holds it; or the folder cannot be written to.
    """

    def __init__(self, folder: Path, name: str = LOCK, *, is_shared: bool = False, is_waiting: bool = False) -> None:
        self.folder = folder
        self._path = folder / name
        self._is_shared = is_shared
        self._made: list[Path] = []
        self._file = -1
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        try:
            self._make_folders()
            while self._file < 0:
                self._take(kind if is_waiting else kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"{folder}: another run or sweep is writing to this folder; allowed: one at a time (wait for it, or "
                "name another folder)"
            ) from None
        except OSError as error:
            raise ConfigError(f"{folder}: cannot be written to: {error.strerror}") from error
        _HELD.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the lock back, and take away its file, and the folders made for it where nothing else is in them."""
        if self._file < 0:
            return
        if not self._is_shared:
            self._path.unlink(missing_ok=True)
        self._close()
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:  # something lies there
                break

    def _make_folders(self) -> None:
        missing = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)
        self._made = missing

    def _take(self, kind: int) -> None:
        """Lock the file, unless it was removed meanwhile by who held it: then that lock is nobody's, and is left."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(file, kind)
            is_there = _is_file_of(self._path, file)
        except BaseException:
            os.close(file)
            raise
        if is_there:
            self._file = file
        else:
            os.close(file)

    def _close(self) -> None:
        _HELD.discard(self)
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def _is_file_of(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


#: What this process holds.
_HELD: set[FolderLock] = set()


def _close_all() -> None:
    """Close locks in a forked process, which would hold them beyond the end of who took them."""
    for lock in list(_HELD):
        lock._close()


os.register_at_fork(after_in_child=_close_all)
