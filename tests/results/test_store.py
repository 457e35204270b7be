# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import astra_py
from astra_py.errors import ConfigError
from astra_py.results import TABLES, read_result
from astra_py.results.build import build_result
from astra_py.results.result import Result
from astra_py.results.store import require_free
from result_cases import one_collective, with_columns


def _result(digest: str = "a" * 64, size_bytes: int = 40_000) -> Result:
    record = one_collective(size_bytes=size_bytes)
    # NaN and text that looks like none, or like a number, must come back as they went
    names = ("NA", "", "nan", "1e5")
    acked = record.columns.message_acked_ps.copy()
    acked[0] = -1
    changed = with_columns(record, message_acked_ps=acked)
    object.__setattr__(changed.schedule, "names", names)
    object.__setattr__(changed.schedule, "name", np.arange(4))
    return build_result(changed, {"digest": digest})


@pytest.fixture(scope="module")
def result() -> Result:
    return _result()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "out" / "first"
    assert [path.name for path in tmp_path.rglob(".*")] == [], "nothing is left beside the results"


@pytest.mark.parametrize("table", list(TABLES))
def test_tables_come_back_as_they_were(result: Result, folder: Path, table: str) -> None:
    assert result.save(folder) == folder
    pd.testing.assert_frame_equal(astra_py.read_result(folder).table(table), result.table(table), check_exact=True)


def test_the_manifest_and_the_checks_come_back(result: Result, folder: Path) -> None:
    result.save(folder)
    again = read_result(folder)
    assert again.checks == result.checks
    assert again.manifest == result.manifest
    assert again.counters == result.counters
    assert json.loads((folder / "manifest.json").read_text())["tables"]["messages"] == {"rows": 24}


def test_a_folder_of_something_else_is_left_alone(result: Result, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty and holds no manifest"):
        result.save(folder)
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    result.save(folder, overwrite=True)
    assert (folder / "thesis.txt").read_text() == "mine"
    assert read_result(folder).digest == result.digest


def test_another_digest_is_kept_unless_overwriting_is_allowed(folder: Path) -> None:
    _result("a" * 64).save(folder)
    other = _result("b" * 64, size_bytes=80_000)
    with pytest.raises(ConfigError, match=r"holds results of digest a{12}, not b{12}"):
        other.save(folder)
    assert read_result(folder).digest == "a" * 64
    other.save(folder, overwrite=True)
    assert read_result(folder).collectives["size_bytes"].tolist() == [80_000]


def test_the_same_digest_may_be_written_again(result: Result, folder: Path) -> None:
    result.save(folder)
    result.save(folder)
    folder.parent.joinpath("empty").mkdir()
    result.save(folder.parent / "empty")
    assert len(read_result(folder).messages) == 24


def test_while_tables_are_replaced_the_folder_is_not_whole(
    result: Result, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result.save(folder)
    replaced: list[str] = []
    put = os.replace

    def watch(source: Path, target: Path) -> None:
        assert not (folder / "manifest.json").exists()
        replaced.append(Path(target).name)
        put(source, target)

    monkeypatch.setattr(os, "replace", watch)
    result.save(folder)
    assert replaced[-1] == "manifest.json"
    assert {Path(name).stem for name in replaced} == {*TABLES, "TABLES", "run_platform", "manifest"}


def test_a_file_is_no_folder(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(ConfigError, match="results go to a folder, and this is a file"):
        result.save(path, overwrite=True)


def test_a_folder_below_a_file_is_refused_before_the_run(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(ConfigError, match="is no folder that may be written to"):
        require_free(path / "deep" / "out", "a" * 64)


def test_an_unwritten_result_leaves_nothing(result: Result, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(ConfigError, match="results cannot be written: No space left on device"):
        result.save(folder)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("manifest.json", None, "no results here"),
        ("manifest.json", "{", "not a manifest of results"),
        ("manifest.json", "[]", "not a manifest of results in layout 3"),
        ("manifest.json", '{"format": 99}', "not a manifest of results in layout 3"),
        ("manifest.json", '{"format": 3}', "'digest' is missing or no str"),
        ("messages.csv", None, "not the table messages"),
        ("messages.csv", "message\n1\n", "not the table"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused(
    result: Result, folder: Path, name: str, content: str | None, message: str
) -> None:
    result.save(folder)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)
    with pytest.raises(ConfigError, match=message):
        _ = read_result(folder).messages


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"digest": 5}, "'digest' is missing or no str"),
        ({"run": None}, "'run' is missing or no dict"),
        ({"checks": [{"name": "speed"}]}, "a check has not the keys declared, meaning, measured"),
        ({"checks": ["speed"]}, "a check has not the keys declared, meaning, measured"),
        ({"tables": {}}, "rows of table 'iterations' are not given"),
    ],
)
def test_a_manifest_of_something_else_is_refused(
    result: Result, folder: Path, change: dict[str, object], message: str
) -> None:
    result.save(folder)
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | change))
    with pytest.raises(ConfigError, match=f"not a manifest of results: .*{message}"):
        read_result(folder)
    with pytest.raises(ConfigError, match=f"not a manifest of results: .*{message}"):
        require_free(folder, result.digest)
    require_free(folder, result.digest, overwrite=True)


def test_an_empty_folder_may_be_the_current_one_or_behind_a_link(
    result: Result, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (folder.parent / name).mkdir(parents=True)
    monkeypatch.chdir(folder.parent / "here")
    result.save(".")
    assert read_result(".").digest == result.digest
    assert Path("manifest.json").is_file()
    folder.symlink_to("there")
    result.save(folder)
    assert folder.is_symlink()
    assert read_result(folder.parent / "there").digest == result.digest


def test_where_no_folder_can_be_made_is_known_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="/proc is no folder that may be written to"):
        require_free(Path("/proc/x/y"), "a" * 64)
    with pytest.raises(ConfigError, match=r"results cannot be written: .*name too long"):
        require_free(tmp_path / ("a" * 300), "a" * 64)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ConfigError, match=r"results cannot be written: .*loop"):
        require_free(tmp_path / "loop" / "x", "a" * 64)


def test_a_folder_with_the_name_of_a_table_is_refused_and_the_old_result_stays(result: Result, folder: Path) -> None:
    result.save(folder)
    (folder / "messages.csv").unlink()
    (folder / "messages.csv").mkdir()
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(ConfigError, match=r"messages\.csv in it is a folder"):
        require_free(folder, result.digest, overwrite=True)
    with pytest.raises(ConfigError, match=r"messages\.csv in it is a folder"):
        result.save(folder, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_lost_line_of_a_table_is_noticed(result: Result, folder: Path) -> None:
    result.save(folder)
    lines = (folder / "links.csv").read_text().splitlines(keepends=True)
    (folder / "links.csv").write_text("".join(lines[:-1]))
    with pytest.raises(ConfigError, match="not the table of 8 rows"):
        _ = read_result(folder).links


def test_where_results_may_go_can_be_asked_before_the_run(result: Result, folder: Path) -> None:
    require_free(folder, "c" * 64)
    result.save(folder)
    require_free(folder, result.digest)
    with pytest.raises(ConfigError, match="--overwrite"):
        require_free(folder, "c" * 64)
