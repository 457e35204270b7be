# SPDX-License-Identifier: GPL-2.0-only
"""DLRM from a model's description: sharding, volumes, compute times, and the training loop as a Trace."""

from astra_py.workloads.dlrm.batches import Batches, equal_batches, shared_batch
from astra_py.workloads.dlrm.dtypes import DTYPE_BYTES
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.job import DlrmJob
from astra_py.workloads.dlrm.memory import Memory
from astra_py.workloads.dlrm.model import (
    ComputeTimes,
    DenseLayer,
    DlrmModel,
    Dtypes,
    EmbeddingTable,
    LayerTimes,
)
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.read import read_dlrm
from astra_py.workloads.dlrm.roofline import Roofline
from astra_py.workloads.dlrm.row_groups import RowGroup, row_groups
from astra_py.workloads.dlrm.sharders import shard, shard_table_wise
from astra_py.workloads.dlrm.sharding import TIERS, ShardError, Sharding, Tier
from astra_py.workloads.dlrm.step_times import PassTimes, StepTimes, fixed_times, roofline_times
from astra_py.workloads.dlrm.training import MicroBatch, dlrm_trace

__all__ = [
    "DTYPE_BYTES",
    "TIERS",
    "Batches",
    "ComputeTimes",
    "DenseLayer",
    "DlrmJob",
    "DlrmModel",
    "Dtypes",
    "EmbeddingTable",
    "Exchanges",
    "LayerTimes",
    "Memory",
    "MicroBatch",
    "PassTimes",
    "Plan",
    "Roofline",
    "RowGroup",
    "ShardError",
    "Sharding",
    "StepTimes",
    "Tier",
    "dlrm_trace",
    "equal_batches",
    "fixed_times",
    "read_dlrm",
    "roofline_times",
    "row_groups",
    "shard",
    "shard_table_wise",
    "shared_batch",
]
