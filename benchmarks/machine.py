# SPDX-License-Identifier: GPL-2.0-only
"""What was measured on: processor, memory, Python and commit."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

__all__ = ["ROOT", "commit", "machine"]

#: The checkout; commands are run from here.
ROOT = Path(__file__).resolve().parents[1]


def machine() -> str:
    """Return processor, cores, memory and Python in a few words."""
    names = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    kib = [int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    memory = f"{kib[0] / 2**20:.0f} GiB of memory" if kib else "memory unknown"
    model = names[0] if names else platform.processor()
    return f"{model}, {os.cpu_count()} cores, {memory}, Python {platform.python_version()}"


def commit() -> str:
    """Return the checkout's commit, marked where it has changes of its own, results of benchmarks aside."""
    files = ["--", ".", ":!benchmarks/RESULTS.md", ":!benchmarks/results.json", ":!benchmarks/cost.svg"]
    try:
        name = _git("rev-parse", "--short=10", "HEAD")
        return f"{name}-dirty" if _git("status", "--porcelain", "--untracked-files=no", *files) else name
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []
