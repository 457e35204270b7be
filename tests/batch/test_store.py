# SPDX-License-Identifier: GPL-2.0-only
"""The folder of a sweep: one driver at a time, nothing of another sweep, and the same tables whoever made them."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import astra_py.batch.store as store_module
from astra_py.batch import Grid, Point, Shard, Study
from astra_py.batch.journal import Journal
from astra_py.batch.store import Store
from astra_py.batch.table import SweepTable, best_outcomes, results_table
from astra_py.errors import ConfigError
from sweep_cases import SCENARIO, made_up

STUDY = Study.of(SCENARIO, [Grid.of({"platform.link_rate": ["100Gbps", "400Gbps"], "seed": [1, 2, 3]})])
OTHER = Study.of(SCENARIO, [Grid.of({"seed": [1, 2]})])
#: Takes a folder as a driver does, says so, and waits.
HOLDER = """
import sys, time
from pathlib import Path
from astra_py.results.lock import FolderLock
FolderLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


def fill(folder: Path, study: Study = STUDY, shard: Shard = Shard()) -> None:  # noqa: B008
    with Store(folder, study, shard) as store:
        for point in shard.share(list(study.points)):
            store.append(made_up(point.digest))


def test_a_second_driver_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with Store(tmp_path, STUDY) as store:
        with pytest.raises(ConfigError, match="another run or sweep is writing"):
            Store(tmp_path, STUDY)
        with pytest.raises(ConfigError, match="another run or sweep is writing"):
            Store(tmp_path, STUDY, Shard(1, 2))
        store.append(made_up(STUDY.points[0].digest))
    with Store(tmp_path, STUDY) as store:
        assert list(store.done()) == [STUDY.points[0].digest]


def test_a_driver_that_is_killed_leaves_no_lock(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ConfigError, match="another run or sweep is writing"):
            Store(tmp_path, STUDY)
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        fill(tmp_path)
    finally:
        holder.kill()
        holder.communicate()
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 7


def test_shards_are_at_work_at_once_and_their_table_is_that_of_one(tmp_path: Path) -> None:
    fill(tmp_path / "one")
    shards = [Shard(number, 3) for number in (1, 2, 3)]
    stores = [Store(tmp_path / "three", STUDY, shard) for shard in shards]
    with pytest.raises(ConfigError, match="another run or sweep is writing"):
        Store(tmp_path / "three", STUDY, shards[1])
    with pytest.raises(ConfigError, match="another run or sweep is writing"):
        Store(tmp_path / "three", STUDY)
    with pytest.raises(ConfigError, match="shard 1/3 is at work here, which is of another count than 1/2"):
        Store(tmp_path / "three", STUDY, Shard(1, 2))
    for round_ in range(2):
        for store, shard in zip(stores, shards, strict=True):
            store.append(made_up(shard.share(list(STUDY.points))[round_].digest))
    for store in reversed(stores):
        store.close()
    for name in ("results.csv", "spread.csv"):
        assert (tmp_path / "three" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    # and who comes after, alone or as a shard of another count, has nothing left to do
    with Store(tmp_path / "three", STUDY, Shard(2, 2)) as store:
        assert set(store.done()) == {point.digest for point in STUDY.points}


def test_shards_may_begin_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(path: Path) -> Journal:
        journal = Journal(path)
        time.sleep(0.05)
        return journal

    monkeypatch.setattr(store_module, "Journal", slow)
    shards = [Shard(number, 8) for number in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda shard: Store(tmp_path, STUDY, shard), shards))
    for store in stores:
        store.close()
    assert len(list(tmp_path.glob("journal.*.jsonl"))) == 8


