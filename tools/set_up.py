# SPDX-License-Identifier: GPL-2.0-only
"""Set up one of the project's environments, or bring it up to date; called by ``tools/set_up.sh``.

``lean`` is ``.venv``: ns-3's wheel without its dependencies (which only ``from ns import ns`` needs, and which compile
for minutes), what ``pyproject.toml`` lists, and the project itself, editable. ``full`` is ``.venv-full``: the same with
ns-3's dependencies. ``sanitize`` is ``.venv-sanitize``: lean, with the extension built for the sanitizers.

An environment is built beside its place and renamed into it at the end, so that a broken or interrupted attempt leaves
what was there before. A stamp inside says what it was made from; while that is unchanged nothing is done and the
network is not touched, and where only the extension's sources changed only the extension is built.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class StepError(Exception):
    """A step of the set-up failed; the message is for the user."""


@dataclass(frozen=True)
class Environment:
    """An environment: its folder in the tree, and how it differs from the others."""

    folder: str
    has_ns3_dependencies: bool = False
    is_sanitized: bool = False


ENVIRONMENTS = {
    "lean": Environment(".venv"),
    "full": Environment(".venv-full", has_ns3_dependencies=True),
    "sanitize": Environment(".venv-sanitize", is_sanitized=True),
}


@dataclass(frozen=True)
class Requirements:
    """What ``pyproject.toml`` asks for: ns-3's wheel apart, and what comes without its dependencies."""

    ns3: str
    others: list[str]
    alone: list[str]

    @classmethod
    def of(cls, pyproject: dict[str, Any]) -> Requirements:
        """Build tools, dependencies and the development extra."""
        project, tools = pyproject["project"], pyproject["tool"]["scikit-build"]
        (ns3,) = (r for r in project["dependencies"] if r.startswith("ns3=="))
        others = [
            *pyproject["build-system"]["requires"],
            f"cmake{tools['cmake']['version']}",
            f"ninja{tools['ninja']['version']}",
            *(r for r in project["dependencies"] if r != ns3),
            *project["optional-dependencies"]["dev"],
        ]
        return cls(ns3, others, project["optional-dependencies"]["dev-alone"])


