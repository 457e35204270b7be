# SPDX-License-Identifier: GPL-2.0-only
"""Tables as Parquet: the same as CSV, with units and meanings."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import astra_py as ap
from astra_py.errors import ConfigError
from astra_py.results.columns import TABLES
from small_job import write_job

parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ap.Result:
    return ap.load(write_job(tmp_path_factory.mktemp("job")), "engine=analytic", "results.format=parquet").run()


def test_a_scenario_says_what_is_written(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path)
    assert sorted(path.stem for path in tmp_path.glob("*.parquet")) == sorted(TABLES)
    assert not list(tmp_path.glob("*.csv"))


@pytest.mark.parametrize("form", ["csv", "parquet", "both"])
def test_tables_come_back_as_they_were(result: ap.Result, tmp_path: Path, form: str) -> None:
    result.save(tmp_path, format=form)
    again = ap.read_result(tmp_path)
    for name in TABLES:
        pd.testing.assert_frame_equal(again.table(name), result.table(name), check_exact=True)
        # also those of a table without rows
        for column in TABLES[name]:
            assert column.dtype == "str" or again.columns(name)[column.name].dtype == column.dtype, (name, column.name)


def test_files_of_another_format_go_when_results_are_written_anew(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path, format="both")
    assert list(tmp_path.glob("*.csv"))
    result.save(tmp_path, format="parquet")
    assert not list(tmp_path.glob("*.csv"))


def test_columns_say_unit_and_meaning_and_files_the_digest(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path)
    for name, columns in TABLES.items():
        schema = parquet.read_schema(tmp_path / f"{name}.parquet")
        assert schema.metadata[b"digest"].decode() == result.digest
        assert [field.name for field in schema] == [column.name for column in columns]
        for field, column in zip(schema, columns, strict=True):
            assert str(field.type) == {"int64": "int64", "float64": "double", "str": "string"}[column.dtype]
            assert field.metadata[b"meaning"].decode() == column.meaning
    units = {
        field.name: field.metadata[b"unit"].decode()
        for name in ("messages", "collectives", "links")
        for field in parquet.read_schema(tmp_path / f"{name}.parquet")
    }
    told = {"posted_us": "us", "posted_ps": "ps", "size_bytes": "B", "busbw_GBps": "GB/s", "rate_Gbps": "Gb/s"}
    assert {name: units[name] for name in told} == told
    assert units["utilisation_percent"] == "%"
    assert units["name"] == ""


def test_without_the_extra_it_says_what_to_install(
    result: ap.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError, match=r"results.format = 'parquet' needs pyarrow; .*astra-py\[parquet\]"):
        result.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_named(result: ap.Result, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="format 'feather'; allowed: csv, parquet, both"):
        result.save(tmp_path / "out", format="feather")
