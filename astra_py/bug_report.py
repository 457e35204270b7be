# SPDX-License-Identifier: GPL-2.0-only
"""What to send in a bug report: the installation, the machine, and a small run beside the figures that it should have.

Nothing of the user is in it: paths of the home folder and of the environment are cut out, and no variable of the
process's environment is read.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from astra_py.installation import State, examine, probe

__all__ = ["KNOWN_FIGURES", "BugReport", "bug_report", "without_paths"]

_PACKAGES = ("astra-py", "ns3", "numpy", "pandas", "networkx", "pydantic", "typer", "rich", "matplotlib", "pyarrow")
#: An all-reduce of 64 KiB on the four default ranks, packet by packet: what every installation has to get, to the ps.
_SMALL_RUN = """
import json
from astra_py.api import one_collective
from astra_py.config import load_scenario
result = one_collective(load_scenario({}, ["platform.ranks=4"]), "all_reduce", 65536).run()
print(json.dumps({
    "time_ps": result.manifest["run"]["time_ps"],
    "packets": result.counters["packets"],
    "packet_hops": result.counters["packet_hops"],
    "wire_bytes": int(result.columns("links")["line_bytes"].sum()),
    "checks": len(result.checks),
}))
"""
KNOWN_FIGURES: Mapping[str, int] = {
    "time_ps": 17_876_960,
    "packets": 96,
    "packet_hops": 384,
    "wire_bytes": 819_456,
}


@dataclass(frozen=True)
class BugReport:
    """Facts by name, what was looked at, and a small run.

    Attributes
    ----------
    versions : of the interpreter and of the packages; "not installed" where one is not.
    machine : system, C library, processor, cores, memory.
    extension : SHA-256 of the extension's file; empty where there is none.
    checks : a line for each check of the installation.
    small_run : figures of a small run; empty where it failed.
    problem : why it failed, or which figures are not the known ones; empty where all is well.
    """

    versions: Mapping[str, str]
    machine: Mapping[str, str]
    extension: str
    checks: tuple[str, ...]
    small_run: Mapping[str, int]
    problem: str

    def lines(self) -> Iterator[str]:
        """The report as text, to be pasted into an issue."""
        for title, facts in (("versions", self.versions), ("machine", self.machine)):
            yield f"{title}:"
            yield from (f"  {name}: {fact}" for name, fact in facts.items())
        yield f"extension: {f'sha256 {self.extension}' if self.extension else 'not built'}"
        yield "installation:"
        yield from (f"  {check}" for check in self.checks)
        figures = ", ".join(f"{value:,} {name}" for name, value in self.small_run.items())
        yield f"small run: {figures or 'failed'}"
        yield f"  {self.problem or 'as known, to the picosecond'}"


def bug_report() -> BugReport:
    """Look at everything; takes a few seconds, and raises nothing where something is not well."""
    figures, problem = _small_run()
    return BugReport(
        versions={"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        machine=_machine(),
        extension=_extension_digest(),
        checks=tuple(
            without_paths(f"{check.state.upper()} {check.name}: {check.finding}")
            + (f" ({without_paths(check.advice)})" if check.state is not State.OK else "")
            for check in examine()
        ),
        small_run=figures,
        problem=without_paths(problem),
    )


def without_paths(text: str) -> str:
    """``text`` without where the environment and the user's home are."""
    for folder, name in (
        (sys.prefix, "ENV"),
        (sys.base_prefix, "PYTHON"),
        (str(Path.cwd()), "."),
        (str(Path.home()), "~"),
    ):
        if len(folder) > 1:
            text = text.replace(folder, name)
    return re.sub(r"/(?:home|Users)/[^/\s:]+", "~", text)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _machine() -> dict[str, str]:
    memory = _of_file("/proc/meminfo", r"MemTotal:\s+(\d+) kB")
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "distribution": _of_file("/etc/os-release", r'PRETTY_NAME="?([^"\n]*)'),
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
        "processor": _of_file("/proc/cpuinfo", r"model name\s*: (.*)"),
        "cores": f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}",
        "memory": f"{int(memory) * 1024 / 1e9:.1f} GB" if memory.isdigit() else memory,
    }


def _of_file(path: str, pattern: str) -> str:
    """What ``pattern`` finds in a file of the system's; "unknown" where there is none."""
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        found = None
    return found[1].strip() if found else "unknown"


def _extension_digest() -> str:
    spec = importlib.util.find_spec("astra_py._ns3_ext")
    if spec is None or spec.origin is None:
        return ""
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()


def _small_run() -> tuple[dict[str, int], str]:
    output, problem = probe(_SMALL_RUN)
    if problem:
        return {}, f"failed: {problem}"
    figures: dict[str, int] = json.loads(output)
    wrong = [
        f"{name} is {figures[name]:,} and not {known:,}"
        for name, known in KNOWN_FIGURES.items()
        if figures[name] != known
    ]
    return figures, "; ".join(wrong)
