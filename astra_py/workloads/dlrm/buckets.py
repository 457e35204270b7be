# SPDX-License-Identifier: GPL-2.0-only
"""Gradients that are the same on every rank, put together for their all-reduces.

The rule is that of PyTorch's DistributedDataParallel (Li et al., VLDB 2020, section 3.2.3): gradients are taken in
the order in which they become ready and put into a bucket, which is closed when it has the bytes of a bucket or more,
or when the next gradient is of another type. A bucket is reduced when its last gradient is ready.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Bucket", "Gradient", "buckets"]


@dataclass(frozen=True)
class Gradient:
    """The gradient of a dense layer or of a data-parallel table.

    Attributes
    ----------
    name : of the layer or table.
    size_bytes : its size.
    dtype : its element type.
    """

    name: str
    size_bytes: int
    dtype: str


@dataclass(frozen=True)
class Bucket:
    """Gradients that are reduced together, in the order in which they become ready."""

    gradients: tuple[Gradient, ...]

    @property
    def name(self) -> str:
        """What tables call its all-reduce: the gradient's name, or the first and the last."""
        first, last = self.gradients[0].name, self.gradients[-1].name
        return first if len(self.gradients) == 1 else f"{first}_to_{last}"

    @property
    def size_bytes(self) -> int:
        """Bytes of all its gradients."""
        return sum(gradient.size_bytes for gradient in self.gradients)

    @property
    def dtype(self) -> str:
        """Element type of its gradients."""
        return self.gradients[0].dtype


def buckets(gradients: Sequence[Gradient], bucket_bytes: int | None) -> list[Bucket]:
    """Return the buckets of ``gradients``, which come in the order in which they become ready.

    Parameters
    ----------
    gradients : of one iteration.
    bucket_bytes : bytes at which a bucket is closed; None for a bucket a gradient.
    """
    made: list[Bucket] = []
    filling: list[Gradient] = []
    for gradient in gradients:
        if filling and filling[0].dtype != gradient.dtype:
            made.append(Bucket(tuple(filling)))
            filling = []
        filling.append(gradient)
        if bucket_bytes is None or sum(each.size_bytes for each in filling) >= bucket_bytes:
            made.append(Bucket(tuple(filling)))
            filling = []
    return [*made, Bucket(tuple(filling))] if filling else made
