# SPDX-License-Identifier: GPL-2.0-only
"""The nodes of one PyTorch execution trace, as the file has them: JSON, plain or as a gzip.

Source of the schemas: PyTorch, ``torch/csrc/profiler/standalone/execution_trace_observer.cpp``, and PARAM's reader,
``et_replay/execution_trace.py``. Schema 1.0.1 has a flat object a node; from 1.0.2 on a node has ``ctrl_deps`` (its
parent), ``inputs`` and ``outputs`` as objects, and the rest as a list of named ``attrs``. Chakra's linker of host and
device traces adds nodes of kernels, with a category, and times in microseconds.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from astra_py.errors import WorkloadError

__all__ = ["SCHEMAS", "EtNode", "Tensor", "read_et_nodes", "tensors_of"]

#: Schemas that are read.
SCHEMAS = ("1.0.1", *(f"{version}-chakra.0.0.4" for version in ("1.0.2", "1.0.3", "1.0.4", "1.1.0", "1.1.1")))

#: A gzip of a trace is so many times smaller, and not less: one that unpacks to more is taken for a trap.
_MOST_RATIO, _IN_ANY_CASE = 256, 2**20


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as nodes refer to it: ``[id, storage, offset, elements, bytes an element, device]``."""

    id: int
    storage: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class EtNode:
    """One node.

    Attributes
    ----------
    where : file, node and name, as error messages begin.
    id : its number; numbers are in order of execution.
    name : of the operator or annotation.
    parent : the node during which it ran; the root is its own.
    is_operator : whether it is an operator of PyTorch's and not an annotation. Functions of ``c10d`` are none: what
        they do is in the ``record_param_comms`` below them.
    inputs, outputs : their values; tensors are among them.
    input_type : type of the first input, such as ``"Tensor(float)"``; empty where there is none.
    attributes : what else is known; of a collective from schema 1.1.0 on its name, sizes and group.
    category : of what ran on a device, such as ``"kernel"``; empty for the host's.
    duration_us : its own time without that of its children; None where the file gives none.
    """

    where: str
    id: int
    name: str
    parent: int
    is_operator: bool
    inputs: list[Any]
    outputs: list[Any]
    input_type: str
    attributes: Mapping[str, Any]
    category: str
    duration_us: float | None


def tensors_of(value: Any) -> list[Tensor]:
    """Return the tensors among values, however deep in lists."""
    if not isinstance(value, list):
        return []
    if len(value) == 6 and isinstance(value[5], str) and all(type(item) is int for item in value[:5]):
        return [Tensor(value[0], value[1], max(value[3], 0) * max(value[4], 0))]
    return [tensor for item in value if isinstance(item, list) for tensor in tensors_of(item)]


def read_et_nodes(path: Path) -> list[EtNode]:
    """Read one rank's file; nodes in order of execution.

    Raises
    ------
    WorkloadError : the file cannot be read or is no execution trace of a schema of :data:`SCHEMAS`; the message has the
        file and the node.
    """
    tree = _json(path)
    if isinstance(tree, dict) and "traceEvents" in tree:
        raise WorkloadError(
            f"{path}: is a Chrome trace, as PyTorch's profiler (Kineto) exports: when kernels ran, and not what they "
            "exchanged; an execution trace is needed (torch.profiler.ExecutionTraceObserver)"
        )
    if not isinstance(tree, dict) or not isinstance(tree.get("nodes"), list):
        raise WorkloadError(f"{path}: is no execution trace: it has no list of 'nodes'")
    schema = tree.get("schema")
    if schema not in SCHEMAS:
        raise WorkloadError(f"{path}: schema {schema!r} is not read; allowed: {', '.join(SCHEMAS)}")
    nodes = [_node(path, number, found) for number, found in enumerate(tree["nodes"])]
    nodes.sort(key=lambda node: node.id)
    for one, other in pairwise(nodes):
        if one.id == other.id:
            raise WorkloadError(f"{other.where}: has the id of another node, {one.name!r}")
    return nodes


def _json(path: Path) -> Any:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    if data.startswith(b"\x1f\x8b"):
        data = _unpacked(path, data)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        what = "its lists are nested too deep" if isinstance(error, RecursionError) else str(error)
        raise WorkloadError(f"{path}: is no JSON: {what}") from None


def _unpacked(path: Path, data: bytes) -> bytes:
    most = _MOST_RATIO * len(data) + _IN_ANY_CASE
    unpack = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpack.decompress(data, most)
    except zlib.error as error:
        raise WorkloadError(f"{path}: is a broken gzip: {error}") from None
    if unpack.unconsumed_tail:
        raise WorkloadError(f"{path}: unpacks to more than {most} B, {_MOST_RATIO} times its size")
    if not unpack.eof:
        raise WorkloadError(f"{path}: is a gzip whose end is missing")
    return unpacked


def _node(path: Path, number: int, found: Any) -> EtNode:
    if not isinstance(found, dict) or type(found.get("id")) is not int or not isinstance(found.get("name"), str):
        raise WorkloadError(f"{path}, entry {number} of 'nodes': is no node: it has no 'id' and 'name'")
    where = f"{path}, node {found['id']} ({found['name']!r})"
    if not 0 <= found["id"] < 2**64:
        raise WorkloadError(f"{where}: allowed are ids of 64 bits")
    inputs, outputs = found.get("inputs", []), found.get("outputs", [])
    if isinstance(inputs, dict):
        attributes = _attributes(where, found.get("attrs", []))
        parent, types = found.get("ctrl_deps"), inputs.get("types", [])
        inputs, outputs = inputs.get("values", []), outputs.get("values", []) if isinstance(outputs, dict) else None
    else:
        attributes, parent, types = found, found.get("parent"), found.get("input_types", [])
    if not isinstance(inputs, list) or not isinstance(outputs, list) or not isinstance(types, list):
        raise WorkloadError(f"{where}: its inputs, outputs and their types are lists of values, and are not here")
    if type(parent) is not int:
        raise WorkloadError(f"{where}: its parent is {parent!r}; allowed is the id of a node")
    name, schema = found["name"], attributes.get("op_schema", "")
    category, duration_us = found.get("cat", ""), found.get("exclusive_dur")
    if duration_us is not None and (type(duration_us) not in (int, float) or not 0 <= duration_us < 1e12):
        raise WorkloadError(f"{where}: exclusive_dur is {duration_us!r}; allowed are 0 to 10^12 us")
    return EtNode(
        where=where,
        id=found["id"],
        name=name,
        parent=parent,
        is_operator=bool(schema) and not name.startswith("c10d::"),
        inputs=inputs,
        outputs=outputs,
        input_type=types[0] if types and isinstance(types[0], str) else "",
        attributes=attributes,
        category=category if isinstance(category, str) else "",
        duration_us=duration_us,
    )


def _attributes(where: str, found: Any) -> dict[str, Any]:
    if not isinstance(found, list) or not all(isinstance(a, dict) and isinstance(a.get("name"), str) for a in found):
        raise WorkloadError(f"{where}: its attrs are no list of named values")
    return {attribute["name"]: attribute.get("value") for attribute in found}
