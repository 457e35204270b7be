# SPDX-License-Identifier: GPL-2.0-only
"""``[workload]`` of a DLRM: how it is trained, and what its steps take."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.condition import AllOf, Condition
from astra_py.config.rules import Choice, Count, Number, QuantityRule
from astra_py.config.table import FieldError, Table, parameter
from astra_py.units import RATE, SIZE, parse_rate, parse_size

__all__ = ["ONLY_DLRM", "DlrmTraining"]

ONLY_DLRM = Condition("kind", "workload.kind = 'dlrm'", lambda kind: kind == "dlrm")
_ONLY_RATED = Condition("kind", "workload.kind = 'dlrm' or 'file'", lambda kind: kind in ("dlrm", "file"))
_ONLY_GLOBAL = Condition("global_batch", "a workload.global_batch", lambda batch: batch is not None)
_ONLY_HOST = AllOf(ONLY_DLRM, Condition("host_memory", "a workload.host_memory", lambda memory: memory > 0))
_MAD_MAX = "MAD-Max (Hsia et al., ISCA 2024), fitted to Neo's measurements on ZionEX with A100s"
_MOST_SAMPLES = 2**20


class DlrmTraining(Table):
    """The keys of ``[workload]`` that say how a DLRM is trained; a part of that table."""

    key: ClassVar[str] = "workload"

    local_batch: Annotated[int | None, Count(least=1, most=_MOST_SAMPLES, words={"model": None})] = parameter(
        "model",
        "Samples of a rank and iteration. 'model': what the description says.",
        source="the description as it is",
        only=ONLY_DLRM,
    )
    global_batch: Annotated[int | None, Count(least=1, most=2**40, words={"none": None})] = parameter(
        "none",
        "Samples of an iteration, in place of workload.local_batch. 'none': those of a rank times the ranks.",
        source="the local batch as it is",
        only=ONLY_DLRM,
    )
    remainder: Annotated[str, Choice("error", "spread", "drop")] = parameter(
        "error",
        "What is done with a global batch that the ranks do not divide: refuse it, give the first ranks one sample "
        "more than the others, or leave out what is over.",
        only=_ONLY_GLOBAL,
    )
    micro_batches: Annotated[int, Count(least=1, most=1024)] = parameter(
        1,
        "Parts that each rank's samples are trained in. The exchanges of one overlap with the dense work of another; "
        "dense gradients are reduced once.",
        source="the batch as it is",
        only=ONLY_DLRM,
    )
    ordering: Annotated[str, Choice("neo", "mad_max")] = parameter(
        "neo",
        "What overlaps with what. 'neo': collectives run side by side, by priority, and each layer waits for its own. "
        "'mad_max': a rank's collectives go one after another, and an iteration waits for all of the one before.",
        source="Neo (Mudigere et al., ISCA 2022, section 4); MAD-Max (Hsia et al., ISCA 2024)",
        only=ONLY_DLRM,
    )
    index_exchange: Annotated[str, Choice("in_step", "prefetched", "none")] = parameter(
        "in_step",
        "When a DLRM's indices go to the tables' owners: before their own lookup, during the top MLP's forward pass of "
        "the iteration before, or not at all, for comparison with models that leave them out.",
        only=ONLY_DLRM,
    )
    volumes: Annotated[str, Choice("pooled", "mad_max")] = parameter(
        "pooled",
        "How the bytes of vectors are counted: as they are exchanged, or by MAD-Max's rule, which is not physical: all "
        "looked-up rows, un-pooled, in 4 B an element, over the ranks, and as much from each to each.",
        source="MAD-Max (Hsia et al., ISCA 2024)",
        only=ONLY_DLRM,
    )
    bucket: Annotated[int | None, QuantityRule(SIZE, least=1, most=parse_size("1TiB"), words={"layer": None})] = (
        parameter(
            "layer",
            "Bytes of dense gradients, and of data-parallel tables', that are reduced together, in the order in which "
            "they are ready. 'layer': those of each layer by themselves, and of such tables of one type together.",
            source="Neo (Mudigere et al., ISCA 2022, section 4); PyTorch's buckets have 25 MiB",
            only=ONLY_DLRM,
        )
    )
    optimizer: Annotated[str, Choice("none", "sgd", "adagrad", "adam")] = parameter(
        "none",
        "The optimiser of dense weights, whose step takes the time of the memory that it moves. 'none': no time.",
        source="MAD-Max (Hsia et al., ISCA 2024) counts none",
        only=ONLY_DLRM,
    )
    embedding_optimizer: Annotated[str, Choice("one_pass", "sgd", "row_wise_adagrad", "adagrad", "adam")] = parameter(
        "one_pass",
        "The optimiser of embedding tables, by the memory that the update of a looked-up row moves. 'one_pass': the "
        "row once; the others read and write it and their state.",
        source="MAD-Max (Hsia et al., ISCA 2024) counts one pass",
        only=ONLY_DLRM,
    )
    interaction_time: Annotated[str, Choice("roofline", "none")] = parameter(
        "roofline",
        "Whether the interaction takes the time of its arithmetic and memory, or none, for comparison with models that "
        "leave it out.",
        only=ONLY_DLRM,
    )
    flops_efficiency: Annotated[float, Number(least=0, most=1, is_least_allowed=False)] = parameter(
        0.705,
        "Share of the accelerator's peak arithmetic that a DLRM's dense layers reach, and a Chakra trace's nodes that "
        "give operations and no time.",
        source=_MAD_MAX,
        only=_ONLY_RATED,
    )
    memory_efficiency: Annotated[float, Number(least=0, most=1, is_least_allowed=False)] = parameter(
        0.836,
        "Share of the accelerator's memory bandwidth that a DLRM's lookups and dense layers reach, and such nodes.",
        source=_MAD_MAX,
        only=_ONLY_RATED,
    )
    host_memory_bandwidth: Annotated[int, QuantityRule(RATE, least=8, most=parse_rate("100TB/s"))] = parameter(
        "25GB/s",
        "A rank's share of its host's memory bandwidth, for shards that are kept there. Lookups in them are no faster "
        "than the accelerator's PCIe link.",
        source="ZionEX: 200 GB/s for 8 accelerators (Neo, ISCA 2022, table of a node)",
        only=_ONLY_HOST,
    )

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.global_batch is not None and self.local_batch is not None:
            raise FieldError(
                "global_batch",
                f"{self.global_batch} beside workload.local_batch = {self.local_batch}",
                "one of the two",
            )
