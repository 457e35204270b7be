# SPDX-License-Identifier: GPL-2.0-only
"""``pip install .`` as a user has it: in isolation, from what the project's files say."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_wheel_has_the_package_and_its_extension_and_nothing_else(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert re.fullmatch(r"astra_py-[\d.]+-cp3(\d+)-cp3\1-linux_x86_64\.whl", wheel.name)
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {str(file.relative_to(ROOT)) for file in (ROOT / "astra_py").rglob("*") if file.is_file()}
    (extension,) = names - package
    assert re.fullmatch(r"astra_py/_ns3_ext/__init__\.cpython-3\d+-x86_64-linux-gnu\.so", extension)
    assert {name for name in package - names if "__pycache__" not in name} == set()
    assert "astra_py/py.typed" in names
