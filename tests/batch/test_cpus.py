# SPDX-License-Identifier: GPL-2.0-only
"""How many points run at once where nobody says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from astra_py.batch.cpus import usable_cpus


def usable(folder: Path, own: str, **limits: str) -> int:
    """With groups ``a`` and ``a/b`` that have these ``cpu.max``."""
    (folder / "a" / "b").mkdir(parents=True)
    for name, limit in limits.items():
        (folder / name.replace("_", "/") / "cpu.max").write_text(f"{limit}\n")
    (folder / "own").write_text(own)
    return usable_cpus(folder, folder / "own")


@pytest.fixture(autouse=True)
def eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))


@pytest.mark.parametrize(
    ("own", "limits", "cpus"),
    [
        ("0::/\n", {}, 8),
        ("0::/a/b\n", {"a": "max 100000", "a_b": "max 100000"}, 8),
        ("0::/a/b\n", {"a_b": "350000 100000"}, 3),
        ("0::/a/b\n", {"a": "200000 100000", "a_b": "max 100000"}, 2),
        ("0::/a\n", {"a_b": "200000 100000"}, 8),
        ("0::/a\n", {"a": "20000 100000"}, 1),
        ("0::/a\n", {"a": "6400000 100000"}, 8),
        ("4:cpu,cpuacct:/a\n0::/gone\n", {"a": "200000 100000"}, 8),
        ("0::/a\n", {"a": "nonsense"}, 8),
    ],
)
def test_a_share_of_time_counts_as_whole_cpus(tmp_path: Path, own: str, limits: dict[str, str], cpus: int) -> None:
    assert usable(tmp_path, own, **limits) == cpus


def test_without_control_groups_it_is_the_machine(tmp_path: Path) -> None:
    assert usable_cpus(tmp_path, tmp_path / "missing") == 8


@pytest.mark.parametrize(
    ("quota_us", "where", "cpus"), [(250_000, "cpu/a", 2), (-1, "cpu/a", 8), (50_000, "cpu", 1), (400_000, "cpu/b", 8)]
)
def test_control_groups_of_version_1(tmp_path: Path, quota_us: int, where: str, cpus: int) -> None:
    folder = tmp_path / where
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text(f"{quota_us}\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "own").write_text("5:cpuset:/b\n4:cpu,cpuacct:/a\n1:name=systemd:/a\n")
    assert usable_cpus(tmp_path, tmp_path / "own") == cpus
