# SPDX-License-Identifier: GPL-2.0-only
"""What a ``record_param_comms`` node of a PyTorch execution trace says: which collective, how many bytes, among whom.

Sources: PyTorch, ``torch/csrc/distributed/c10d/ParamCommsUtils.hpp`` and ``ProcessGroupNCCL.cpp`` (order of the inputs,
names, what counts as input and output); PARAM's replay, ``et_replay/comm/commsTraceParser.py`` (the same inputs read).
The inputs are ``[tensors,] sequence number, group, rank, name, input splits, output splits``, and later the group's
first rank, stride and size; ``rank`` is the root, or the peer of a message, as a member of the group. From schema
1.1.0 on attributes have the same by name, and go first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from astra_py.errors import WorkloadError, did_you_mean
from astra_py.formats.execution_trace_nodes import EtNode, tensors_of
from astra_py.formats.rank_graph import Exchange, Group

__all__ = ["Communication", "ProcessGroups", "communication", "exchange"]

#: Collectives by PyTorch's names of them, without what tells the ways to call one apart.
_KINDS = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "all_reduce": "all_reduce",
    "broadcast": "broadcast",
    "_broadcast_oop": "broadcast",
    "reduce": "reduce",
    "_reduce_oop": "reduce",
    "all_gather": "all_gather",
    "allgather": "all_gather",
    "_allgather_base": "all_gather",
    "all_gather_into_tensor": "all_gather",
    "allgather_into_tensor_coalesced": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "_reduce_scatter_base": "reduce_scatter",
    "reduce_scatter_tensor_coalesced": "reduce_scatter",
    "all_to_all": "all_to_all",
    "all_to_allv": "all_to_all",
    "gather": "gather",
    "scatter": "scatter",
    "send": "sendrecv",
    "recv": "sendrecv",
    "barrier": "barrier",
}

#: What is recorded in the same way and is no exchange.
_MARKS = ("wait", "init")

#: Bytes of an element by PyTorch's names of types (``c10::ScalarType``), and what we call the type.
_DTYPES = {
    "Float": (4, "fp32"),
    "Half": (2, "fp16"),
    "BFloat16": (2, "bf16"),
    "Double": (8, "fp64"),
    "Byte": (1, "uint8"),
    "Char": (1, "int8"),
    "Short": (2, "int16"),
    "Int": (4, "int32"),
    "Long": (8, "int64"),
    "Bool": (1, "bool"),
    "Float8_e4m3fn": (1, "fp8"),
    "Float8_e5m2": (1, "fp8"),
}

#: The same types by their names in C++, of which ``Tensor(...)`` has one.
_C_TYPES = {
    "float": "Float",
    "c10::Half": "Half",
    "c10::BFloat16": "BFloat16",
    "double": "Double",
    "unsigned char": "Byte",
    "signed char": "Char",
    "short": "Short",
    "int": "Int",
    "long int": "Long",
    "long": "Long",
    "bool": "Bool",
}


#: Most ranks of a group that is not listed.
_MOST_RANKS = 2**20


class ProcessGroups:
    """The groups that a file names.

    Parameters
    ----------
    nodes : the file's nodes; a ``process_group:init`` has a list of groups.
    """

    def __init__(self, nodes: Iterable[EtNode]) -> None:
        self._ranks: dict[str, tuple[int, ...]] = {}
        self._names: dict[int, str] = {}
        self._unnamed: set[int] = set()
        self.is_broken = False
        for node in nodes:
            if "process_group:init" in node.name and node.inputs:
                self._read(node.inputs[0])

    def _read(self, text: Any) -> None:
        try:
            for group in json.loads(text):
                name, ranks = str(group["pg_name"]), group["ranks"]
                # no ranks are all ranks
                self._ranks[name] = tuple(map(int, ranks or range(min(int(group["group_size"]), _MOST_RANKS))))
                if (key := group.get("uid", group.get("backend_id"))) is not None:
                    self._names[key] = name
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
            # PyTorch cuts a long list of groups off, so that it is no JSON any more
            self.is_broken = True

    def find(self, node: EtNode, identifier: Any, values: list[Any]) -> Group:
        """Return the group of a collective; the ranks of that of all ranks are None where no size is known.

        Parameters
        ----------
        node : the collective's.
        identifier : what its inputs say, a name, a name and a description, or a number of the process's own.
        values : its group's first rank, stride and size, where its inputs have them.

        Raises
        ------
        WorkloadError : its ranks are not in the file.
        """
        attributes = node.attributes
        if (name := attributes.get("pg_name")) is None:
            name = identifier[0] if isinstance(identifier, list) and identifier else identifier
        if isinstance(name, int):
            # an address or a number of the process's own, of no meaning to other ranks
            if name not in self._names:
                self._unnamed.add(name)
                if len(self._unnamed) > 1:
                    raise WorkloadError(
                        f"{node.where}: its group is another one than before, and no process_group:init node names "
                        "them, so their ranks are not known"
                    )
            name = self._names.get(name, "")
        if not isinstance(name, str):
            raise WorkloadError(f"{node.where}: its group is {identifier!r}; allowed is a name or a number")
        if name in self._ranks:
            return Group(name, self._ranks[name])
        start, stride, size = (
            attributes.get(key, values[place] if len(values) > place else None)
            for key, place in (("global_rank_start", 0), ("global_rank_stride", 1), ("pg_size", 2))
        )
        if type(start) is int and type(stride) is int and type(size) is int:
            is_regular = start >= 0 and (size == 1 or (stride > 0 and 0 < size <= _MOST_RANKS))
            if is_regular:
                return Group(name, tuple(start + stride * member for member in range(size)))
        if name in ("", "0") or attributes.get("pg_desc") == "default_pg":
            return Group(name)
        raise WorkloadError(
            f"{node.where}: group {name!r} has no ranks: neither a process_group:init node nor its first rank, stride "
            "and size name them"
        )


@dataclass(frozen=True, slots=True)
class Communication:
    """One ``record_param_comms`` node.

    Attributes
    ----------
    node : the node.
    name : PyTorch's name of the collective.
    sequence : what a ``wait`` refers to: a number, from schema 1.0.3 on with whether it is a message's.
    group, group_values : who takes part, as the inputs name it, and its first rank, stride and size where they do.
    rank : root or peer, as a member of the group.
    in_bytes, out_bytes : of all tensors that go in and come out.
    in_splits, out_splits : parts for each member, in rows of the tensors; empty where they are even.
    dtype : of the elements.
    """

    node: EtNode
    name: str
    sequence: str
    group: Any
    group_values: list[Any]
    rank: int
    in_bytes: int
    out_bytes: int
    in_splits: tuple[int, ...]
    out_splits: tuple[int, ...]
    dtype: str

    @property
    def is_mark(self) -> bool:
        """Whether it is no exchange."""
        return self.name in _MARKS

    @property
    def kind(self) -> str:
        """The kind of collective, as :attr:`~astra_py.workloads.CollectiveCall.kind`.

        Raises
        ------
        WorkloadError : the name is unknown.
        """
        if self.name not in _KINDS:
            hint = did_you_mean(self.name, _KINDS)
            raise WorkloadError(
                f"{self.node.where}: unknown collective {self.name!r}; known are {', '.join((*_KINDS, *_MARKS))}{hint}"
            )
        return _KINDS[self.name]


def communication(node: EtNode) -> Communication:
    """Read a ``record_param_comms`` node.

    Raises
    ------
    WorkloadError : it is not understood.
    """
    values, attributes = node.inputs, node.attributes
    # what has no tensors begins with the sequence number
    first = 1 if len(values) > 4 and isinstance(values[4], str) else 0
    if len(values) < first + 4 or not isinstance(values[first + 3], str):
        raise WorkloadError(
            f"{node.where}: its inputs are {str(values)[:200]}; allowed are [tensors,] sequence number, group, rank, "
            "name, splits"
        )
    sequence, group, rank, name = values[first : first + 4]
    if type(rank) is not int:
        raise WorkloadError(f"{node.where}: its rank is {rank!r}; allowed is a whole number")
    splits = [*values[first + 4 : first + 6], [], []]
    name = attributes.get("collective_name", name)
    element, dtype = _dtype(node, attributes.get("dtype"))
    return Communication(
        node=node,
        name=str(name).lower(),
        sequence=str(sequence),
        group=group,
        group_values=values[first + 6 : first + 9],
        rank=rank,
        in_bytes=_bytes(node, "in_msg_nelems", element, values[0] if first else []),
        out_bytes=_bytes(node, "out_msg_nelems", element, node.outputs),
        in_splits=_splits(node, attributes.get("in_split_size", splits[0])),
        out_splits=_splits(node, attributes.get("out_split_size", splits[1])),
        dtype=dtype,
    )


def _dtype(node: EtNode, name: Any) -> tuple[int, str]:
    """Bytes of an element and the type, from the attribute or from the type of the first tensor; (0, "") without."""
    if name is None:
        inner = node.input_type.rpartition("Tensor(")[2].partition(")")[0]
        name = _C_TYPES.get(inner)
    return _DTYPES.get(name, (0, "")) if isinstance(name, str) else (0, "")


def _bytes(node: EtNode, key: str, element: int, tensors: Any) -> int:
    """Bytes by the attribute's count of elements where there is one, else those of the tensors."""
    count = node.attributes.get(key)
    if count is None:
        return sum(tensor.size_bytes for tensor in tensors_of(tensors))
    if type(count) is not int or count < 0:
        raise WorkloadError(f"{node.where}: {key} is {count!r}; allowed is a whole number from 0")
    if count and not element:
        name = node.attributes.get("dtype")
        hint = did_you_mean(name, _DTYPES) if isinstance(name, str) else ""
        raise WorkloadError(
            f"{node.where}: {key} is {count} elements of dtype {name!r}; known are {', '.join(_DTYPES)}{hint}"
        )
    return count * element


