# SPDX-License-Identifier: GPL-2.0-only
"""MAD-Max's model of DLRMs on ZionEX (Hsia et al., ISCA 2024), from first principles: work, bytes, and efficiencies.

Its figures, checked against every column that it published (``data/zionex_iterations.csv``):

- A dense layer of width w takes 2 b w^2 operations a pass, three passes, at 0.705 of an A100's 156 TFLOP/s (TF32).
- Lookups read the rows that a rank's share of all samples needs: b x tables x pooling x dim x 2 B, at 0.836 of
  1,555 GB/s; the update reads as many again.
- All-reduces have 4 B a weight: at Neo's 60 GB/s over 16 machines, in one machine at 0.6667 of NVLink's 300 GB/s.
- All-to-alls go at 0.56 of a 12.5 GB/s NIC, which is Neo's 7 GB/s, in one machine at NVLink's rate as above. Their
  bytes are *un-pooled*: each row that is looked up, at 4 B an element, over the number of ranks. What a rank really
  sends is pooled: b x tables x dim x 2 B, whatever the number of ranks. Both are offered, since only the first
  reproduces its 8-GPU figure, and only the second is physical.

Indices, interaction and the optimiser's step on dense weights take no time in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from astra_py.analysis.iteration_forms import DenseFigures, StepFigures
from astra_py.analysis.published import read_figures
from astra_py.errors import ConfigError
from astra_py.hardware import accelerator

__all__ = ["MADMAX_MODELS", "MadMaxModel", "Volumes", "mad_max_step"]

#: Fitted by MAD-Max for ZionEX (section 5, validation).
FLOPS_EFFICIENCY = Fraction("0.705")
MEMORY_EFFICIENCY = Fraction("0.836")
NVLINK_EFFICIENCY = Fraction("0.6667")
SCALE_OUT_EFFICIENCY = Fraction("0.56")
#: Bytes a second of one 100 Gb/s NIC, one a GPU (Neo, section 3).
NIC_BYTES_PER_S = 100 * 10**9 // 8
#: Bytes a second that all-reduces reach over machines, size over time (Neo, section 5.2).
ALL_REDUCE_BYTES_PER_S = 60 * 10**9
GPUS_PER_MACHINE = 8
#: Elements: dense weights, rows in memory and on the wire, and what MAD-Max counts of a row on the wire.
WEIGHT_BYTES, ROW_BYTES, UNPOOLED_BYTES = 4, 2, 4
PASSES = 3

_PS_PER_S = 10**12


class Volumes(StrEnum):
    """Whose bytes an all-to-all has."""

    UNPOOLED = "unpooled"
    POOLED = "pooled"


@dataclass(frozen=True, kw_only=True)
class MadMaxModel:
    """A DLRM as MAD-Max's model files describe it; tables are alike, and so are dense layers."""

    name: str
    tables: int
    rows: int
    dim: int
    pooling: int
    bottom_layers: int
    top_layers: int
    width: int
    local_batch: int

    @property
    def lookups(self) -> int:
        """Rows that a rank's share of all samples looks up."""
        return self.local_batch * self.tables * self.pooling

    def all_to_all_bytes(self, ranks: int, volumes: Volumes) -> Fraction:
        """Bytes of a rank in one direction."""
        if volumes is Volumes.UNPOOLED:
            return Fraction(self.lookups * self.dim * UNPOOLED_BYTES, ranks)
        return Fraction(self.local_batch * self.tables * self.dim * ROW_BYTES)


def _models() -> dict[str, MadMaxModel]:
    rows = read_figures("madmax_models.csv").set_index("model").astype(int).to_dict(orient="index")
    return {str(name): MadMaxModel(name=str(name), **{str(key): row[key] for key in row}) for name, row in rows.items()}


#: By name, as in ``data/madmax_models.csv``.
MADMAX_MODELS: Mapping[str, MadMaxModel] = _models()


def mad_max_step(model: MadMaxModel, gpus: int, volumes: Volumes = Volumes.UNPOOLED) -> StepFigures:
    """Return MAD-Max's times of a step on ZionEX with that many GPUs.

    Raises
    ------
    ConfigError : it gives no rates for this many GPUs: one machine of 8, or whole machines.
    """
    if gpus < 2 or (gpus > GPUS_PER_MACHINE and gpus % GPUS_PER_MACHINE):
        raise ConfigError(
            f"ZionEX with {gpus} GPUs: allowed are 2 to {GPUS_PER_MACHINE}, or whole machines of that many"
        )
    a100 = accelerator("A100-40")
    is_one_machine = gpus <= GPUS_PER_MACHINE
    nvlink = NVLINK_EFFICIENCY * a100.scale_up_rate_bps / 8
    to_all = nvlink if is_one_machine else SCALE_OUT_EFFICIENCY * NIC_BYTES_PER_S
    reduce = nvlink if is_one_machine else Fraction(ALL_REDUCE_BYTES_PER_S)
    weights = model.width**2
    flops = 2 * model.local_batch * weights
    one_pass = flops / (FLOPS_EFFICIENCY * a100.peak_flops("tf32"))
    layer = DenseFigures(
        forward_ps=_ps(one_pass),
        backward_ps=_ps((PASSES - 1) * one_pass),
        all_reduce_ps=_ps(weights * WEIGHT_BYTES / reduce),
    )
    lookup = model.lookups * model.dim * ROW_BYTES / (MEMORY_EFFICIENCY * a100.memory_bandwidth_Bps)
    exchange = model.all_to_all_bytes(gpus, volumes) / to_all
    return StepFigures(
        lookup_ps=_ps(lookup),
        update_ps=_ps(lookup),
        all_to_all_forward_ps=_ps(exchange),
        all_to_all_backward_ps=_ps(exchange),
        bottom=(layer,) * model.bottom_layers,
        top=(layer,) * model.top_layers,
    )


def _ps(seconds: Fraction) -> int:
    return round(seconds * _PS_PER_S)
