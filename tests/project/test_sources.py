# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every file of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE = re.compile(r"\.git|\.venv.*|\..*_cache|\.hypothesis|__pycache__|_?build|dist|results")
SOURCE = re.compile(r".*\.(py|pyi|cc|h|cmake|sh)|CMakeLists\.txt|Makefile|Dockerfile|pyproject\.toml|run")
# A folder of somebody's machine. In prose and in code alike, files are named from the project's root or by the user.
MACHINE_PATH = re.compile(r"(?<![\w.~}])/(?:home|root|Users|work|opt|tmp|mnt|srv)/\w")


def files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file of the project, without what builds and runs make at its top or anywhere below."""
    for entry in sorted(folder.iterdir()):
        is_made = MADE.fullmatch(entry.name) and (folder == ROOT or entry.name in {"__pycache__", "_build"})
        if entry.is_dir() and not is_made:
            yield from files(entry)
        elif entry.is_file():
            yield entry


SOURCES = [str(file.relative_to(ROOT)) for file in files() if SOURCE.fullmatch(file.name)]


def test_sources_of_each_language_are_found() -> None:
    expected = {"Makefile", "CMakeLists.txt", "cmake/Ns3Wheel.cmake", "tools/set_up.sh", ".ci/run", "docker/Dockerfile"}
    expected |= {"astra_py/errors.py", "ns3_ext/core/errors.h", "tests/project/test_sources.py"}
    assert expected <= set(SOURCES)


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_starts_with_its_licence(source: str) -> None:
    with (ROOT / source).open(encoding="utf-8") as lines:
        first = next(lines)
        if first.startswith("#!"):
            first = next(lines)
    assert first.rstrip("\n") in {
        "# SPDX-License-Identifier: GPL-2.0-only",
        "// SPDX-License-Identifier: GPL-2.0-only",
    }


def test_no_file_names_a_path_of_one_machine() -> None:
    found = []
    for file in files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{file.relative_to(ROOT)}: {match.group()}" for match in MACHINE_PATH.finditer(text)]
    assert found == []
