# SPDX-License-Identifier: GPL-2.0-only
"""How the extension is linked: to the one ns-3 of the process, without hiding what must be shared with it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def library() -> Path:
    spec = importlib.util.find_spec("astra_py._ns3_ext")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_ns3_is_found_beside_the_package(library: Path) -> None:
    dynamic = output("readelf", "--dynamic", "--wide", library)
    assert re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", dynamic) == [("RUNPATH", "$ORIGIN/../../ns3/lib64")]
    assert (library.parent / "../../ns3/lib64/libns3.44-core.so").exists()


def test_only_the_needed_parts_of_ns3_are_loaded(library: Path) -> None:
    needed = re.findall(r"\(NEEDED\).*\[(libns.*)\]", output("readelf", "--dynamic", "--wide", library))
    network = {"core", "network"}
    tcp = {"internet", "traffic-control"}
    assert set(needed) == {f"libns3.44-{name}.so" for name in network | tcp}


def test_the_resolution_of_time_is_shared_with_ns3(library: Path) -> None:
    # A static variable in an inline function of ns-3's headers. Were it hidden, the extension would have its own copy,
    # set to nanoseconds at its first use, and every time would be off by 1,000. "u" is a symbol unique in the process.
    symbols = output("nm", "--dynamic", "--demangle", library)
    assert re.findall(r" (\w) ns3::Time::PeekResolution\(\)::resolution$", symbols, re.MULTILINE) == ["u"]


def test_ns3s_python_bindings_do_not_take_the_extension_for_a_library_of_theirs(library: Path) -> None:
    # They load every library one folder below site-packages with "ns3" in its name.
    assert "ns3" not in library.name
    assert library.parent.name == "_ns3_ext"


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_ns3s_python_bindings_share_the_extensions_ns3(tmp_path: Path) -> None:
    # Imported as their documentation has it; from an empty folder, since they search all below the current one.
    script = """
import astra_py._ns3_ext
from ns import ns

ns.CreateObject[ns.Node]()
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libns3.44-core" in line}
print(len(mapped), ns.NodeList.GetNNodes(), ns.Time.GetResolution() == ns.Time.PS)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["1 1 True"], done.stderr
