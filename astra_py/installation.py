# SPDX-License-Identifier: GPL-2.0-only
"""Whether this installation can work, and what to do where it cannot.

What loads native code is tried in a process of its own, so that a library that aborts is one failed line. The ``ns``
module of ns-3's bindings is never imported: that takes over ten seconds and a compiler.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["Check", "State", "examine", "probe"]

_NS3_VERSION = "3.44.post0"
_PYTHONS = ((3, 11), (3, 13))
_PACKAGES = ("numpy", "pandas", "networkx", "pydantic", "typer", "rich")
# Longest import of the extension that is not remarked on: what a command line may cost before it does anything.
_LONGEST_IMPORT_S = 0.1
_PROBE_TIMEOUT_S = 60

_BUILD = "in the source folder: make run, or pip install ."

# Loads one shared library; that of ns-3 has no entry point to call, so loading is the test.
_LOAD_LIBRARY = "import ctypes, sys; ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)"

# Imports the extension, then asks ns-3 itself (Time::GetResolution) for the unit of its clock: number 8 is picoseconds.
_IMPORT_EXTENSION = """
import ctypes, json, sys, time
import astra_py
start = time.perf_counter()
import astra_py._ns3_ext
seconds = time.perf_counter() - start
unit = ctypes.CDLL(sys.argv[1])._ZN3ns34Time13GetResolutionEv()
print(json.dumps({"seconds": seconds, "unit": unit}))
"""
_PICOSECONDS = 8


class State(StrEnum):
    """How a check came out; only FAIL makes the installation unusable."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was found, and what to do about it where it is not well."""

    name: str
    state: State
    finding: str
    advice: str = ""


def examine() -> Iterator[Check]:
    """Look at one thing after the other, the foundations first; nothing is raised where one is not well.

    Yields
    ------
    Check : of the interpreter, the machine, the packages, ns-3's libraries, the extension, the unit of ns-3's clock, a
        compiler, and ns-3's own Python bindings. The installation can work where none is :attr:`State.FAIL`.
    """
    yield _python()
    yield _machine()
    for name in _PACKAGES:
        yield _package(name)
    yield _ns3_version()
    core = _ns3_core_library()
    yield _ns3_libraries(core)
    yield from _extension(core)
    yield _compiler()
    yield _bindings()


def _python() -> Check:
    found = sys.version_info[:2]
    finding = f"{platform.python_version()} at {sys.executable}"
    low, high = (".".join(map(str, bound)) for bound in _PYTHONS)
    if _PYTHONS[0] <= found <= _PYTHONS[1]:
        return Check("Python", State.OK, finding)
    advice = f"ns-3's wheels and numpy need {low} to {high}: make run PYTHON=python{low}"
    return Check("Python", State.FAIL, finding, advice)


def _machine() -> Check:
    finding = f"{platform.system()} {platform.machine()}"
    if finding == "Linux x86_64":
        return Check("machine", State.OK, finding)
    return Check("machine", State.FAIL, finding, "ns-3's wheels are for Linux x86-64 only")


def _package(name: str) -> Check:
    try:
        return Check(name, State.OK, version(name))
    except PackageNotFoundError:
        return Check(name, State.FAIL, "not installed", f"{sys.executable} -m pip install {name}")


def _ns3_version() -> Check:
    install = f"{sys.executable} -m pip install --no-deps ns3=={_NS3_VERSION}"
    try:
        found = version("ns3")
    except PackageNotFoundError:
        return Check("ns3", State.FAIL, "not installed", install)
    if found != _NS3_VERSION:
        return Check("ns3", State.FAIL, found, f"the extension is built for {_NS3_VERSION}: {install}")
    return Check("ns3", State.OK, found)


def _ns3_core_library() -> Path | None:
    """Find ns-3's core library in the wheel, without importing anything of it."""
    spec = importlib.util.find_spec("ns3")
    folders = spec.submodule_search_locations if spec is not None else None
    found = [file for folder in folders or () for file in Path(folder).glob("lib64/libns3*-core.so")]
    return found[0] if found else None


def _ns3_libraries(core: Path | None) -> Check:
    if core is None:
        return Check("ns-3 libraries", State.FAIL, "none found", "reinstall the ns3 wheel")
    network = core.with_name(core.name.replace("core", "network"))
    for library in (core, network):
        _, problem = probe(_LOAD_LIBRARY, str(library))
        if problem:
            return Check("ns-3 libraries", State.FAIL, f"{library} does not load: {problem}", "reinstall the ns3 wheel")
    return Check("ns-3 libraries", State.OK, f"load from {core.parent}")


def _extension(core: Path | None) -> Iterator[Check]:
    if importlib.util.find_spec("astra_py._ns3_ext") is None:
        yield Check("extension", State.FAIL, "astra_py._ns3_ext is not built", _BUILD)
        return
    output, problem = probe(_IMPORT_EXTENSION, str(core))
    if problem:
        yield Check("extension", State.FAIL, f"does not import: {problem}", _BUILD)
        return
    found = json.loads(output)
    finding = f"imports in {found['seconds']:.3f} s"
    if found["seconds"] <= _LONGEST_IMPORT_S:
        yield Check("extension", State.OK, finding)
    else:
        advice = "slower than usual: the first import after a start, or a slow disk"
        yield Check("extension", State.WARN, finding, advice)
    if found["unit"] == _PICOSECONDS:
        yield Check("time resolution", State.OK, "ns-3's clock counts picoseconds")
    else:
        advice = "something made an ns-3 Time before the extension was imported: import astra_py first"
        yield Check("time resolution", State.FAIL, "ns-3's clock does not count picoseconds", advice)


def _compiler() -> Check:
    found = shutil.which(os.environ.get("CXX", "g++"))
    if found is None:
        advice = "only building and ns-3's Python bindings need one: apt-get install g++"
        return Check("compiler", State.WARN, "none found", advice)
    return Check("compiler", State.OK, found)


def _bindings() -> Check:
    try:
        return Check("cppyy", State.OK, f"{version('cppyy')}; ns-3's own Python bindings can be used")
    except PackageNotFoundError:
        return Check("cppyy", State.OK, "not installed; only ns-3's own Python bindings need it")


def probe(code: str, *arguments: str) -> tuple[str, str]:
    """Run ``code`` in an interpreter like this one; return its output and, where it failed, why."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", code, *arguments]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_PROBE_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer in {_PROBE_TIMEOUT_S} s"
    if done.returncode == 0:
        return done.stdout, ""
    lines = done.stderr.strip().splitlines()
    return "", lines[-1] if lines else f"its process ended with {done.returncode}"