@pytest.mark.parametrize("is_overwritten", [False, True])
@pytest.mark.parametrize("step", ["Journal", "read_outcomes", "results_table", "_clear"])
def test_a_driver_that_ends_while_it_begins_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, is_overwritten: bool
) -> None:
    if is_overwritten:
        fill(tmp_path, OTHER)
    done = getattr(store_module, step)

    def ends(*arguments: object) -> None:
        done(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store_module, step, ends)
        if step != "_clear" or is_overwritten:
            with pytest.raises(KeyboardInterrupt):
                Store(tmp_path, STUDY, is_overwritten=is_overwritten)
    fill(tmp_path)
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 7


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, room = os.write, [20]

    def write_some(file: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = write(file, data[: room[0]])
        room[0] -= taken
        return taken

    kept, lost = (point.digest for point in STUDY.points[:2])
    with Store(tmp_path, STUDY) as store:
        store.append(made_up(kept))
        with monkeypatch.context() as patch:
            patch.setattr("astra_py.batch.journal.os.write", write_some)
            with pytest.raises(ConfigError, match="journal cannot be written: No space left on device; what was kept"):
                store.append(made_up(lost))
    with Store(tmp_path, STUDY) as store:
        assert list(store.done()) == [kept]
        store.append(made_up(lost))
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 3


def test_another_sweep_is_refused_unless_it_may_overwrite(tmp_path: Path) -> None:
    fill(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        ConfigError, match=rf"holds the sweep {STUDY.digest[:12]} of 6 points .*, not {OTHER.digest[:12]}"
    ):
        Store(tmp_path, OTHER)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(ConfigError, match="other shards"):
        Store(tmp_path, OTHER, Shard(1, 2), is_overwritten=True)
    with Store(tmp_path, OTHER, is_overwritten=True) as store:
        assert store.done() == {}
    assert (tmp_path / "results.csv").read_text().count("\n") == 1


@pytest.mark.parametrize("is_overwritten", [False, True])
@pytest.mark.parametrize("name", ["manifest.json", "notes.txt"])
def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, name: str, is_overwritten: bool) -> None:
    (tmp_path / name).write_text('{"format": 1, "digest": "a"}')
    with pytest.raises(ConfigError, match=name):
        Store(tmp_path, STUDY, is_overwritten=is_overwritten)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_points_of_another_version_are_not_gone_on_with(tmp_path: Path) -> None:
    fill(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["versions"]["ns3"] = "3.43"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ConfigError, match=r"were run by ns3 3\.43, and this is 3\.44"):
        Store(tmp_path, STUDY)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="a sweep goes to a folder"):
        Store(tmp_path / "file", STUDY)
    with pytest.raises(ConfigError, match="cannot be written"):
        Store(tmp_path / "file" / "below", STUDY)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    st.permutations(range(12)),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_the_table_is_a_function_of_the_set_of_outcomes(order: list[int], is_failed: list[bool]) -> None:
    points = [Point(i, {"seed": str(i)}, f"{i % 6:064x}") for i in range(8)]
    outcomes = [made_up(f"{i % 6:064x}", is_failed=is_failed[i], ended_s=i) for i in range(12)]
    table = results_table(("seed",), points, [outcomes[i] for i in order])
    assert table.to_csv() == results_table(("seed",), points, outcomes).to_csv()
    assert [row["point"] for row in table.rows] == list(range(8))
    for i in range(6):
        best = best_outcomes(outcomes)[f"{i:064x}"]
        assert best.is_ok == (not is_failed[i] or not is_failed[i + 6])
    assert [row["status"] for row in table.rows[:2]] == [row["status"] for row in table.rows[6:]]


def test_the_table_in_memory_is_the_table_on_disk(tmp_path: Path) -> None:
    import pandas as pd

    fill(tmp_path)
    with Store(tmp_path, STUDY) as store:
        table = results_table(STUDY.keys, STUDY.points, store.done().values())
    read = pd.read_csv(tmp_path / "results.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(read, table.to_pandas())
    assert list(read["platform.link_rate_bps"][:1]) == [10**11]


@pytest.mark.parametrize("text", ["a,b", 'a"b', "a\nb", "a\rb", "a\r\nb", " a", "", "'"])
def test_any_text_is_one_cell_of_a_table(text: str) -> None:
    table = SweepTable(("key", "figure"), ({"key": text, "figure": 1}, {"key": "next"}))
    assert table.to_csv().endswith("\nnext,\n")
    assert list(csv.reader(io.StringIO(table.to_csv(), newline=""))) == [["key", "figure"], [text, "1"], ["next", ""]]
