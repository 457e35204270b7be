# SPDX-License-Identifier: GPL-2.0-only
"""DLRMs that the tests use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from astra_py.config import load_scenario
from astra_py.hardware import accelerator
from astra_py.workloads.dlrm import DlrmJob, DlrmModel, Dtypes, EmbeddingTable

A100 = accelerator("A100-40")

FP16 = Dtypes(
    weights="fp32",
    activations="fp32",
    compute="tf32",
    indices="int64",
    lengths="int32",
    forward_all_to_all="fp16",
    backward_all_to_all="bf16",
)


def table(name: str = "t", **figures: Any) -> EmbeddingTable:
    return EmbeddingTable(**{"name": name, "rows": 1000, "dim": 8, "pooling": 2, "dtype": "fp16", **figures})


#: Three tables of dims 8, 16 and 8 with pooling factors of 3, 1 and 5: 13-8 and 40-4-1.
SMALL = DlrmModel(
    name="small",
    source="small.toml",
    bottom=(13, 8),
    top=(4, 1),
    interaction="concatenation",
    tables=(table("a", pooling=3), table("b", dim=16, pooling=1), table("c", pooling=5)),
    local_batch=10,
    dtypes=FP16,
)


def with_tables(*tables: EmbeddingTable) -> DlrmModel:
    return replace(SMALL, tables=tables)


def job(ranks: int, *overrides: str, **workload: Any) -> DlrmJob:
    scenario = load_scenario({"workload": {"kind": "dlrm", **workload}}, overrides)
    return DlrmJob(scenario.require_workload(), ranks, A100)
