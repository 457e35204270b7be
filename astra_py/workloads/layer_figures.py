# SPDX-License-Identifier: GPL-2.0-only
"""Times and bytes of a text workload's layers as a Trace has them: scaled, rounded, in ps and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from astra_py.errors import WorkloadError
from astra_py.workloads.astra_text import AstraLayer, AstraTextModel
from astra_py.workloads.calls import MAX_INT64

__all__ = ["LayerFigures"]


@dataclass(frozen=True)
class LayerFigures:
    """Figures of a model's layers.

    Attributes
    ----------
    model : the workload.
    compute_unit_ps : one file unit of time, in ps.
    compute_scale, comm_scale : exact factors on compute times and on bytes of collectives.

    Raises
    ------
    WorkloadError : by each method, if a scaled figure leaves 64 bits; the message has file and line.
    """

    model: AstraTextModel
    compute_unit_ps: int
    compute_scale: Fraction
    comm_scale: Fraction

    def compute_ps(self, layer: AstraLayer, which: str) -> int:
        """Compute time of a pass, to the nearest ps."""
        units = dict(layer.passes)[which].compute
        return self._scaled(layer, f"{which} compute time", units * self.compute_unit_ps, self.compute_scale)

    def update_ps(self, layer: AstraLayer) -> int:
        """The layer's update delay, which no factor scales."""
        return self._scaled(layer, "update delay", layer.update_delay * self.compute_unit_ps, Fraction(1))

    def size_bytes(self, layer: AstraLayer, which: str, ranks: int) -> int:
        """Bytes of a call among ``ranks`` ranks.

        They are rounded to the nearest byte, and some bytes keep at least one unless the factor is 0. For an all-gather
        they are the whole array, of which the file has what each rank brings.
        """
        part = dict(layer.passes)[which]
        size_bytes = self._scaled(layer, f"{which} bytes", part.size_bytes, self.comm_scale)
        if part.size_bytes and self.comm_scale:
            size_bytes = max(size_bytes, 1)
        return size_bytes * ranks if part.collective == "all_gather" else size_bytes

    def _scaled(self, layer: AstraLayer, what: str, value: int, scale: Fraction) -> int:
        result = round(value * scale)
        if result > MAX_INT64:
            raise WorkloadError(
                f"{self.model.where(layer)}: scaled, the {what.replace('_', ' ')} is {result} and above 2^63 - 1"
            )
        return result
