# SPDX-License-Identifier: GPL-2.0-only
"""Distributions of flow sizes: empirical ones of the field, and those of files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError

__all__ = ["HADOOP", "WEB_SEARCH", "FlowSizes", "read_flow_sizes"]

#: Largest size in a distribution, 1 PiB.
_MOST_BYTES = 2**50


@dataclass(frozen=True)
class FlowSizes:
    """A distribution of sizes by points of its cumulative share, straight between them.

    Attributes
    ----------
    size_bytes, percent : sizes and the percentage of flows up to each of them, both ascending, from 0 to 100 %.
    """

    size_bytes: tuple[float, ...]
    percent: tuple[float, ...]

    @property
    def mean_bytes(self) -> float:
        """Mean size."""
        size, share = np.array(self.size_bytes), np.array(self.percent) / 100
        return float(((size[1:] + size[:-1]) / 2 * np.diff(share)).sum())

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sizes of ``count`` flows in whole bytes, at least 1; i64[count]."""
        drawn = np.interp(100 * rng.random(count), self.percent, self.size_bytes)
        return np.maximum(np.rint(drawn).astype(np.int64), 1)

    @classmethod
    def fixed(cls, size_bytes: int) -> FlowSizes:
        """All flows of one size."""
        return cls((size_bytes, size_bytes), (0.0, 100.0))


#: Web search: Alizadeh et al., "Data Center TCP", SIGCOMM 2010; the points are those of WebSearch_distribution.txt in
#: the traffic generator published with HPCC (Li et al., SIGCOMM 2019).
WEB_SEARCH = FlowSizes(
    (0, 10e3, 20e3, 30e3, 50e3, 80e3, 200e3, 1e6, 2e6, 5e6, 10e6, 30e6),
    (0, 15, 20, 30, 40, 53, 60, 70, 80, 90, 97, 100),
)

#: Hadoop at Facebook: Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015; the points are
#: those of FbHdp_distribution.txt in the same generator.
HADOOP = FlowSizes(
    (0, 100, 200, 300, 350, 400, 500, 600, 700, 1e3, 2e3, 7e3, 30e3, 50e3, 80e3, 120e3, 300e3, 1e6, 2e6, 10e6),
    (0, 1, 2, 5, 15, 20, 30, 40, 50, 60, 67, 70, 72, 82, 87, 90, 95, 97.5, 99, 100),
)


def read_flow_sizes(path: str | Path) -> FlowSizes:
    """Read a distribution: a size in bytes and a percentage a line, both ascending, from 0 to 100 %.

    Raises
    ------
    WorkloadError : the file cannot be read or is no such distribution; names file and line.
    """
    try:
        lines = Path(path).read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"byte {error.start} is no ASCII"
        raise WorkloadError(f"{path}: cannot be read: {reason}") from None
    points: list[tuple[float, float]] = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        try:
            size, percent = map(float, words)
        except ValueError:
            raise WorkloadError(f"{path}, line {number}: {line!r} is not a size in bytes and a percentage") from None
        if not (0 <= size <= _MOST_BYTES and 0 <= percent <= 100):
            raise WorkloadError(f"{path}, line {number}: allowed are sizes of 0 to 2^50 B and percentages of 0 to 100")
        if points and not (size >= points[-1][0] and percent > points[-1][1]):
            raise WorkloadError(f"{path}, line {number}: size and percentage have to be above those of the line before")
        points.append((size, percent))
    if len(points) < 2 or points[0][1] != 0 or points[-1][1] != 100:
        raise WorkloadError(f"{path}: a distribution has at least two lines, the first of 0 % and the last of 100 %")
    if not points[-1][0]:
        raise WorkloadError(f"{path}: all of its flows would be of 0 B")
    return FlowSizes(tuple(size for size, _ in points), tuple(percent for _, percent in points))
