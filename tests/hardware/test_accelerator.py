# SPDX-License-Identifier: GPL-2.0-only
"""Accelerators: the published figures, and names that are not there."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.hardware import accelerator, accelerators

every_accelerator = pytest.mark.parametrize("name", accelerators())


@pytest.mark.parametrize(
    ("name", "dtype", "tera", "memory_GBps", "memory_GB", "scale_up_GBps", "pcie_GBps"),
    [
        ("V100", "fp16", 125, 900, 32, 150, 16),
        ("A100-40", "tf32", 156, 1555, 40, 300, 32),
        ("A100-80", "bf16", 312, 2039, 80, 300, 32),
        ("H100", "fp8", 1979, 3350, 80, 450, 64),
    ],
)
def test_figures(
    name: str,
    dtype: str,
    tera: int,
    memory_GBps: int,  # noqa: N803
    memory_GB: int,  # noqa: N803
    scale_up_GBps: int,  # noqa: N803
    pcie_GBps: int,  # noqa: N803
) -> None:
    made = accelerator(name)
    assert made.peak_flops(dtype) == tera * 10**12
    assert made.memory_bandwidth_Bps == memory_GBps * 10**9
    assert made.memory_bytes == memory_GB * 10**9
    assert made.scale_up_rate_bps == 8 * scale_up_GBps * 10**9
    assert made.host_link_bandwidth_Bps == pcie_GBps * 10**9


@every_accelerator
def test_narrower_floats_are_no_slower(name: str) -> None:
    peaks = accelerator(name).peak_flops_by_dtype
    floats = [peaks[dtype] for dtype in ("fp64", "fp32", "tf32", "fp16", "fp8") if dtype in peaks]
    assert floats == sorted(floats)
    assert accelerator(name).source


@every_accelerator
def test_a_scenario_names_it(name: str) -> None:
    assert load_scenario({}, [f"platform.accelerator={name}"]).platform.accelerator == name


def test_names_that_are_not_there() -> None:
    with pytest.raises(ConfigError, match=r"V100 has no peak for type 'tf32'.*allowed: fp64, fp32, fp16"):
        accelerator("V100").peak_flops("tf32")
    with pytest.raises(ConfigError, match=r"'A100-60' is unknown; did you mean 'A100-[48]0'.*allowed: V100, "):
        accelerator("A100-60")


def test_an_accelerator_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        accelerator("V100").memory_bytes = 0  # type: ignore[misc]


def test_the_documentation_has_the_same_figures() -> None:
    documents = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.* GB/s) \| NVIDIA", documents, re.MULTILINE))
    assert set(rows) == set(accelerators())
    for name, row in rows.items():
        made = accelerator(name)
        peaks = [made.peak_flops_by_dtype.get(dtype) for dtype in ("fp32", "tf32", "fp16")]
        memory = f"{made.memory_bytes // 10**9} GB, {made.memory_bandwidth_Bps // 10**9:,} GB/s"
        cells = [*(f"{peak / 1e12:g} TFLOP/s" if peak else "" for peak in peaks), memory]
        links = (made.scale_up_rate_bps // 8, made.host_link_bandwidth_Bps)
        assert [cell.strip() for cell in row.split("|")] == [*cells, *(f"{link // 10**9} GB/s" for link in links)]
