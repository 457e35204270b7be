# SPDX-License-Identifier: GPL-2.0-only
"""Reading a DLRM's description: what is taken, and what is refused with file, key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.config.workload import dlrm_presets
from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm import LayerTimes, read_dlrm

GOOD = """
bottom = [13, 8]
top = [4, 1]
interaction = "concatenation"
local_batch = 10
[dtypes]
weights = "fp16"
[[tables]]
name = "a"
rows = 100
dim = 8
pooling = 1.5
dtype = "fp16"
[[tables]]
name = "b"
count = 2
rows = 10
dim = 4
pooling = 3
dtype = "fp32"
"""

TIMES = """
[compute]
lookup = "1us"
update = "2us"
interaction_forward = "3ns"
interaction_backward = "4ns"
bottom = [{ forward = "1ns", weight_gradient = "2ns", input_gradient = "3ns" }]
top = [
    { forward = "4ns", weight_gradient = "5ns", input_gradient = "6ns" },
    { forward = "7ns", weight_gradient = "8ns", input_gradient = "9ns" },
]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_what_a_file_says_is_taken(tmp_path: Path) -> None:
    model = read_dlrm(write(tmp_path, GOOD))
    assert (model.name, model.bottom, model.top, model.local_batch) == ("mine", (13, 8), (4, 1), 10)
    assert [(t.name, t.rows, t.dim, t.pooling, t.dtype) for t in model.tables] == [
        ("a", 100, 8, 1.5, "fp16"),
        ("b_0", 10, 4, 3, "fp32"),
        ("b_1", 10, 4, 3, "fp32"),
    ]
    assert (model.dtypes.weights, model.dtypes.forward_all_to_all, model.dtypes.indices) == ("fp16", "fp16", "int64")
    assert model.times is None


def test_fixed_times_are_taken(tmp_path: Path) -> None:
    times = read_dlrm(write(tmp_path, GOOD + TIMES)).times
    assert times is not None
    assert (times.lookup_ps, times.update_ps) == (1_000_000, 2_000_000)
    assert (times.interaction_forward_ps, times.interaction_backward_ps) == (3000, 4000)
    assert times.top[1] == LayerTimes(forward_ps=7000, weight_gradient_ps=8000, input_gradient_ps=9000)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("local_batch = 10", "local_bach = 10", "local_batch: missing; allowed: a whole number"),
        ("local_batch = 10", "local_batch = 10\nlocal_bach = 3", r"local_bach: unknown key .*mean 'local_batch'"),
        ("local_batch = 10", "local_batch = 0", "local_batch: 0 is out of range; allowed: a whole number from 1"),
        ("local_batch = 10", 'local_batch = "10"', "local_batch: '10' is not a whole number"),
        ('interaction = "conc', 'interaction = "dott" # ', "interaction: 'dott' is unknown; did you mean 'dot'"),
        ("bottom = [13, 8]", "bottom = [13]", r"bottom: \[13\] is too short; allowed: a list of at least 2 widths"),
        ("bottom = [13, 8]", "bottom = 13", "bottom: 13 is not a list"),
        ("bottom = [13, 8]", "bottom = [13, 0]", r"bottom\[1\]: 0 is out of range"),
        ("top = [4, 1]", "", "top: missing; allowed: a list of at least 1 widths"),
        ('weights = "fp16"', 'weights = "half"', r"dtypes.weights: 'half' is unknown.* allowed: 'fp32'"),
        ('weights = "fp16"', 'weight = "fp16"', "dtypes.weight: unknown key .*did you mean 'weights'"),
        ('weights = "fp16"', 'indices = "fp16"', "dtypes.indices: 'fp16' is unknown; .*allowed: 'int32' or 'int64'"),
        ("dim = 8\n", "dims = 8\n", r"tables\[0\].dim: missing"),
        ("count = 2", "counts = 2", r"tables\[1\].counts: unknown key .*did you mean 'count'"),
        ("pooling = 1.5", "pooling = 0", r"tables\[0\].pooling: 0 is out of range; allowed: a number above 0"),
        ('name = "b"\ncount = 2', 'name = "a"', "there are two tables 'a'"),
        ("[dtypes]", "[dtype]", "dtype: unknown key .*did you mean 'dtypes'"),
        ("[[tables]]", "[[table]]", "tables: missing; allowed: one or more tables"),
        ("local_batch = 10", "local_batch = = 10", "not TOML"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    assert before in GOOD
    with pytest.raises(WorkloadError, match=rf"mine.toml: .*{message}"):
        read_dlrm(write(tmp_path, GOOD.replace(before, after)))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('lookup = "1us"', 'lookup = "1"', "compute.lookup: '1' has no unit"),
        ('update = "2us"', "", "compute.update: missing; allowed: a time"),
        ('forward = "4ns", ', "", r"compute.top\[0\].forward: missing"),
        ("top = [", "tops = [", "compute.top: missing; allowed: one or more tables"),
        ('{ forward = "7ns", weight_gradient = "8ns", input_gradient = "9ns" },', "", "times of 1 layers"),
        ('bottom = [{ forward = "1ns",', 'bottom = [3, { forward = "1ns",', r"compute.bottom\[0\]: 3 is not a table"),
    ],
)
def test_fixed_times_that_are_not_understood(tmp_path: Path, before: str, after: str, message: str) -> None:
    assert before in TIMES
    with pytest.raises(WorkloadError, match=rf"mine.toml: .*{message}"):
        read_dlrm(write(tmp_path, GOOD + TIMES.replace(before, after)))


def test_what_is_no_text_or_no_file(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match=r"absent\.toml: cannot be read"):
        read_dlrm(tmp_path / "absent.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff")
    with pytest.raises(WorkloadError, match="byte 0 is not"):
        read_dlrm(tmp_path / "binary.toml")


@pytest.mark.parametrize("name", dlrm_presets())
def test_presets_are_read_and_named_as_their_files(name: str) -> None:
    assert read_dlrm(dlrm_presets()[name]).name == name
