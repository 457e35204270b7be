# SPDX-License-Identifier: GPL-2.0-only
"""PyTorch execution traces for tests: the shape of what PyTorch writes, in the first schema and in later ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

ROOT = 1


def tensor(id: int, elements: int, size: int = 4, storage: int = 0) -> list[Any]:
    """A tensor as nodes refer to it."""
    return [id, storage or 1000 + id, 0, elements, size, "cuda:0"]


def operator(
    id: int, name: str = "aten::mm", *, parent: int = ROOT, reads: Any = (), writes: Any = ()
) -> dict[str, Any]:
    """An operator of PyTorch's."""
    return node(id, name, parent=parent, inputs=list(reads), outputs=list(writes), op_schema=f"{name}(...) -> Tensor")


def comms(
    id: int,
    name: str,
    sequence: int = 0,
    *,
    reads: list[Any] | None = None,
    writes: list[Any] | None = None,
    splits: tuple[list[int], list[int]] = ([], []),
    group: Any = 94594108284448,
    rank: int = 0,
    type: str = "Tensor(float)",
    parent: int = ROOT,
    beyond: tuple[Any, ...] = (),
) -> dict[str, Any]:
    """A ``record_param_comms`` node: tensors only where it has some, then the positions that PyTorch writes."""
    tensors = [] if reads is None else [reads]
    inputs = [*tensors, sequence, group, rank, name, *splits, *beyond]
    types = [f"GenericList[{type}]"] if tensors else ["Int"]
    return node(id, "record_param_comms", parent=parent, inputs=inputs, outputs=[writes or []], input_types=types)


def wait(id: int, sequence: int, group: Any = 0) -> dict[str, Any]:
    return comms(id, "wait", sequence, group=group)


def node(id: int, name: str, *, parent: int = ROOT, inputs: Any = (), outputs: Any = (), **rest: Any) -> dict[str, Any]:
    """A node of schema 1.0.1."""
    return {
        "name": name,
        "id": id,
        "rf_id": id,
        "parent": parent,
        "fw_parent": 0,
        "seq_id": -1,
        "scope": 0,
        "tid": 1,
        "fw_tid": 0,
        "op_schema": "",
        "inputs": list(inputs),
        "input_shapes": [],
        "input_types": [],
        "outputs": list(outputs),
        "output_shapes": [],
        "output_types": [],
        **rest,
    }


_OWN_KEYS = (
    "name",
    "id",
    "parent",
    "inputs",
    "input_shapes",
    "input_types",
    "outputs",
    "output_shapes",
    "output_types",
)


def later(flat: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    """The same node in a schema from 1.0.2 on, with attributes by name."""
    kept = {key: flat[key] for key in flat if key in ("cat", "exclusive_dur")}
    named = {key: value for key, value in flat.items() if key not in (*_OWN_KEYS, *kept)} | attributes
    return {
        "id": flat["id"],
        "name": flat["name"],
        "ctrl_deps": flat["parent"],
        "inputs": {"values": flat["inputs"], "shapes": flat["input_shapes"], "types": flat["input_types"]},
        "outputs": {"values": flat["outputs"], "shapes": flat["output_shapes"], "types": flat["output_types"]},
        "attrs": [{"name": name, "type": "string", "value": value} for name, value in named.items()],
        **kept,
    }


def write_trace(path: Path, nodes: list[dict[str, Any]], schema: str = "1.0.1") -> Path:
    """Write a file, as a gzip where its name says so; nodes of schema 1.0.1 are rewritten for later ones."""
    if schema != "1.0.1":
        nodes = [found if "ctrl_deps" in found else later(found) for found in nodes]
    root = node(ROOT, "[pytorch|profiler|execution_trace|process]")
    tree = {"schema": schema, "pid": 7, "time": "", "start_ts": 1, "nodes": [*nodes, root], "finish_ts": 2}
    if schema != "1.0.1":
        tree["nodes"][-1] = later(root)
    data = json.dumps(tree, indent=1).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path
