# SPDX-License-Identifier: GPL-2.0-only
"""The command line as a whole: help, exit codes, and what it does not import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
import typer

from astra_py.cli.app import COMMANDS, command
from astra_py.cli.common import with_exit_codes
from astra_py.errors import AstraPyError, ConfigError, DeadlockError, EngineCrash, SimulationError

HEAVY = ("numpy", "pandas", "networkx", "pydantic", "rich")


def exit_code(*arguments: str) -> object:
    with pytest.raises(SystemExit) as caught:
        command(list(arguments))
    return caught.value.code


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_lists_the_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*arguments) == 0
    printed = capsys.readouterr()
    assert all(f"\n  {name} " in printed.out for name in COMMANDS)
    assert printed.err == ""


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom astra_py.cli.app import command\n"
        "try:\n    command(['--help'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(', '.join(name for name in {HEAVY!r} if name in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["parms"], "did you mean 'params'?"),
        (["xyzzy"], f"Commands: {', '.join(COMMANDS)}."),
        (["--nonsense"], "No such option"),
        (["params", "--nonsense"], "No such option"),
        (["params", "a", "b"], "unexpected extra argument"),
    ],
)
def test_usage_errors_exit_2(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*arguments) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.out == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--version") == 0
    assert capsys.readouterr().out.startswith("astra-py ")


def raising(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return with_exit_codes(function)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), 2),
        (AstraPyError("x"), 2),
        (SimulationError("x", reason="event_limit"), 3),
        (DeadlockError("x"), 3),
        (EngineCrash("x"), 4),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes(error: BaseException, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught:
        raising(error)()
    assert caught.value.exit_code == code
    assert capsys.readouterr().err in ("error: x\n", "interrupted\n")


def test_notes_of_an_error_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    error = SimulationError("it broke")
    error.add_note("while simulating all_to_all 3 on rank 5")
    with pytest.raises(typer.Exit):
        raising(error)()
    assert capsys.readouterr().err == "error: it broke\n  while simulating all_to_all 3 on rank 5\n"


def test_other_errors_are_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        raising(ZeroDivisionError())()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["params"], ["collective", "--help"]])
def test_an_output_without_room_is_one_line_of_error(arguments: list[str]) -> None:
    code = "from astra_py.cli import main; main()"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.stderr == b"error: standard output cannot be written: No space left on device\n"
    assert done.returncode == 2


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    code = "from astra_py.cli import main\nimport sys\nsys.argv = ['astra-py', 'params', '--markdown']\nmain()"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate()
    assert "Traceback" not in errors
    assert process.returncode == 141
