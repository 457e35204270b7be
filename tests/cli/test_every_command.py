# SPDX-License-Identifier: GPL-2.0-only
"""Every command, run: --json prints JSON and nothing else, --quiet says nothing beside, NO_COLOR leaves no colours."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.cli.app import COMMANDS, command
from documents import ROOT
from small_job import write_job

#: A command line for each command, in a folder with a job, its results, and a sweep of it.
LINES = {
    "run": "run job.toml",
    "collective": "collective all_reduce platform.ranks=4 --sizes 1KiB,4KiB",
    "compare": "compare job.toml",
    "sensitivity": "sensitivity job.toml --engine analytic --key platform.link_rate",
    "sweep": "sweep sweep.toml --out swept --workers 1",
    "calibrate": f"calibrate {ROOT}/examples/all_reduce_a100_8.log node.toml --collective all_reduce",
    "validate": "validate exact.message_1",
    "plan": f"plan {ROOT}/workloads/zionex_2x8.toml --out plan.csv --overwrite",
    "plot": "plot timeline results --out picture.svg",
    "trace": "trace results --out trace.json",
    "report": "report results --out report.html",
    "bandwidth": "bandwidth job.toml --ranks 4 --sizes 1KiB --out table.csv --overwrite",
    "inspect": "inspect job.txt",
    "convert": "convert job.txt out.et --ranks 4 --overwrite",
    "topology": "topology job.toml",
    "headroom": "headroom --rate 100Gbps --delay 1us --mtu 4096B",
    "params": "params platform",
    "doctor": "doctor",
}
#: Those whose whole output is a file: nothing is left to print where nothing is to be said.
WRITERS = {"plot", "trace", "report", "inspect", "convert", "doctor"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """What says of itself that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    ap.load(write_job(folder)).run().save(folder / "results")
    (folder / "sweep.toml").write_text('scenario = "job.toml"\nseeds = 2\n')
    (folder / "node.toml").write_text('[platform]\nkind = "dgx_a100"\nnodes = 1\n\n[collective]\nall_reduce = "ring"\n')
    return folder


def run(name: str, *more: str, stream: type[io.StringIO] = io.StringIO) -> tuple[str, str]:
    """Run a command to its good end; gives what it printed and what it said beside."""
    out, err = stream(), stream()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as left:
            command([*LINES[name].split(), *more])
    assert left.value.code == 0, err.getvalue()
    return out.getvalue(), err.getvalue()


def test_every_command_has_a_line() -> None:
    assert list(LINES) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_an_object_a_line_and_nothing_else(name: str, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(saved)
    out, _ = run(name, "--json")
    assert out.endswith("\n")
    assert all(isinstance(json.loads(line), dict) for line in out.splitlines())
    assert run(name, "--json", "--quiet")[1] == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_quiet_says_nothing_beside(name: str, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(saved)
    out, err = run(name, "--quiet")
    assert err == ""
    assert (out == "") == (name in WRITERS)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_there_are_no_colours_where_none_are_wanted(
    name: str, stream: type[io.StringIO], saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(saved)
    monkeypatch.setenv("TERM", "xterm-256color")
    if stream is Terminal:
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.delenv("FORCE_COLOR", raising=False)
    else:
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("FORCE_COLOR", "1")
    for text in run(name, stream=stream):
        assert not COLOUR.search(text)
        # where no terminal is nothing moves a cursor, either
        assert stream is Terminal or "\x1b" not in text