def _splits(node: EtNode, found: Any) -> tuple[int, ...]:
    if isinstance(found, str):
        try:
            found = json.loads(found) if found.strip() else []
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, list) or any(type(part) is not int or part < 0 for part in found):
        raise WorkloadError(f"{node.where}: its splits are {str(found)[:200]!r}; allowed is a list of whole numbers")
    return tuple(found)


def exchange(said: Communication, groups: ProcessGroups, row: int) -> Exchange:
    """What a communication is to its rank, with sizes as a Trace has them.

    ``all_gather`` and ``gather``: the whole array is the group's size times this rank's input. ``reduce_scatter`` and
    ``scatter``: it is the group's size times the output. All others: the input. An all-to-all with splits: each part's
    rows of the tensor.

    Raises
    ------
    WorkloadError : input and output contradict one another, the splits do not divide the tensor, or a name is unknown.
    """
    node, kind = said.node, said.kind
    group = groups.find(node, said.group, said.group_values)
    if kind == "barrier":
        return Exchange(row=row, kind=kind, group=group, size_bytes=0)
    if kind == "sendrecv":
        members = group.ranks
        if members is not None and not 0 <= said.rank < len(members):
            raise WorkloadError(f"{node.where}: its peer is member {said.rank} of a group of {len(members)}")
        return Exchange(
            row=row,
            kind=kind,
            size_bytes=said.in_bytes or said.out_bytes,
            peer=said.rank if members is None else members[said.rank],
            is_sender=said.name == "send",
            dtype=said.dtype,
        )
    if kind == "all_to_all":
        return _all_to_all(said, group, row)
    if kind in ("all_gather", "gather", "reduce_scatter", "scatter"):
        part, whole = (said.in_bytes, said.out_bytes) if kind.endswith("gather") else (said.out_bytes, said.in_bytes)
        return Exchange(
            row=row,
            kind=kind,
            group=group,
            # only the root of gather and scatter has the whole
            size_bytes=whole if kind in ("all_gather", "reduce_scatter") else None,
            part_bytes=part,
            root=_root(said),
            dtype=said.dtype,
        )
    return Exchange(row=row, kind=kind, group=group, size_bytes=said.in_bytes, root=_root(said), dtype=said.dtype)


