# SPDX-License-Identifier: GPL-2.0-only
"""How many CPUs this process may use: a container's share is not the machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["usable_cpus"]


def usable_cpus(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int:
    """CPUs that this process may run on, or fewer where a control group (version 2) gives it less time; at least 1.

    Parameters
    ----------
    groups : where control groups are mounted.
    own : names the group of this process, as Linux's cgroups(7) has it.
    """
    cpus = len(os.sched_getaffinity(0))
    with suppress(OSError):
        names = [line.removeprefix("0::/") for line in own.read_text("utf-8").splitlines() if line.startswith("0::/")]
        for group in [groups / name for name in names]:
            # a limit of any group around this one holds, too
            for folder in [group, *group.parents]:
                if folder.is_relative_to(groups):
                    cpus = min(cpus, _quota(folder / "cpu.max"))
    return cpus


def _quota(path: Path) -> int:
    """CPUs that a file ``cpu.max`` allows, whole ones; more than any machine has where it sets no limit."""
    with suppress(OSError, ValueError):
        quota, period = map(int, path.read_text("ascii").split())
        return max(quota // period, 1)
    return 1 << 30
