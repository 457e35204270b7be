# SPDX-License-Identifier: GPL-2.0-only
"""``docker/run.sh`` asks the engine that is there for what it should; these engines only print their words."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docker" / "run.sh"
ECHO = '#!/bin/sh\nif [ "$1" = info ]; then exit {info}; fi\nprintf "%s\\n" {name} "$@"\nexit {code}\n'


class Machine:
    """A machine with some programs and a user, and a folder where the script is called.

    Parameters
    ----------
    folder : where its files are put.
    user : the number of its user and group.
    """

    def __init__(self, folder: Path, user: int = 1234) -> None:
        self.programs, self.home = folder / "bin", folder / "a home"
        self.programs.mkdir()
        self.home.mkdir()
        self.add("id", f"#!/bin/sh\necho {user}\n")
        (self.programs / "mkdir").symlink_to("/bin/mkdir")

    def add(self, name: str, text: str) -> None:
        """Put a program there."""
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def add_engine(self, name: str, *, info: int = 0, code: int = 0) -> None:
        """Put an engine there, which prints its name and its words; ``info`` is the exit code of its `info`."""
        self.add(name, ECHO.format(name=name, info=info, code=code))

    def run(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Call the script."""
        return subprocess.run(
            ["/bin/sh", SCRIPT, *words],
            cwd=self.home,
            env={"PATH": str(self.programs), **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


def words_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What the engine was asked."""
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_docker_is_taken_where_its_engine_answers_and_podman_otherwise(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add_engine("podman")
    machine.add_engine("docker")
    assert words_of(machine.run())[:2] == ["docker", "run"]
    machine.add_engine("docker", info=1)
    assert words_of(machine.run())[:2] == ["podman", "run"]
    machine.add_engine("nerdctl")
    assert words_of(machine.run(ENGINE="nerdctl --namespace batch"))[:4] == ["nerdctl", "--namespace", "batch", "run"]


def test_no_engine_is_an_error_of_usage(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add_engine("docker", info=1)
    done = machine.run()
    assert (done.returncode, done.stdout) == (2, "")
    assert "neither docker's engine nor podman is there" in done.stderr


def test_words_with_blanks_come_whole_and_after_the_image(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add_engine("docker")
    words = words_of(machine.run("run", "my job.toml", "*", "", IMAGE="mine", OPTIONS="--memory 8g", OUT="my results"))
    assert words[-7:] == ["--memory", "8g", "mine", "run", "my job.toml", "*", ""]
    assert [words[at + 1] for at, word in enumerate(words) if word == "--volume"] == [
        f"{machine.home}:/data:ro",
        f"{machine.home / 'my results'}:/results",
    ]
    assert (machine.home / "my results").is_dir()


def test_the_container_has_no_network_and_nothing_to_write_to_but_results(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add_engine("docker")
    text = " ".join(words_of(machine.run()))
    wanted = ("--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges")
    assert [each for each in wanted if each not in text] == []
    assert text.endswith("astra-py run /workloads/astra2020_16.toml --out /results/main_job --overwrite")


@pytest.mark.parametrize(
    ("engine", "user", "keeps"), [("docker", 1234, False), ("podman", 1234, True), ("podman", 0, False)]
)
def test_results_belong_to_whom_it_is_run_by(tmp_path: Path, engine: str, user: int, keeps: bool) -> None:
    machine = Machine(tmp_path, user)
    machine.add_engine(engine)
    words = words_of(machine.run())
    assert words[words.index("--user") + 1] == f"{user}:{user}"
    assert ("keep-id" in words) == keeps


@pytest.mark.parametrize("code", [1, 2, 3, 4, 125, 130, 143])
def test_the_engines_exit_code_is_the_scripts(tmp_path: Path, code: int) -> None:
    machine = Machine(tmp_path)
    machine.add_engine("docker", code=code)
    assert machine.run().returncode == code


@pytest.mark.parametrize(("out", "reason"), [("file/results", "cannot be made"), ("a:b", "no path with a colon")])
def test_a_folder_that_cannot_be_one_for_results_is_an_error_of_usage(tmp_path: Path, out: str, reason: str) -> None:
    machine = Machine(tmp_path)
    machine.add_engine("docker")
    (machine.home / "file").touch()
    done = machine.run(OUT=out)
    assert (done.returncode, done.stdout) == (2, "")
    assert out in done.stderr
    assert reason in done.stderr
