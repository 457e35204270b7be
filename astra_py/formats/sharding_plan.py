# SPDX-License-Identifier: GPL-2.0-only
"""Sharding plans of a DLRM: CSV and JSON of our own, TorchRec's as our exporter writes it, and its printed form."""

from __future__ import annotations

from pathlib import Path

from astra_py.formats.head import Head
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.workloads.dlrm import Plan
from astra_py.workloads.dlrm.plan_files import COLUMNS, write_plan
from astra_py.workloads.dlrm.plan_outline import read_plan_alone
from astra_py.workloads.dlrm.torchrec import is_printed_plan

__all__ = ["SHARDING_PLAN"]

_NAME = "sharding_plan"


def _recognises(path: Path, head: Head) -> bool:
    """Whether it begins with our columns or TorchRec's heading, or has the keys of a table's sharding."""
    text = head.text or ""
    first = [cell.strip() for cell in text.split("\n", 1)[0].split(",")]
    return first == list(COLUMNS) or "sharding_type" in head.json_keys or is_printed_plan(text)


def _read(path: Path, options: Options) -> Document:
    found = read_plan_alone(path, options.ranks)
    return Document(
        format=_NAME,
        path=path,
        content=found.plan,
        summary=found.notes,
        ignored=("what a table is looked up and its type, which a plan does not say: workload.plan takes the model's",),
        ranks=found.plan.ranks,
    )


def _write(document: Document, path: Path, options: Options) -> tuple[str, ...]:
    plan: Plan = document.content
    write_plan(plan, path)
    return (f"{path}: {len(plan.table)} shards of {len(plan.sharding)} tables",)


SHARDING_PLAN = register_format(
    Format(
        name=_NAME,
        title="a DLRM's sharding plan",
        kind=Kind.PLAN,
        recognises=_recognises,
        read=_read,
        write=_write,
        writes=frozenset({Kind.PLAN}),
        suffixes=(".csv", ".json"),
    )
)
