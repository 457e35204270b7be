# SPDX-License-Identifier: GPL-2.0-only
"""Chakra files for tests, written by MLCommons' own protobuf module."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from chakra.schema.protobuf import et_def_pb2 as et
from google.protobuf.internal.encoder import _VarintBytes  # type: ignore[attr-defined]

COMP, COLL, SEND, RECV = et.COMP_NODE, et.COMM_COLL_NODE, et.COMM_SEND_NODE, et.COMM_RECV_NODE


def attribute(name: str, value: Any) -> et.AttributeProto:
    """An attribute with the type that converters give such a value."""
    if isinstance(value, et.AttributeProto):
        return value
    if isinstance(value, bool):
        return et.AttributeProto(name=name, bool_val=value)
    if isinstance(value, str):
        return et.AttributeProto(name=name, string_val=value)
    return et.AttributeProto(name=name, int64_val=value)


def node(
    id: int, kind: int = COMP, *, after: Iterable[int] = (), us: int = 0, name: str = "", **attributes: Any
) -> Any:
    made = et.Node(id=id, name=name or f"node_{id}", type=kind, duration_micros=us, data_deps=list(after))
    made.attr.extend(attribute(name, value) for name, value in attributes.items())
    return made


def write_et(path: Path, nodes: Iterable[Any], version: str = "0.0.4") -> Path:
    """Write a stream of messages."""
    messages = [et.GlobalMetadata(version=version), *nodes]
    path.write_bytes(b"".join(_VarintBytes(m.ByteSize()) + m.SerializeToString() for m in messages))
    return path


def read_et(path: Path) -> tuple[Any, list[Any]]:
    """Metadata and nodes of a file, by MLCommons' own tools."""
    from chakra.src.third_party.utils.protolib import decodeMessage, openFileRd

    metadata, nodes = et.GlobalMetadata(), []
    with openFileRd(str(path)) as file:
        assert decodeMessage(file, metadata)
        while decodeMessage(file, node := et.Node()):
            nodes.append(node)
    return metadata, nodes
