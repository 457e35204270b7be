# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py doctor --report``: what it has, what it does not have, and a small run held to known figures."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

import astra_py._ns3_ext
from astra_py import bug_report as module
from astra_py.bug_report import KNOWN_FIGURES, BugReport, bug_report, without_paths
from astra_py.cli.app import command

#: Where systems keep their users' folders.
LINUX, MACOS = "/" + "home", "/" + "Users"


@pytest.fixture(scope="module")
def report() -> BugReport:
    return bug_report()


def test_the_small_run_has_the_known_figures(report: BugReport) -> None:
    assert {name: report.small_run[name] for name in KNOWN_FIGURES} == KNOWN_FIGURES
    assert report.problem == ""
    assert "as known, to the picosecond" in "\n".join(report.lines())


def test_it_has_versions_machine_and_the_extension_as_it_is(report: BugReport) -> None:
    assert report.versions["ns3"] == "3.44.post0"
    assert {"system", "processor", "cores", "memory"} <= set(report.machine)
    assert report.extension == hashlib.sha256(Path(astra_py._ns3_ext.__file__).read_bytes()).hexdigest()
    assert any(check.startswith("OK time resolution") for check in report.checks)


def test_nothing_of_the_user_is_in_it(report: BugReport) -> None:
    text = "\n".join(report.lines())
    for secret in (sys.prefix, sys.base_prefix, str(Path.cwd()), *filter(None, (os.environ.get("USERNAME"),))):
        assert secret not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LINUX}/ada/venv/lib/x.so does not load", "~/venv/lib/x.so does not load"),
        (f"{sys.prefix}/bin/python", "ENV/bin/python"),
        ("/usr/bin/g++", "/usr/bin/g++"),
        (f"line {MACOS}/ada: no", "line ~: no"),
    ],
)
def test_paths_of_the_user_are_cut_out(text: str, expected: str) -> None:
    assert without_paths(text) == expected


def test_other_figures_are_a_problem_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {**KNOWN_FIGURES, "time_ps": 1}
    monkeypatch.setattr(module, "probe", lambda code, *arguments: (json.dumps(wrong), ""))
    monkeypatch.setattr(module, "examine", lambda: iter(()))
    for options in ([], ["--json"]):
        with pytest.raises(SystemExit) as caught:
            command(["doctor", "--report", *options])
        assert caught.value.code == 2
        assert f"time_ps is 1 and not {KNOWN_FIGURES['time_ps']:,}" in capsys.readouterr().out


def test_a_run_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "probe", lambda code, *arguments: ("", "its process ended with -6"))
    monkeypatch.setattr(module, "examine", lambda: iter(()))
    report = bug_report()
    assert report.small_run == {}
    assert report.problem == "failed: its process ended with -6"
    assert "small run: failed" in "\n".join(report.lines())
