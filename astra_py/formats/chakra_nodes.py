# SPDX-License-Identifier: GPL-2.0-only
"""The nodes of one Chakra file, as the file has them: what one rank does.

A file is a stream of messages: ``GlobalMetadata``, then a ``Node`` each. Field numbers and types are those of MLCommons
Chakra's ``et_def.proto``, schema 0.0.4.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.formats.chakra_attributes import Attribute, read_attribute
from astra_py.formats.protobuf import LENGTH, VARINT, WireError, fields, next_field, varint, varints

__all__ = ["VERSION", "ChakraNodes", "CommType", "NodeType", "read_chakra_nodes"]

#: The schema that is read and written.
VERSION = "0.0.4"


class NodeType(IntEnum):
    """What a node is: ``NodeType`` of the schema."""

    INVALID = 0
    METADATA = 1
    MEM_LOAD = 2
    MEM_STORE = 3
    COMP = 4
    COMM_SEND = 5
    COMM_RECV = 6
    COMM_COLL = 7


class CommType(IntEnum):
    """Which collective a node of type COMM_COLL is: ``CollectiveCommType`` of the schema."""

    ALL_REDUCE = 0
    REDUCE = 1
    ALL_GATHER = 2
    GATHER = 3
    SCATTER = 4
    BROADCAST = 5
    ALL_TO_ALL = 6
    REDUCE_SCATTER = 7
    REDUCE_SCATTER_BLOCK = 8
    BARRIER = 9


#: Fields of GlobalMetadata.
_VERSION, _METADATA_ATTR = 1, 2

#: Fields of Node.
_ID, _NAME, _TYPE, _CTRL_DEPS, _DATA_DEPS, _START, _DURATION, _INPUTS, _OUTPUTS, _ATTR = range(1, 11)

#: The wire types of a Node's fields; a repeated integer may be packed.
_WIRE_TYPES = {
    _ID: (VARINT,),
    _NAME: (LENGTH,),
    _TYPE: (VARINT,),
    _CTRL_DEPS: (LENGTH, VARINT),
    _DATA_DEPS: (LENGTH, VARINT),
    _START: (VARINT,),
    _DURATION: (VARINT,),
    _INPUTS: (LENGTH,),
    _OUTPUTS: (LENGTH,),
    _ATTR: (LENGTH,),
}

#: Attributes repeat from node to node; so many different ones are kept to be found again.
_MOST_KEPT = 2**16


@dataclass(frozen=True, kw_only=True)
class ChakraNodes:
    """The nodes of one file, one row a node, in its order.

    Attributes
    ----------
    path : the file.
    version : of the schema, as the file says; empty where it says nothing.
    id : u64[m].
    type : u8[m], :class:`NodeType`.
    name, names : i32[m] and the names it indexes.
    duration_micros : u64[m], in us; 0 where the file gives none.
    attributes : the attributes of each node.
    dep_ptr, dep_id : i64[m + 1], u64[k]; node i waits for the nodes ``dep_id[dep_ptr[i]:dep_ptr[i + 1]]``, control and
        data dependencies alike.
    input_values : ``inputs.values`` of the METADATA nodes that have them, by row.
    unused_fields : fields that are not read, by number to how many nodes have them; some the schema does not have.
    """

    path: Path
    version: str
    id: NDArray[np.uint64]
    type: NDArray[np.uint8]
    name: NDArray[np.int32]
    names: tuple[str, ...]
    duration_micros: NDArray[np.uint64]
    attributes: list[tuple[Attribute, ...]] = field(repr=False)
    dep_ptr: NDArray[np.int64]
    dep_id: NDArray[np.uint64]
    input_values: dict[int, str]
    unused_fields: dict[int, int]

    def __len__(self) -> int:
        return len(self.id)

    def where(self, row: int) -> str:
        """File, node and name, as error messages begin."""
        return f"{self.path}, node {self.id[row]} ({self.names[self.name[row]]!r})"


def read_chakra_nodes(path: Path) -> ChakraNodes:
    """Read one rank's file.

    Raises
    ------
    WorkloadError : the file cannot be read or is no Chakra file; the message has the file and the byte or the node.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    reader = _Reader(path, data)
    try:
        reader.read()
    except WireError as error:
        raise WorkloadError(f"{path}: {error}; a Chakra file is a stream of protobuf messages") from error
    return reader.nodes()


