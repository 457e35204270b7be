# SPDX-License-Identifier: GPL-2.0-only
"""How many samples each rank has in an iteration, and in each of its micro-batches.

A global batch that the ranks do not divide is no accident to be rounded away: what becomes of the remainder is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError

__all__ = ["REMAINDERS", "Batches", "equal_batches", "shared_batch"]

#: What becomes of a global batch's remainder; see :func:`shared_batch`.
REMAINDERS = ("error", "spread", "drop")


@dataclass(frozen=True, eq=False)
class Batches:
    """Samples of an iteration.

    Attributes
    ----------
    local : i64[ranks], samples of each rank.
    micro_batches : parts that each rank's samples are trained in, one after another.
    dropped : samples of the global batch that nobody trains.

    Raises
    ------
    WorkloadError : a rank has fewer samples than micro-batches.
    """

    local: NDArray[np.int64]
    micro_batches: int = 1
    dropped: int = 0

    def __post_init__(self) -> None:
        least = int(self.local.min())
        if least < self.micro_batches:
            raise WorkloadError(
                f"workload.micro_batches = {self.micro_batches}: a rank has {least} samples in an iteration; allowed: "
                f"1 to {least}"
            )

    @property
    def samples(self) -> int:
        """Samples of all ranks together."""
        return int(self.local.sum())

    def parts(self) -> list[NDArray[np.int64]]:
        """Samples of each rank by micro-batch, i64[ranks] each: floor or ceil of an equal part, the larger first."""
        floor, larger = np.divmod(self.local, self.micro_batches)
        return [floor + (part < larger) for part in range(self.micro_batches)]


def equal_batches(local_batch: int, ranks: int, micro_batches: int = 1) -> Batches:
    """Return the batches of ranks that all have ``local_batch`` samples."""
    return Batches(np.full(ranks, local_batch, dtype=np.int64), micro_batches)


def shared_batch(global_batch: int, ranks: int, remainder: str, micro_batches: int = 1) -> Batches:
    """Share a global batch among ranks.

    Parameters
    ----------
    global_batch : samples of an iteration.
    ranks : number of ranks.
    remainder : what is done where ``ranks`` does not divide it: ``"error"`` refuses it, ``"spread"`` gives the first
        ranks one sample more than the others, ``"drop"`` leaves out the samples that are over.
    micro_batches : parts of each rank's samples.

    Raises
    ------
    WorkloadError : there is a remainder and it is an error, or there are fewer samples than ranks.
    """
    if global_batch < ranks:
        raise WorkloadError(
            f"workload.global_batch = {global_batch}: the job has {ranks} ranks; allowed: a sample a rank and more"
        )
    floor, over = divmod(global_batch, ranks)
    if over and remainder == "error":
        raise WorkloadError(
            f"workload.global_batch = {global_batch} is no multiple of the job's {ranks} ranks; allowed: a multiple, "
            f"such as {floor * ranks}, or workload.remainder as 'spread' or 'drop'"
        )
    local = np.full(ranks, floor, dtype=np.int64)
    if remainder == "spread":
        local[:over] += 1
        over = 0
    return Batches(local, micro_batches, dropped=over)
