# SPDX-License-Identifier: GPL-2.0-only
"""What all commands have in common: --json and --quiet, no control characters, and what Ctrl-C leaves."""

from __future__ import annotations

import inspect
import json
import os
import pty
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.cli.app import COMMANDS
from small_job import write_job

MAIN = "from astra_py.cli import main; main()"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_and_quiet(name: str) -> None:
    parameters = inspect.signature(getattr(import_module(f"astra_py.cli.{name}"), name)).parameters
    assert "as_json" in parameters
    assert "is_quiet" in parameters


def _start(*arguments: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MAIN, *arguments]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return write_job(tmp_path)


def test_without_a_terminal_there_are_no_control_characters(job: Path) -> None:
    out, err = _start("run", str(job), env=os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color"}).communicate()
    assert out
    assert not {character for character in out + err if ord(character) < 32} - {"\n"}


def test_no_color_is_heeded_in_a_terminal(job: Path) -> None:
    master, slave = pty.openpty()
    environment = os.environ | {"NO_COLOR": "1", "TERM": "xterm-256color"}
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "run", str(job)], stdout=slave, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        told = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            told += part
    os.close(master)
    assert process.returncode == 0
    assert b"exposed communication" in told
    colours = [f"\x1b[{code}".encode() for code in ("3", "9", "1;3", "38;", "48;")]
    assert not [code for code in colours if code in told]


def _interrupt_while_it_simulates(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Send SIGINT once the process has used as much CPU time as its set-up needs, and some more."""
    ticks = os.sysconf("SC_CLK_TCK")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / ticks > 3:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    return process.communicate()


@pytest.mark.slow
def test_ctrl_c_leaves_partial_results_and_says_where(tmp_path: Path) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(
        '[platform]\nranks = 64\n[background.load]\nkind = "poisson"\nload = 0.6\nstop = "20ms"\nsizes = "web_search"\n'
    )
    process = _start("run", str(scenario), "--out", str(tmp_path / "out"), "--quiet")
    out, err = _interrupt_while_it_simulates(process)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("interrupted\n  interrupted at ")
    assert err.rstrip().endswith(f"partial results, of what had happened by then: {tmp_path / 'out'}")
    part = ap.read_result(tmp_path / "out")
    assert part.is_partial
    assert part.manifest["run"]["exit_reason"] == "interrupted"
    assert len(part.messages)


@pytest.mark.slow
def test_ctrl_c_leaves_the_sizes_that_are_done() -> None:
    process = _start("collective", "all_to_all", "platform.ranks=64", "--sizes", "64KiB,256MiB", "--quiet", "--json")
    out, err = _interrupt_while_it_simulates(process)
    assert process.returncode == 130
    assert [json.loads(line)["size_bytes"] for line in out.splitlines()] == [65536]
    assert "1 of 2 sizes are done, and printed" in err


def test_an_error_says_which_sizes_were_done(capfd: pytest.CaptureFixture[str]) -> None:
    limit = "limits.max_events=20000"
    process = _start("collective", "all_reduce", "platform.ranks=4", "--sizes", "4KiB,64MiB", limit, "--quiet")
    out, err = process.communicate()
    assert process.returncode == 3
    assert "4KiB" in out
    assert "1 of 2 sizes are done, and printed" in err