class _Reader:
    """The columns of a file while it is read."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self.version = ""
        self.id, self.type, self.name, self.duration = array("Q"), array("B"), array("l"), array("Q")
        self.names: dict[bytes, int] = {}
        self.dep_ptr, self.dep_id = array("q", [0]), array("Q")
        self.attributes: list[tuple[Attribute, ...]] = []
        self.input_values: dict[int, str] = {}
        self.unused_fields: dict[int, int] = {}
        self._kept: dict[bytes, Attribute | None] = {}

    def read(self) -> None:
        """Read all messages."""
        if not self.data:
            raise WireError(0, "the file is empty")
        at, size, is_first = 0, len(self.data), True
        while at < size:
            start = at
            length, at = varint(self.data, at, size)
            if length > size - at:
                raise WireError(start, f"a message of {length} bytes, and {size - at} are left")
            if is_first:
                self._read_metadata(at, at + length)
            else:
                self._read_node(at, at + length)
            at += length
            is_first = False

    def _read_metadata(self, at: int, end: int) -> None:
        for number, wire, begin, stop in fields(self.data, at, end):
            if number not in (_VERSION, _METADATA_ATTR) or wire != LENGTH:
                raise WireError(at, "the first message is no GlobalMetadata, with which a file of this schema begins")
            if number == _VERSION:
                self.version = self._text(begin, stop)

    def _read_node(self, at: int, end: int) -> None:
        data = self.data
        identity = kind = duration = 0
        name = b""
        attributes = []
        inputs: tuple[int, int] | None = None
        while at < end:
            # next_field, without a call for what nearly all fields are: a number below 16, an integer or a length
            start, key = at, data[at]
            number, wire = key >> 3, key & 7
            if key < 0x80 and wire in (VARINT, LENGTH):
                if at + 1 < end and data[at + 1] < 0x80:
                    value, at = data[at + 1], at + 2
                else:
                    value, at = varint(data, at + 1, end)
                if wire == LENGTH:
                    begin, at = at, at + value
            else:
                number, wire, begin, at = next_field(data, start, end)
                if wire == VARINT:
                    value, _ = varint(data, begin, end)
            if at > end:
                raise WireError(start, f"field {number} ends after its message")
            if not number:
                raise WireError(start, "field number 0")
            if wire not in _WIRE_TYPES.get(number, (wire,)):
                raise WireError(start, f"field {number} of a node has wire type {wire}")
            if number == _ATTR:
                if (attribute := self._attribute(begin, at)) is not None:
                    attributes.append(attribute)
            elif number == _NAME:
                name = data[begin:at]
            elif number == _ID:
                identity = value
            elif number == _TYPE:
                kind = value
            elif number == _DURATION:
                duration = value
            elif number in (_CTRL_DEPS, _DATA_DEPS):
                if wire == VARINT:
                    self.dep_id.append(value)
                else:
                    self.dep_id.extend(varints(data, begin, at))
            elif number == _INPUTS:
                inputs = begin, at
            else:
                self.unused_fields[number] = self.unused_fields.get(number, 0) + 1
        if kind > NodeType.COMM_COLL:
            raise WireError(end, f"node {identity} has type {kind}; known are 0 to {int(NodeType.COMM_COLL)}")
        if kind == NodeType.METADATA and inputs is not None:
            self._read_inputs(*inputs)
        self.id.append(identity)
        self.type.append(kind)
        self.name.append(self.names.setdefault(name, len(self.names)))
        self.duration.append(duration)
        self.attributes.append(tuple(attributes))
        self.dep_ptr.append(len(self.dep_id))

    def _attribute(self, begin: int, end: int) -> Attribute | None:
        raw = self.data[begin:end]
        if raw in self._kept:
            return self._kept[raw]
        attribute = read_attribute(self.data, begin, end)
        if len(self._kept) < _MOST_KEPT:
            self._kept[raw] = attribute
        return attribute

    def _read_inputs(self, at: int, end: int) -> None:
        for number, wire, begin, stop in fields(self.data, at, end):
            if number == 1 and wire == LENGTH:
                self.input_values[len(self.id)] = self._text(begin, stop)

    def _text(self, begin: int, end: int) -> str:
        try:
            return self.data[begin:end].decode()
        except UnicodeDecodeError:
            raise WireError(begin, "a text is not UTF-8") from None

    def nodes(self) -> ChakraNodes:
        return ChakraNodes(
            path=self.path,
            version=self.version,
            id=np.array(self.id, dtype=np.uint64),
            type=np.array(self.type, dtype=np.uint8),
            name=np.array(self.name, dtype=np.int32),
            names=tuple(name.decode(errors="replace") for name in self.names),
            duration_micros=np.array(self.duration, dtype=np.uint64),
            attributes=self.attributes,
            dep_ptr=np.array(self.dep_ptr, dtype=np.int64),
            dep_id=np.array(self.dep_id, dtype=np.uint64),
            input_values=self.input_values,
            unused_fields=self.unused_fields,
        )
