# SPDX-License-Identifier: GPL-2.0-only
"""Starting is quick because little is imported; what is imported is checked, since time cannot be."""

from __future__ import annotations

import os
import subprocess
import sys

SCIENTIFIC = {"numpy", "pandas", "networkx", "pydantic", "scipy", "matplotlib"}
EXTENSION = "astra_py._ns3_ext"


def imported_by(*arguments: str) -> set[str]:
    """The modules that an interpreter with these arguments imports."""
    environ = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_the_profile_shows_what_is_imported() -> None:
    assert {"json", "json.decoder"} <= imported_by("-c", "import json")


def test_importing_the_package_imports_neither_numpy_nor_the_extension() -> None:
    modules = imported_by("-c", "import astra_py")
    assert "astra_py" in modules
    assert modules & (SCIENTIFIC | {EXTENSION, "typer", "rich"}) == set()


def test_help_imports_only_what_it_takes_to_print_it() -> None:
    modules = imported_by("-c", "from astra_py.cli import main; main()", "--help")
    assert "astra_py.cli" in modules
    assert modules & (SCIENTIFIC | {EXTENSION}) == set()