class SetUp:
    """One set-up of one environment."""

    def __init__(self, name: str) -> None:
        self.environment = ENVIRONMENTS[name]
        self.place = ROOT / self.environment.folder
        self.aside = self.place.with_name(self.place.name + ".new")
        self.build = ROOT / "build" / name
        self.log = ROOT / "build" / f"set-up-{name}.log"
        self.defines = {
            "ASTRA_PY_WERROR": os.environ.get("ASTRA_PY_WERROR") or "OFF",
            "ASTRA_PY_SANITIZE": "ON" if self.environment.is_sanitized else "OFF",
        }
        pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        self.requirements = Requirements.of(pyproject)
        metadata = [pyproject["build-system"], pyproject["project"], pyproject["tool"]["scikit-build"]]
        self.wanted = {
            "packages": digest(str(self.place), self.environment.has_ns3_dependencies, vars(self.requirements)),
            "extension": digest(metadata, self.defines, os.environ.get("CXX"), source_digests()),
        }

    def run(self) -> None:
        """Do what is needed, if anything."""
        found = self.stamp()
        if found == self.wanted:
            return
        self.log.unlink(missing_ok=True)
        if found.get("packages") == self.wanted["packages"]:
            self.write_stamp(self.place, {"packages": self.wanted["packages"]})
            self.install_project(self.place)
            self.write_stamp(self.place, self.wanted)
            return
        try:
            self.make_aside()
            self.move_into_place()
        finally:
            shutil.rmtree(self.aside, ignore_errors=True)

    def make_aside(self) -> None:
        """Build the environment beside its place."""
        shutil.rmtree(self.aside, ignore_errors=True)
        self.step(
            f"{self.environment.folder} with Python {sys.version.split()[0]}",
            [sys.executable, "-m", "venv", "--prompt", "astra-py", self.aside],
        )
        ns3 = self.requirements.ns3
        if self.environment.has_ns3_dependencies:
            self.pip(self.aside, f"{ns3} and its dependencies (some minutes)", [ns3])
        else:
            self.pip(self.aside, ns3, ["--no-deps", ns3])
        self.pip(self.aside, "build tools, dependencies, test tools", self.requirements.others)
        self.pip(self.aside, ", ".join(self.requirements.alone), ["--no-deps", *self.requirements.alone])
        self.install_project(self.aside)
        self.write_stamp(self.aside, self.wanted)

    def install_project(self, folder: Path) -> None:
        """Compile the extension and install the project, editable, without the network."""
        settings = {f"cmake.define.{name}": value for name, value in self.defines.items()}
        settings["build-dir"] = str(self.build)
        options = [f"--config-settings={name}={value}" for name, value in settings.items()]
        self.pip(folder, "the extension", ["--no-deps", "--no-build-isolation", *options, "--editable", ROOT])

    def move_into_place(self) -> None:
        """Put the finished environment where it belongs, and let its scripts name that place."""
        for file in (self.aside / "pyvenv.cfg", *(self.aside / "bin").iterdir()):
            if file.is_file() and not file.is_symlink() and b"\0" not in (content := file.read_bytes()):
                file.write_bytes(content.replace(os.fsencode(self.aside), os.fsencode(self.place)))
        old = self.place.with_name(self.place.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        if self.place.exists():
            self.place.rename(old)
        self.aside.rename(self.place)
        shutil.rmtree(old, ignore_errors=True)

    def pip(self, folder: Path, what: str, arguments: Sequence[str | Path]) -> None:
        """One ``pip install`` as a step."""
        pip: list[str | Path] = [
            folder / "bin/python",
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--no-input",
            "install",
        ]
        self.step(what, [*pip, *arguments])

    def step(self, what: str, command: Sequence[str | Path]) -> None:
        """Run a command, its output in the log and one line about it on standard error."""
        print(f"astra-py: {what} ...", end="", file=sys.stderr, flush=True)
        start = time.monotonic()
        environ = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
        with self.log.open("a", encoding="utf-8") as log:
            print("$", *command, file=log, flush=True)
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ, cwd=ROOT, check=False
            )
        if done.returncode:
            tail = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-25:]
            whole = f"astra-py: failed, exit status {done.returncode}; the whole log is {self.log.relative_to(ROOT)}"
            raise StepError("\n".join(["", *(f"    {line}" for line in tail), whole]))
        print(f" {time.monotonic() - start:.0f} s", file=sys.stderr)

    def stamp(self) -> dict[str, str]:
        """What the environment in place was made from; empty where there is none that runs."""
        try:
            subprocess.run([self.place / "bin/python", "-c", ""], check=True, capture_output=True)
            return dict(json.loads((self.place / "made-from.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, subprocess.CalledProcessError):
            return {}

    @staticmethod
    def write_stamp(folder: Path, stamp: dict[str, str]) -> None:
        """Note what an environment was made from."""
        (folder / "made-from.json").write_text(json.dumps(stamp), encoding="utf-8")


def digest(*parts: object) -> str:
    """SHA-256 of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def source_digests() -> dict[str, str]:
    """Each file that the extension is built from, with its digest."""
    files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").rglob("*"), *(ROOT / "ns3_ext").rglob("*")]
    return {str(f.relative_to(ROOT)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files if f.is_file()}


def main() -> int:
    """Set up the environment that the command line names."""
    if len(sys.argv) != 2 or sys.argv[1] not in ENVIRONMENTS:
        print(f"usage: tools/set_up.sh {'|'.join(ENVIRONMENTS)}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "set-up.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            SetUp(sys.argv[1]).run()
        except StepError as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print(" interrupted", file=sys.stderr)
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
