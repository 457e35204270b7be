# SPDX-License-Identifier: GPL-2.0-only
"""Tables from files of statistics, and drawn ones."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from astra_py.config import load_scenario
from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import EmbeddingTable, read_dlrm
from astra_py.workloads.dlrm.table_generator import Distribution, TableGenerator
from astra_py.workloads.dlrm.table_statistics import read_table_statistics, write_table_statistics

CSV = """\
# two kinds of tables
name,rows,dim,pooling,dtype,count
user,1000000,64,1,fp16,1

item,500,32,12.5,fp32,2
"""
MODEL = """\
bottom = [13, 64]
top = [64, 1]
interaction = "concatenation"
local_batch = 8
"""

#: Rows, dims and pooling of the first tables of seed 1.
FIRST = [(298_687, 32, 52.43), (7_360_756, 96, 2.12), (1_863_803, 96, 3.13)]


def read(tmp_path: Path, text: str) -> list[EmbeddingTable]:
    path = tmp_path / "tables.csv"
    path.write_text(text, encoding="utf-8")
    return read_table_statistics(path)


def model(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "model.toml"
    path.write_text(MODEL + text, encoding="utf-8")
    return path


def test_a_file_by_hand(tmp_path: Path) -> None:
    item = {"rows": 500, "dim": 32, "pooling": 12.5, "dtype": "fp32"}
    assert read(tmp_path, CSV) == [
        EmbeddingTable(name="user", rows=10**6, dim=64, pooling=1.0, dtype="fp16"),
        EmbeddingTable(name="item_0", **item),  # type: ignore[arg-type]
        EmbeddingTable(name="item_1", **item),  # type: ignore[arg-type]
    ]
    found = read_dlrm(model(tmp_path, '[[tables]]\nfile = "tables.csv"\n'))
    assert [table.name for table in found.tables] == ["user", "item_0", "item_1"]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), count=st.integers(1, 30))
def test_what_is_written_is_read_back(tmp_path: Path, seed: int, count: int) -> None:
    tables = TableGenerator(count=count, seed=seed).tables()
    write_table_statistics(tables, tmp_path / "tables.csv")
    assert read_table_statistics(tmp_path / "tables.csv") == tables


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dtype,count", "dtype,counts", r"tables.csv:2: unknown column 'counts'; did you mean 'count'"),
        ("name,rows,", "name,", r"tables.csv:2: column 'rows' is missing"),
        ("pooling,", "rows,", r"tables.csv:2: a column is there twice"),
        (",64,", ",6.4,", r"tables.csv:3: dim = '6.4'; allowed: a whole number from 1 to 65536"),
        (",1000000,", ",1e6,", r"tables.csv:3: rows = '1e6'"),
        (",12.5,", ",0,", r"tables.csv:5: pooling = '0'; allowed: a number above 0"),
        (",12.5,", ",nan,", r"tables.csv:5: pooling = 'nan'"),
        ("fp32", "fp31", r"tables.csv:5: dtype = 'fp31'; did you mean 'fp32'"),
        ("item", "", r"tables.csv:5: name is empty"),
        ("item,500,32,12.5,fp32,2", "user,1,1,1,fp16,1", r"tables.csv:5: there is a table 'user' at line 3 already"),
        (",fp32,2", ",fp32", r"tables.csv:5: 5 cells; allowed: 6"),
        ("item", '"item', r"tables.csv:5: not a line of CSV"),
        (CSV[22:], "", r"tables.csv: there is no table"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CSV
    with pytest.raises(WorkloadError, match=message):
        read(tmp_path, CSV.replace(old, new, 1))


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_files_raise_nothing_else(tmp_path: Path, count: int) -> None:
    draw = random.Random(2)
    path = tmp_path / "tables.csv"
    for _ in range(count):
        content = bytearray(CSV.encode())
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(content))
            content[at : at + draw.randint(0, 3)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
        path.write_bytes(content)
        try:
            read_table_statistics(path)
        except WorkloadError as error:
            assert str(path) in str(error)  # noqa: PT017  (either outcome is right)


def test_the_same_seed_draws_the_same_tables() -> None:
    first = TableGenerator(count=3).tables()
    assert [(t.rows, t.dim, t.pooling) for t in first] == FIRST
    assert TableGenerator(count=100).tables()[:3] == first
    assert TableGenerator(count=3, seed=2).tables() != first


def test_drawn_figures_have_their_distributions() -> None:
    tables = TableGenerator(count=20_000).tables()
    rows, pooling = np.array([t.rows for t in tables]), np.array([t.pooling for t in tables])
    # medians of log-normal distributions: mean x exp(-sigma^2 / 2)
    assert np.median(rows) == pytest.approx(2.08e6 * math.exp(-2), rel=0.05)
    assert np.median(pooling) == pytest.approx(13.605 * math.exp(-(1.5**2) / 2), rel=0.05)
    assert rows.min() >= 10
    assert rows.max() <= 10**8
    assert pooling.min() >= 1
    assert {t.dim for t in tables} == {32, 64, 96, 128, 144}
    power = Distribution(kind="power_law", exponent=1.5, least=100.0).values((np.arange(1000) + 0.5) / 1000)
    assert np.median(power) == pytest.approx(100 * 2 ** (1 / 1.5), rel=0.01)


def test_a_generator_in_a_description(tmp_path: Path) -> None:
    found = read_dlrm(model(tmp_path, "[generator]\ncount = 3\n"))
    assert [(t.rows, t.dim, t.pooling) for t in found.tables] == FIRST
    text = """\
