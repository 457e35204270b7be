# SPDX-License-Identifier: GPL-2.0-only
"""The extension and ns-3's Python bindings in one process are on one ns-3, whichever is imported first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

IMPORT_OURS = "import astra_py._ns3_ext"
IMPORT_THEIRS = "from ns import ns"
REPORT = """
node = ns.CreateObject[ns.Node]()
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "libns3" in line}
print("nodes", ns.NodeList.GetNNodes())
print("copies", sum("-core" in library for library in libraries))
"""


@pytest.mark.interop
@pytest.mark.parametrize("imports", [(IMPORT_OURS, IMPORT_THEIRS), (IMPORT_THEIRS, IMPORT_OURS)])
def test_one_process_has_one_ns3(imports: tuple[str, str], tmp_path: Path) -> None:
    # The bindings search the current folder and all below it for libraries, so it is an empty one.
    script = "\n".join([*imports, REPORT])
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["nodes 1", "copies 1"]
