# SPDX-License-Identifier: GPL-2.0-only
"""A folder that one process writes to at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from astra_py.errors import ConfigError
from astra_py.results.lock import LOCK, FolderLock


def test_one_holds_it_at_a_time(tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        with pytest.raises(ConfigError, match="another run or sweep"):
            FolderLock(tmp_path)
        # of another name, and what is shared
        FolderLock(tmp_path, ".lock.other").release()
    FolderLock(tmp_path).release()
    assert list(tmp_path.iterdir()) == []


def test_those_who_share_it_hold_it_together(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path, is_shared=True), FolderLock(tmp_path, is_shared=True)
    for lock in (first, second):
        with pytest.raises(ConfigError, match="another run or sweep"):
            FolderLock(tmp_path)
        lock.release()
    FolderLock(tmp_path).release()


def test_folders_that_were_made_for_it_go_unless_something_is_there(tmp_path: Path) -> None:
    with FolderLock(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b" / LOCK).exists()
    assert list(tmp_path.iterdir()) == []
    with FolderLock(tmp_path / "a" / "b"):
        (tmp_path / "a" / "kept").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["kept"]


#: Takes a lock, forks, gives it back, and takes it again while the forked process lives; prints what comes of that.
FORKS = """
import os, sys
from pathlib import Path
from astra_py.results.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
reading, writing = os.pipe()
ready, is_ready = os.pipe()
if os.fork() == 0:
    os.close(writing)
    os.write(is_ready, b"!")
    os.read(reading, 1)
    os._exit(0)
os.read(ready, 1)
os.close(lock._file)
FolderLock(Path(sys.argv[1])).release()
print("free", flush=True)
os.close(writing)
"""


def test_a_forked_process_does_not_hold_it(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKS, str(tmp_path)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("free\n", "")


def test_who_waits_gets_it_in_turn_though_its_file_goes(tmp_path: Path) -> None:
    inside, most = 0, 0
    guard = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with FolderLock(tmp_path, is_waiting=True):
                with guard:
                    inside += 1
                    most = max(most, inside)
                (tmp_path / "content").write_text("x")
                with guard:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_folder_that_cannot_be_written(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written to"):
        FolderLock(tmp_path / folder)
