# SPDX-License-Identifier: GPL-2.0-only
"""Write the type stubs of the extension, ``astra_py/_ns3_ext.pyi``, or check that they are up to date (``--check``)."""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULE = "astra_py._ns3_ext"
STUBS = ROOT / "astra_py" / "_ns3_ext.pyi"
HEADER = "# SPDX-License-Identifier: GPL-2.0-only\n# Written by `make stubs` from the bindings; not edited by hand.\n"


def generate() -> str:
    """The stubs of the extension as it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        stubgen = ["-m", "pybind11_stubgen", "--exit-code", "--output-dir", folder, MODULE]
        subprocess.run([sys.executable, *stubgen], check=True, stdout=subprocess.DEVNULL)
        written = Path(folder, *MODULE.split(".")).with_suffix(".pyi")
        written.write_text(HEADER + written.read_text(encoding="utf-8"), encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--quiet", "--config", ROOT / "pyproject.toml", written],
            check=True,
        )
        return written.read_text(encoding="utf-8")


def main() -> int:
    """Write the stubs; with ``--check`` print how they differ and return 1 if they do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where the stubs are out of date")
    is_check = parser.parse_args().check
    new = generate()
    if not is_check:
        STUBS.write_text(new, encoding="utf-8")
        return 0
    old = STUBS.read_text(encoding="utf-8")
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(STUBS), "make stubs"))
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main())