def _root(said: Communication) -> int:
    return said.rank if said.kind in ("broadcast", "reduce", "gather", "scatter") else 0


def _all_to_all(said: Communication, group: Group, row: int) -> Exchange:
    node = said.node
    if not said.in_splits and not said.out_splits:
        if said.in_bytes != said.out_bytes:
            raise WorkloadError(
                f"{node.where}: has no splits, so all parts are alike, and {said.in_bytes} B go in and "
                f"{said.out_bytes} B come out"
            )
        return Exchange(row=row, kind="all_to_all", group=group, size_bytes=said.in_bytes, dtype=said.dtype)
    members = len(said.in_splits or said.out_splits)
    return Exchange(
        row=row,
        kind="all_to_all_v",
        group=group,
        send_bytes=_parts(node, "input", said.in_splits or (1,) * members, said.in_bytes),
        receive_bytes=_parts(node, "output", said.out_splits or (1,) * members, said.out_bytes),
        dtype=said.dtype,
    )


def _parts(node: EtNode, what: str, splits: tuple[int, ...], size_bytes: int) -> tuple[int, ...]:
    """Bytes of each part: splits count rows of a tensor, all of one size."""
    rows = sum(splits)
    if size_bytes % rows if rows else size_bytes:
        raise WorkloadError(
            f"{node.where}: its {what} has {size_bytes} B, which {rows} rows of its splits do not share"
        )
    return tuple(split * (size_bytes // rows) if rows else 0 for split in splits)
