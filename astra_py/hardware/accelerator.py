# SPDX-License-Identifier: GPL-2.0-only
"""Accelerators: peak arithmetic, memory and scale-up links, as their makers publish them.

Peaks are those of dense matrices, on tensor cores where the type has them; data sheets that print twice that for
sparse matrices are halved. GB and TB of a data sheet are read as 10^9 and 10^12 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from astra_py.errors import ConfigError, did_you_mean

__all__ = ["Accelerator", "accelerator", "accelerators"]


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """What one accelerator can do at most; efficiencies are the user's.

    Attributes
    ----------
    name : as in ``platform.accelerator``.
    peak_flops_by_dtype : operations a second by type (``"fp32"``, ``"tf32"``, ``"fp16"``, ``"bf16"``, ...); a
        multiplication and an addition are two. Of an integer type, integer operations.
    memory_bandwidth_Bps : bytes a second of its own memory.
    memory_bytes : size of its own memory.
    scale_up_rate_bps : bit/s of all its scale-up links together, in each direction.
    host_link_bandwidth_Bps : bytes a second of its link to the host (PCIe x16), in each direction.
    source : where the figures are printed.
    """

    name: str
    peak_flops_by_dtype: Mapping[str, int]
    memory_bandwidth_Bps: int  # noqa: N815  (b is bit and B is byte)
    memory_bytes: int
    scale_up_rate_bps: int
    host_link_bandwidth_Bps: int  # noqa: N815
    source: str

    def peak_flops(self, dtype: str) -> int:
        """Return the operations a second with numbers of type ``dtype``.

        Raises
        ------
        ConfigError
            the accelerator has no unit for this type.
        """
        peak = self.peak_flops_by_dtype.get(dtype)
        if peak is None:
            hint = did_you_mean(dtype, self.peak_flops_by_dtype)
            allowed = ", ".join(self.peak_flops_by_dtype)
            raise ConfigError(f"{self.name} has no peak for type {dtype!r}{hint}; allowed: {allowed}")
        return peak


def _tera(**peaks: float) -> dict[str, int]:
    """Write 10^12 operations a second as whole operations a second."""
    return {dtype: round(peak * 10**12) for dtype, peak in peaks.items()}


_A100_PEAKS = _tera(fp64=19.5, fp32=19.5, tf32=156, fp16=312, bf16=312, int8=624)
_A100_SOURCE = "NVIDIA A100 Tensor Core GPU data sheet (SXM), NVLink 600 GB/s and PCIe 4.0 64 GB/s, both ways"

_ACCELERATORS = {
    made.name: made
    for made in (
        Accelerator(
            name="V100",
            peak_flops_by_dtype=_tera(fp64=7.8, fp32=15.7, fp16=125),
            memory_bandwidth_Bps=900 * 10**9,
            memory_bytes=32 * 10**9,
            scale_up_rate_bps=8 * 150 * 10**9,
            host_link_bandwidth_Bps=16 * 10**9,
            source="NVIDIA V100 Tensor Core GPU data sheet (SXM2, 32 GB), NVLink 300 and PCIe 3.0 32 GB/s both ways",
        ),
        Accelerator(
            name="A100-40",
            peak_flops_by_dtype=_A100_PEAKS,
            memory_bandwidth_Bps=1_555 * 10**9,
            memory_bytes=40 * 10**9,
            scale_up_rate_bps=8 * 300 * 10**9,
            host_link_bandwidth_Bps=32 * 10**9,
            source=_A100_SOURCE,
        ),
        Accelerator(
            name="A100-80",
            peak_flops_by_dtype=_A100_PEAKS,
            memory_bandwidth_Bps=2_039 * 10**9,
            memory_bytes=80 * 10**9,
            scale_up_rate_bps=8 * 300 * 10**9,
            host_link_bandwidth_Bps=32 * 10**9,
            source=_A100_SOURCE,
        ),
        Accelerator(
            name="H100",
            peak_flops_by_dtype=_tera(fp64=67, fp32=67, tf32=494.5, fp16=989.5, bf16=989.5, fp8=1979, int8=1979),
            memory_bandwidth_Bps=3_350 * 10**9,
            memory_bytes=80 * 10**9,
            scale_up_rate_bps=8 * 450 * 10**9,
            host_link_bandwidth_Bps=64 * 10**9,
            source="NVIDIA H100 Tensor Core GPU data sheet (SXM), NVLink 900 GB/s and PCIe 5.0 128 GB/s, both ways",
        ),
    )
}


def accelerators() -> tuple[str, ...]:
    """Return the names of all accelerators."""
    return tuple(_ACCELERATORS)


def accelerator(name: str) -> Accelerator:
    """Return an accelerator by its name.

    Raises
    ------
    ConfigError
        there is none of this name.
    """
    if name not in _ACCELERATORS:
        hint = did_you_mean(name, _ACCELERATORS)
        raise ConfigError(f"accelerator {name!r} is unknown{hint}; allowed: {', '.join(_ACCELERATORS)}")
    return _ACCELERATORS[name]