[[tables]]
name = "own"
rows = 10
dim = 8
pooling = 1
dtype = "fp16"
[generator]
count = 50
seed = 7
dims = [16]
dtype = "fp32"
rows = { distribution = "power_law", exponent = 0.5, least = 100, most = 1e6 }
pooling = { distribution = "constant", mean = 2.5 }
"""
    tables = read_dlrm(model(tmp_path, text)).tables
    assert tables[0].name == "own"
    assert {(t.dim, t.dtype, t.pooling) for t in tables[1:]} == {(16, "fp32", 2.5)}
    assert all(100 <= t.rows <= 10**6 for t in tables[1:])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[generator]\n", r"generator.count: missing"),
        ("[generator]\ncount = 1\nrow = 3\n", r"generator.row: unknown key .*did you mean 'rows'"),
        ("[generator]\ncount = 1\nrows = 3\n", r"generator.rows: 3 is not a table"),
        ('[generator]\ncount = 1\nrows = {distribution = "normal"}\n', r"generator.rows.distribution: 'normal'"),
        ('[generator]\ncount = 1\nrows = {distribution = "log_normal"}\n', r"generator.rows.mean: missing"),
        (
            '[generator]\ncount = 1\npooling = {distribution = "constant", mean = 2, sigma = 1}\n',
            r"generator.pooling.sigma: unknown key",
        ),
        (
            '[generator]\ncount = 1\nrows = {distribution = "power_law", exponent = 1, least = 5, most = 4}\n',
            r"generator.rows.least: 5 is above most = 4",
        ),
        ("[generator]\ncount = 1\ndims = [70000]\n", r"generator.dims: 70000 is too wide"),
        ('[[tables]]\nfile = "none.csv"\n', r"none.csv: cannot be read"),
        ('[[tables]]\nfile = "x.csv"\nrows = 3\n', r"tables\[0\].rows: unknown key"),
    ],
)
def test_a_description_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        read_dlrm(model(tmp_path, text))


def test_a_run_is_another_one_with_other_tables(tmp_path: Path) -> None:
    read(tmp_path, CSV)
    path = model(tmp_path, '[[tables]]\nfile = "tables.csv"\n')
    one = load_scenario({"workload": {"kind": "dlrm", "file": str(path)}}).digest
    read(tmp_path, CSV.replace("500", "501"))
    assert load_scenario({"workload": {"kind": "dlrm", "file": str(path)}}).digest != one
