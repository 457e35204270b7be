# SPDX-License-Identifier: GPL-2.0-only
"""``[jobs.NAME]`` and ``[background.NAME]``: read, written, refused, and in the digest with their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from astra_py.config import load_scenario, parameter_table
from astra_py.config.spans import RanksRule, spans_text
from astra_py.errors import ConfigError

POISSON = {"kind": "poisson", "stop": "1ms"}


@given(st.lists(st.integers(0, 60), min_size=1, unique=True))
def test_ranks_are_written_as_they_are_read(ranks: list[int]) -> None:
    assert RanksRule().read(spans_text(ranks)) == tuple(ranks)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "'' is neither"), ("1-", "'1-' is neither"), ("3-1", "'3-1' is no span"), ("1,0-2", "has rank 1 twice")],
)
def test_what_names_no_ranks_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RanksRule().read(text)


def test_a_scenario_comes_back_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "job.txt").write_text("x")
    scenario = load_scenario(
        {
            "jobs": {"a": {"ranks": "0-3,8", "start": "1ms", "workload": {"file": str(tmp_path / "job.txt")}}},
            "background": {"in": {"kind": "incast", "receiver": 3, "size": "4KiB"}, "out": {**POISSON, "load": 0.5}},
        }
    )
    assert scenario.jobs["a"].ranks == (0, 1, 2, 3, 8)
    assert scenario.background["in"].size == 4096
    assert load_scenario(scenario.resolved()) == scenario
    assert "sizes" not in scenario.resolved()["background"]["in"]
    plain = load_scenario({}).resolved()
    assert "jobs" not in plain
    assert "background" not in plain


def test_files_are_looked_for_beside_the_scenario_and_are_in_its_digest(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "job.txt").write_text("a job")
        (tmp_path / folder / "sizes.txt").write_text("0 0\n9 100\n")
        (tmp_path / folder / "two.toml").write_text(
            '[jobs.a]\nworkload.file = "job.txt"\n'
            '[background.b]\nkind = "poisson"\nstop = "1ms"\nsizes = "file:sizes.txt"\n'
        )
    here, there = (load_scenario(tmp_path / folder / "two.toml") for folder in ("here", "there"))
    assert here.jobs["a"].workload is not None
    assert here.jobs["a"].workload.path == tmp_path / "here" / "job.txt"
    assert here.digest == there.digest
    for name, text in (("job.txt", "another job"), ("sizes.txt", "0 0\n8 100\n")):
        (tmp_path / "there" / name).write_text(text)
        changed = load_scenario(tmp_path / "there" / "two.toml")
        assert changed.digest != here.digest
        (tmp_path / "there" / name).write_bytes((tmp_path / "here" / name).read_bytes())


def test_overrides_reach_into_them() -> None:
    scenario = load_scenario({}, ["background.in.kind=incast", "background.in.size=1MB"])
    assert scenario.background["in"].size == 10**6


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"background": {"b": {}}}, r"background\.b\.kind: missing, and \[background\.NAME\] needs it"),
        ({"background": {"b": {"kind": "incst"}}}, r"background\.b\.kind: 'incst' is unknown; did you mean 'incast'"),
        ({"background": {"b": {"kind": "incast", "sise": 1}}}, r"unknown key .* did you mean 'background\.b\.size'"),
        ({"background": {"b": {"kind": "incast", "load": 0.1}}}, r"background\.b\.load: 0\.1 would mean nothing"),
        ({"background": {"b": {"kind": "poisson"}}}, r"background\.b\.stop: missing, and kind = 'poisson' needs it"),
        ({"background": {"b": {**POISSON, "start": "2ms"}}}, r"background\.b\.stop: '1ms' is not after start = '2ms'"),
        ({"background": {"b": {**POISSON, "sizes": "hadop"}}}, r"'hadop' is unknown; did you mean 'hadoop'"),
        ({"background": {"b": {**POISSON, "sizes": "hadoop", "size": "1MB"}}}, r"b\.size: '1MB' would mean nothing"),
        ({"background": {"b": {**POISSON, "load": 0}}}, r"background\.b\.load: 0 is out of range"),
        ({"background": {"b": {**POISSON, "ranks": "3"}}}, r"'3' is one rank, and flows need two"),
        ({"background": {"b": {"kind": "incast", "ranks": "1-2", "receiver": 0}}}, r"0 is none of ranks = '1-2'"),
        ({"background": {"workload": {"kind": "incast"}}}, r"'workload' is the name of the \[workload\] beside it"),
        ({"background": {"a b": {"kind": "incast"}}}, r"'a b' is no name; allowed: letters"),
        ({"background": {"b": {"kind": "file"}}}, r"background\.b\.file: missing, and kind = 'file' needs it"),
        ({"background": {"b": {"kind": "file", "file": "no.txt"}}}, r"background\.b\.file: 'no\.txt' is not a file"),
        (
            {"background": {"b": {"kind": "file", "file": __file__, "size": "1MB"}}},
            r"b\.size: '1MB' would mean nothing",
        ),
        ({"background": {"b": 3}}, r"background\.b: 3 is not a table; allowed: a table with the keys kind, file"),
        ({"jobs": {"a": {"ranks": "x"}}}, r"jobs\.a\.ranks: 'x': 'x' is neither"),
        ({"jobs": {"a": {}}}, r"jobs\.a\.workload: missing; allowed: \[jobs\.a\.workload\], or \[workload\]"),
        ({"jobs": {"a": {"workload": {}}}}, r"jobs\.a\.workload\.file: missing"),
        ({"jobs": {"a": {"workload": {"file": "no.txt"}}}}, r"jobs\.a\.workload\.file: 'no\.txt' is not a file"),
        ({"jobs": {"a": {"workload": {"fil": "x"}}}}, r"did you mean 'jobs\.a\.workload\.file'"),
        (
            {"jobs": {"a": {"workload": {"file": __file__}}}, "workload": {"file": __file__}},
            r"workload: .* would mean nothing: all of jobs a have one of their own",
        ),
        (
            {"jobs": {"a": {"workload": {"file": __file__}}}, "background": {"a": {"kind": "incast"}}},
            r"background\.a: 'a' is the name of \[jobs\.a\]",
        ),
    ],
)
def test_what_is_not_allowed_is_said(tree: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_scenario(tree)


def test_each_key_is_listed_once() -> None:
    keys = [parameter.key for parameter in parameter_table()]
    assert len(set(keys)) == len(keys)
    assert {"jobs.NAME.ranks", "jobs.NAME.start", "background.NAME.kind", "background.NAME.stop"} <= set(keys)


def test_a_scenario_of_background_alone_has_something_to_do() -> None:
    load_scenario({"background": {"b": {"kind": "incast"}}}).require_work()
    with pytest.raises(ConfigError, match="a run needs one"):
        load_scenario({}).require_work()


def test_parts_of_a_job_are_read_and_written() -> None:
    given = {"keep_iterations": "1-2,4", "keep_phases": "forward, backward", "repeat": 3, "weak_scaling_from": 8}
    workload = load_scenario({"workload": {"file": __file__, **given}}).workload
    assert workload is not None
    assert workload.keep_iterations == (1, 2, 4)
    assert workload.keep_phases == ("forward", "backward")
    assert workload.text("keep_iterations") == "1-2,4"
    assert workload.text("keep_phases") == "forward,backward"
    with pytest.raises(ConfigError, match="'a,,b' is no list of different names"):
        load_scenario({"workload": {"file": __file__, "keep_phases": "a,,b"}})
