# SPDX-License-Identifier: GPL-2.0-only
"""The commands that documents name exist, and set up what ``pyproject.toml`` lists."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from set_up import Requirements

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LEAN = Requirements.of(PYPROJECT)


def make_commands(document: str) -> set[str]:
    """The targets of each ``make ...`` at the start of a line or of a code span."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return {target for line in re.findall(r"(?:^ *|`)make ([a-z -]+)", text, re.MULTILINE) for target in line.split()}


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", ".ci/run"])
def test_each_make_command_that_a_document_names_is_a_target(document: str) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert make_commands(document) <= set(targets)


def test_the_readme_starts_with_the_two_commands() -> None:
    assert {"run", "test"} <= make_commands("README.md")


def test_make_run_runs_what_the_quick_start_shows() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nrun:")[2].partition("\n\n")[0]
    shown = re.findall(r"<!-- astra-py run (\S+) -->", (ROOT / "docs/quick_start.md").read_text(encoding="utf-8"))
    assert re.findall(r"astra-py run (\S+)", recipe) == shown
    assert len(shown) == 2


def test_the_lean_environment_gets_all_that_is_listed() -> None:
    project = PYPROJECT["project"]
    listed = {
        *project["dependencies"],
        *project["optional-dependencies"]["dev"],
        *PYPROJECT["build-system"]["requires"],
    }
    assert listed <= {LEAN.ns3, *LEAN.others}
    assert {Requirement(r).name for r in LEAN.others} - {Requirement(r).name for r in listed} == {"cmake", "ninja"}


@pytest.mark.parametrize("requirement", [LEAN.ns3, *LEAN.others, *LEAN.alone])
def test_this_environment_has_what_is_required(requirement: str) -> None:
    required = Requirement(requirement)
    assert version(required.name) in required.specifier


def test_ns3_is_pinned_to_one_version() -> None:
    assert re.fullmatch(r"ns3==3\.44\.post0", LEAN.ns3)
