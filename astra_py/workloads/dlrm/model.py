# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM, described: two MLPs, embedding tables and the interaction between them. Nothing here computes a time.

Dense features go through the bottom MLP; sparse features are looked up in embedding tables, the rows of one sample
summed (pooled) to one vector a table; the interaction joins all vectors of a sample; the top MLP makes the prediction.
Source: Naumov et al., 2019, "Deep Learning Recommendation Model for Personalization and Recommendation Systems".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES

__all__ = ["INTERACTIONS", "ComputeTimes", "DenseLayer", "DlrmModel", "Dtypes", "EmbeddingTable", "LayerTimes"]

INTERACTIONS = ("dot", "concatenation")


@dataclass(frozen=True, kw_only=True)
class EmbeddingTable:
    """One embedding table.

    Attributes
    ----------
    name : what plans and messages call it.
    rows, dim : its shape; a row is one vector of ``dim`` elements.
    pooling : rows that a sample looks up, on average.
    dtype : element type of the rows in memory.
    """

    name: str
    rows: int
    dim: int
    pooling: float
    dtype: str

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.dim * DTYPE_BYTES[self.dtype]

    @property
    def memory_bytes(self) -> int:
        """Bytes of all rows; the optimiser's state is not counted."""
        return self.rows * self.row_bytes

    def lookups(self, samples: int) -> int:
        """Rows that ``samples`` samples look up, rounded to nearest."""
        return round(samples * self.pooling)


@dataclass(frozen=True, kw_only=True)
class Dtypes:
    """Element types, names of :data:`~astra_py.workloads.dlrm.DTYPE_BYTES`.

    Attributes
    ----------
    weights : dense weights and their gradients.
    activations : what flows between dense layers.
    compute : the arithmetic of dense layers, such as ``"tf32"``.
    indices, lengths : rows to look up, and how many of them each sample has in a table.
    forward_all_to_all, backward_all_to_all : pooled vectors and their gradients on the wire.
    """

    weights: str
    activations: str
    compute: str
    indices: str
    lengths: str
    forward_all_to_all: str
    backward_all_to_all: str


@dataclass(frozen=True, kw_only=True)
class DenseLayer:
    """A fully connected layer of ``inputs`` x ``outputs`` weights; biases, a part in ``inputs``, are not counted."""

    name: str
    inputs: int
    outputs: int

    @property
    def weights(self) -> int:
        """Number of weights."""
        return self.inputs * self.outputs


@dataclass(frozen=True, kw_only=True)
class LayerTimes:
    """Compute times of a dense layer's three passes, in ps."""

    forward_ps: int
    weight_gradient_ps: int
    input_gradient_ps: int


@dataclass(frozen=True, kw_only=True)
class ComputeTimes:
    """Compute times that a model file fixes, in ps, the same on every rank; ``bottom`` and ``top`` by layer."""

    lookup_ps: int
    update_ps: int
    interaction_forward_ps: int
    interaction_backward_ps: int
    bottom: tuple[LayerTimes, ...]
    top: tuple[LayerTimes, ...]


@dataclass(frozen=True, kw_only=True)
class DlrmModel:
    """A DLRM and the batch it is trained with.

    Attributes
    ----------
    name, source : what it is called, and the file it was read from, as error messages begin.
    bottom : widths of the bottom MLP, the dense features first.
    top : widths of the top MLP's layers; its input comes from the interaction.
    interaction : ``"dot"``, the products of all pairs of vectors beside the dense one, or ``"concatenation"``.
    projection : width to which the model reduces what the interaction makes before the top MLP, or None. The projection
        itself takes no time here.
    tables : at least one.
    local_batch : samples of a rank and iteration.
    dtypes : element types.
    times : fixed compute times, or None where they follow from the accelerator.

    Raises
    ------
    WorkloadError : the parts do not fit each other.
    """

    name: str
    source: str
    bottom: tuple[int, ...]
    top: tuple[int, ...]
    interaction: str
    tables: tuple[EmbeddingTable, ...]
    local_batch: int
    dtypes: Dtypes
    projection: int | None = None
    times: ComputeTimes | None = None

    def __post_init__(self) -> None:
        if not self.tables or len(self.bottom) < 2 or not self.top:
            raise self.error("a DLRM has at least one table and one layer in each MLP")
        names = [table.name for table in self.tables]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise self.error(f"there are two tables {twice!r}; allowed: names that differ")
        if self.interaction == "dot":
            for table in self.tables:
                if table.dim != self.bottom[-1]:
                    raise self.error(
                        f"table {table.name!r} has dim {table.dim} and the bottom MLP ends with {self.bottom[-1]}: a "
                        "dot product needs one width; allowed: equal dims, or interaction = 'concatenation'"
                    )
        for which in ("bottom", "top") if self.times is not None else ():
            given, layers = len(getattr(self.times, which)), len(getattr(self, f"{which}_layers"))
            if given != layers:
                raise self.error(f"compute.{which} has times of {given} layers and the {which} MLP has {layers}")

    @property
    def sum_of_dims(self) -> int:
        """Elements of all pooled vectors of a sample."""
        return sum(table.dim for table in self.tables)

    @property
    def interaction_width(self) -> int:
        """Elements of a sample that the interaction makes of the dense vector and the pooled ones."""
        if self.interaction == "concatenation":
            return self.bottom[-1] + self.sum_of_dims
        vectors = len(self.tables) + 1
        return self.bottom[-1] + vectors * (vectors - 1) // 2

    @property
    def bottom_layers(self) -> tuple[DenseLayer, ...]:
        """Layers of the bottom MLP, first to last."""
        return _layers("bottom", self.bottom)

    @property
    def top_layers(self) -> tuple[DenseLayer, ...]:
        """Layers of the top MLP, first to last."""
        return _layers("top", (self.projection or self.interaction_width, *self.top))

    @property
    def dense_weights_bytes(self) -> int:
        """Bytes of all dense weights; their gradients take the same."""
        weights = sum(layer.weights for layer in (*self.bottom_layers, *self.top_layers))
        return weights * DTYPE_BYTES[self.dtypes.weights]

    def error(self, what: str) -> WorkloadError:
        """Make a WorkloadError that says where the model comes from."""
        return WorkloadError(f"{self.source}: {what}")


def _layers(prefix: str, widths: tuple[int, ...]) -> tuple[DenseLayer, ...]:
    return tuple(
        DenseLayer(name=f"{prefix}_{i}", inputs=inputs, outputs=outputs)
        for i, (inputs, outputs) in enumerate(pairwise(widths))
    )
