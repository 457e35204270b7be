# SPDX-License-Identifier: GPL-2.0-only
"""Embedding tables as production has them, drawn: hundreds to thousands, rows and pooling heavy-tailed.

Means are public, shapes are not: the mean of rows and of dims are those of DLRM-A as MAD-Max (Hsia et al., ISCA 2024)
models it, that of pooling is 1,405,163,864 indices for 131,072 samples in 788 tables (Meta's ``dlrm_datasets``, 2022,
``locality_stats.txt``). That sizes and pooling factors span orders of magnitude is RecShard's (Sethi et al., ASPLOS
2022, section 3); their standard deviations, ends and independence of each other are assumed.

What is drawn depends on the seed alone: numbers come from PCG64's own bits (O'Neill, 2014), normal ones by the inverse
of the distribution function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from astra_py.workloads.dlrm.model import EmbeddingTable

__all__ = ["DISTRIBUTIONS", "Distribution", "TableGenerator"]

F64 = NDArray[np.float64]

DISTRIBUTIONS = ("log_normal", "power_law", "constant")


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A positive figure's distribution.

    Attributes
    ----------
    kind : ``"log_normal"``, ``"power_law"`` (Pareto's, from ``least`` on) or ``"constant"``.
    mean : of the log-normal one before it is cut, or the constant.
    sigma : standard deviation of the log-normal one's natural logarithm.
    exponent : of the power law's distribution function, ``P(x) = 1 - (least / x)^exponent``.
    least, most : what is drawn outside is set to these.
    """

    kind: str
    mean: float = 1.0
    sigma: float = 1.0
    exponent: float = 1.0
    least: float = 1.0
    most: float = math.inf

    def values(self, uniform: F64) -> F64:
        """Values of the distribution for numbers evenly spread between 0 and 1, both left out."""
        if self.kind == "constant":
            return np.full(len(uniform), self.mean)
        if self.kind == "power_law":
            drawn = self.least * (1 - uniform) ** (-1 / self.exponent)
        else:
            inverse = NormalDist(math.log(self.mean) - self.sigma**2 / 2, self.sigma).inv_cdf
            drawn = np.exp(np.array([inverse(float(u)) for u in uniform], dtype=np.float64))
        return np.clip(drawn, self.least, self.most)


#: DLRM-A: 4,096 tables of 2.08 million rows on average; standard deviation and ends assumed.
_ROWS = Distribution(kind="log_normal", mean=2.08e6, sigma=2.0, least=10, most=1e8)
#: ``dlrm_datasets``, 2022: 13.6 indices a sample and table; standard deviation and ends assumed.
_POOLING = Distribution(kind="log_normal", mean=1_405_163_864 / (131_072 * 788), sigma=1.5, least=1, most=500)
#: A mean near DLRM-A's 94; assumed.
_DIMS = (32, 64, 96, 128, 144)


@dataclass(frozen=True, kw_only=True)
class TableGenerator:
    """Draws tables.

    Attributes
    ----------
    count : number of tables.
    seed : the same seed gives the same tables; more of them have the fewer as their first ones.
    rows, pooling : distributions of the number of rows, rounded to nearest, and of the pooling factor, to hundredths.
    dims : each as likely as the others.
    dtype : element type of all.
    """

    count: int
    seed: int = 1
    rows: Distribution = field(default=_ROWS)
    pooling: Distribution = field(default=_POOLING)
    dims: Sequence[int] = _DIMS
    dtype: str = "fp16"

    def tables(self) -> list[EmbeddingTable]:
        """Draw the tables, ``table_0`` and so on."""
        uniform = self._uniform().T
        rows = np.maximum(np.rint(self.rows.values(uniform[0])), 1).astype(np.int64)
        pooling = np.maximum(np.round(self.pooling.values(uniform[1]), 2), 0.01)
        dims = np.array(self.dims, dtype=np.int64)[(uniform[2] * len(self.dims)).astype(np.int64)]
        columns = zip(rows.tolist(), pooling.tolist(), dims.tolist(), strict=True)
        return [
            EmbeddingTable(name=f"table_{i}", rows=r, dim=d, pooling=p, dtype=self.dtype)
            for i, (r, p, d) in enumerate(columns)
        ]

    def _uniform(self) -> F64:
        """f64[count, 3]: numbers between 0 and 1, both left out, from 52 bits each."""
        bits = np.random.PCG64(self.seed).random_raw((self.count, 3)) >> np.uint64(12)
        return (bits.astype(np.float64) + 0.5) / 2.0**52
