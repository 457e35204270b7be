# SPDX-License-Identifier: GPL-2.0-only
"""How long work takes on an accelerator, by the roofline (Williams, Waterman and Patterson, CACM 2009).

Work of F operations over D bytes of memory takes ``max(F / (peak x flops efficiency), D / (bandwidth x memory
efficiency))``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astra_py.hardware import Accelerator

__all__ = ["Roofline", "exact"]


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """An accelerator and the shares of its peaks that work reaches.

    Attributes
    ----------
    accelerator : peaks by type, memory bandwidth, and the link to its host.
    flops_efficiency, memory_efficiency : the shares reached, above 0 and at most 1.
    host_memory_bandwidth_Bps : bytes a second of the host's memory, a rank's share of it; None where only the link to
        it is slow.
    """

    accelerator: Accelerator
    flops_efficiency: float
    memory_efficiency: float
    host_memory_bandwidth_Bps: int | None = None  # noqa: N815  (b is bit and B is byte)

    @property
    def host_bandwidth_Bps(self) -> int:  # noqa: N802
        """Bytes a second that a rank can read of its host's memory: that memory or the link to it, the slower."""
        link = self.accelerator.host_link_bandwidth_Bps
        return link if self.host_memory_bandwidth_Bps is None else min(self.host_memory_bandwidth_Bps, link)

    def time_ps(self, flops: int, size_bytes: int, dtype: str) -> int:
        """Time of ``flops`` operations in ``dtype`` over ``size_bytes`` of memory, in ps, rounded to nearest.

        Raises
        ------
        ConfigError : there are operations to do and the accelerator has no peak for ``dtype``.
        """
        memory = size_bytes / (self.accelerator.memory_bandwidth_Bps * exact(self.memory_efficiency))
        if not flops:
            return round(memory * 10**12)
        arithmetic = flops / (self.accelerator.peak_flops(dtype) * exact(self.flops_efficiency))
        return round(max(arithmetic, memory) * 10**12)

    def tiers_ps(self, size_bytes: int, host_bytes: int) -> int:
        """Time of memory-bound work on its own memory and then on the host's, in ps, rounded to nearest.

        One after the other, as TorchRec runs a kernel for each memory. The share of the bandwidth that is reached is
        the same in both (assumed).
        """
        efficiency = exact(self.memory_efficiency)
        own = size_bytes / (self.accelerator.memory_bandwidth_Bps * efficiency)
        return round((own + host_bytes / (self.host_bandwidth_Bps * efficiency)) * 10**12)


def exact(value: float) -> Fraction:
    """Return the decimal number that was written, without its binary rounding."""
    return Fraction(str(value))
