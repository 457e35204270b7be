# SPDX-License-Identifier: GPL-2.0-only
"""How many CPUs this process may use: a container's share is not the machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["usable_cpus"]

#: Where control groups of either version have the CPU time of a period, and the period, in us (cgroups(7)).
_VERSION_1 = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
_VERSION_2 = ("cpu.max",)


def usable_cpus(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int:
    """CPUs that this process may run on, or fewer where a control group gives it less time; at least 1.

    Parameters
    ----------
    groups : where control groups are mounted.
    own : names the groups of this process, as Linux's cgroups(7) has it: of version 2, and of version 1, whose groups
        of CPU time are mounted in a folder of their own.
    """
    cpus = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):
        for line in own.read_text("utf-8").splitlines():
            _, controllers, name = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            group = groups / ("cpu" if controllers else "") / name.lstrip("/")
            # a limit of any group around this one holds, too
            for folder in [group, *group.parents]:
                if folder.is_relative_to(groups):
                    cpus = min(cpus, _quota(folder, *(_VERSION_1 if controllers else _VERSION_2)))
    return cpus


def _quota(folder: Path, *names: str) -> int:
    """CPUs that a control group allows, whole ones; more than any machine has where it sets no limit.

    Parameters
    ----------
    folder : of the group.
    names : of its files, which together have the time that it may take in a period, and the period.
    """
    with suppress(OSError, ValueError):
        quota, period = (int(word) for name in names for word in (folder / name).read_text("ascii").split())
        if quota > 0:  # version 1 has -1 where there is no limit
            return max(quota // period, 1)
    return 1 << 30
