# SPDX-License-Identifier: GPL-2.0-only
"""The package as a wheel: what is in it, where pip takes it, and that it works where nothing can be compiled."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

import astra_py as ap
from astra_py.results.rows import iteration_rows

ROOT = Path(__file__).resolve().parents[2]
MAIN_JOB = ROOT / "workloads" / "astra2020_16.toml"
PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def run(*command: str | Path, **options: Any) -> str:
    """What a command prints; what it says of an error is shown with its failure."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def require_whole(wheel: Path) -> str:
    """See to it that a wheel has the package, its extension, and nothing else; the extension's name."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name and not name.endswith("/")}
    package = {str(file.relative_to(ROOT)) for file in (ROOT / "astra_py").rglob("*") if file.is_file()}
    (extension,) = {name for name in names if name.endswith(".so")}
    assert names - package <= {extension}
    assert {name for name in package - names if "__pycache__" not in name and not name.endswith(".so")} == set()
    assert re.fullmatch(r"astra_py/_ns3_ext/__init__\.cpython-3\d+-x86_64-linux-gnu\.so", extension)
    assert "astra_py/py.typed" in names
    return extension


def test_pip_builds_it_in_isolation_from_what_the_projects_files_say(tmp_path: Path) -> None:
    run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    assert re.fullmatch(r"astra_py-[\d.]+-cp3(\d+)-cp3\1-linux_x86_64\.whl", wheel.name)
    require_whole(wheel)


def metadata_of(wheel: Path) -> Message:
    """What pip learns from a wheel, which is what ``pyproject.toml`` says; the licence is beside it."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        assert archive.read(name.replace("METADATA", "licenses/LICENSE")) == (ROOT / "LICENSE").read_bytes()
        return message_from_bytes(archive.read(name))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make wheel`` builds."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, ROOT / "tools" / "build_wheel.py", folder)
    (built,) = folder.glob("*.whl")
    return built


def test_its_tag_is_no_older_than_the_c_library_that_it_needs(wheel: Path, tmp_path: Path) -> None:
    name = re.fullmatch(r"astra_py-[\d.]+-cp3(\d+)-cp3\1-manylinux_2_(\d+)_x86_64\.whl", wheel.name)
    assert name is not None
    extension = zipfile.ZipFile(wheel).extract(require_whole(wheel), tmp_path)
    needed = re.findall(r"Name: GLIBC_2\.(\d+)", run("readelf", "--version-info", "--wide", extension))
    assert max(map(int, needed)) <= int(name[2])
    dynamic = run("readelf", "--dynamic", "--wide", extension)
    assert re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", dynamic) == [("RUNPATH", "$ORIGIN/../../ns3/lib64")]


def test_it_asks_for_what_the_project_asks_for(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = metadata_of(wheel)
    assert (metadata["Name"], metadata["Version"]) == (project["name"], project["version"])
    assert metadata["License-Expression"] == project["license"]
    assert set(metadata["Requires-Python"].split(",")) == set(project["requires-python"].split(","))
    wanted = {(each, "") for each in project["dependencies"]}
    for extra, requirements in project["optional-dependencies"].items():
        wanted |= {(each, extra) for each in requirements}
    found = [
        re.fullmatch(r"([^;]+?)(?:; *extra == ['\"](.+)['\"])?", each) for each in metadata.get_all("Requires-Dist")
    ]
    assert {(each[1], each[2] or "") for each in found if each} == wanted
    assert set(metadata.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])


def test_it_runs_the_main_job_beside_ns3s_wheel_where_there_is_no_compiler(wheel: Path, tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    document = (ROOT / "docs" / "containers.md").read_text(encoding="utf-8")
    alone, others = (shlex.split(words) for words in re.findall(r"^pip install (.*)$", document, re.MULTILINE))
    assert alone[-1] == "dist/astra_py-*.whl"
    assert [*alone[1:-1], *others] == project["dependencies"]
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, *PIP, "install", *alone[:-1], wheel)
    run(python, *PIP, "install", *others)
    checked = subprocess.run([python, *PIP, "check"], capture_output=True, text=True, check=False).stdout
    assert [line for line in checked.splitlines() if not line.startswith("ns3 ")] == []
    # neither a compiler nor anything else of the system is found
    environ = {"PATH": str(python.parent)}
    command = [python.parent / "astra-py", "run", MAIN_JOB, "--out", "main_job", "--quiet", "--json"]
    printed = json.loads(run(*command, cwd=tmp_path, env=environ))
    assert printed["iterations"] == iteration_rows(ap.load(MAIN_JOB).run())
    assert (tmp_path / "main_job" / "manifest.json").is_file()
