# SPDX-License-Identifier: GPL-2.0-only
"""What the nodes of a Chakra file mean, as ASTRA-sim 2 runs them.

Sources: MLCommons Chakra, ``et_def.proto`` of schema 0.0.4; ASTRA-sim 2, ``astra-sim/workload/Workload.cc`` (types of
nodes, sizes, groups) and its feeder of version 3 (attributes and their defaults). Where that program stops or takes a
node for nothing, the module says what is done here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from astra_py.errors import WorkloadError
from astra_py.formats.chakra_attributes import Value
from astra_py.formats.chakra_nodes import ChakraNodes, CommType, NodeType
from astra_py.formats.rank_graph import Exchange, Group, RankGraph, dependencies
from astra_py.workloads import NodeKind
from astra_py.workloads.calls import MAX_INT64

__all__ = ["ALL_RANKS", "COMM_KINDS", "OWN", "ChakraGraph", "chakra_graph"]

#: Kinds of collectives by ``comm_type``. REDUCE_SCATTER_BLOCK is not among them: what its size means is said nowhere.
COMM_KINDS: Mapping[CommType, str] = {
    CommType.ALL_REDUCE: "all_reduce",
    CommType.REDUCE: "reduce",
    CommType.ALL_GATHER: "all_gather",
    CommType.GATHER: "gather",
    CommType.SCATTER: "scatter",
    CommType.BROADCAST: "broadcast",
    CommType.ALL_TO_ALL: "all_to_all",
    CommType.REDUCE_SCATTER: "reduce_scatter",
    CommType.BARRIER: "barrier",
}

#: Names of groups that mean all ranks.
ALL_RANKS = ("", "0")

#: What begins the names of attributes that only this package writes: what a Trace has and the schema has not.
OWN = "astra_py."

#: Attributes that are read, by the types of nodes that have them.
_READ = {
    "is_cpu_op": "all",
    "num_ops": "compute",
    "tensor_size": "compute",
    "comm_type": "collective",
    "comm_size": "exchange",
    "comm_priority": "exchange",
    "pg_name": "collective",
    "involved_dim": "collective",
    "comm_src": "message",
    "comm_dst": "message",
    "comm_tag": "message",
    **dict.fromkeys((OWN + name for name in ("kind", "iteration", "phase", "stream")), "all"),
    OWN + "duration_ps": "compute",
    **dict.fromkeys((OWN + name for name in ("dtype", "algorithm")), "exchange"),
    **dict.fromkeys((OWN + name for name in ("send_bytes", "size_bytes")), "collective"),
}

_TYPES = {
    NodeType.INVALID: ("all",),
    NodeType.METADATA: ("all",),
    NodeType.MEM_LOAD: ("all", "compute"),
    NodeType.MEM_STORE: ("all", "compute"),
    NodeType.COMP: ("all", "compute"),
    NodeType.COMM_SEND: ("all", "exchange", "message"),
    NodeType.COMM_RECV: ("all", "exchange", "message"),
    NodeType.COMM_COLL: ("all", "exchange", "collective"),
}

#: Fields of nodes that are not read, by number.
_UNUSED = {6: "start_time_micros of nodes", 8: "inputs of nodes", 9: "outputs of nodes"}

_PS_PER_US = 10**6


@dataclass(frozen=True, kw_only=True)
class ChakraGraph:
    """One file, understood as far as it can be without the platform.

    Attributes
    ----------
    graph : its nodes; the ranks of named groups are not known yet. A METADATA node that nothing waits for and that
        waits for nothing is not among them.
    costs : row, operations and bytes of nodes that give these in place of a time.
    groups : ranks of groups by name, from METADATA nodes; None for all ranks.
    types : nodes of the file by type.
    ignored : what was not taken, by what it is to how many nodes have it.
    """

    graph: RankGraph
    costs: tuple[tuple[int, int, int], ...]
    groups: Mapping[str, tuple[int, ...] | None]
    types: Counter[NodeType]
    ignored: Counter[str]


def chakra_graph(nodes: ChakraNodes, rank: int) -> ChakraGraph:
    """Understand one rank's nodes.

    Raises
    ------
    WorkloadError : a node is not allowed, with file and node; see :mod:`astra_py.formats.chakra_graph`.
    """
    return _Graph(nodes, rank).made()


class _Graph:
    """The columns of a graph while its nodes are gone through."""

    def __init__(self, nodes: ChakraNodes, rank: int) -> None:
        self.nodes = nodes
        self.rank = rank
        count = len(nodes)
        if int(nodes.duration_micros.max(initial=0)) > MAX_INT64 // _PS_PER_US:
            row = int(nodes.duration_micros.argmax())
            raise self.error(row, f"lasts {nodes.duration_micros[row]} us, more than 64 bits of picoseconds")
        self.duration_ps = nodes.duration_micros.astype(np.int64) * _PS_PER_US
        self.kind = np.full(count, NodeKind.MEMORY, dtype=np.uint8)
        self.stream = np.full(count, -1, dtype=np.int32)
        self.streams = {"compute": 0, "cpu": 1}
        self.phase = np.zeros(count, dtype=np.int32)
        self.phases = {"": 0}
        self.iteration = np.zeros(count, dtype=np.int32)
        self.exchanges: list[Exchange] = []
        self.costs: list[tuple[int, int, int]] = []
        self.groups: dict[str, tuple[int, ...] | None] = {}
        self.ignored: Counter[str] = Counter()

    def error(self, row: int, what: str) -> WorkloadError:
        return WorkloadError(f"{self.nodes.where(row)}: {what}")

    def made(self) -> ChakraGraph:
        nodes = self.nodes
        dep_ptr, dep_row = dependencies(str(nodes.path), nodes.id, nodes.dep_ptr, nodes.dep_id)
        kept = (nodes.type != NodeType.METADATA) | (np.diff(dep_ptr) > 0)
        kept[dep_row] = True
        new_row = np.cumsum(kept) - 1
        self.new_row = new_row.tolist()
        types = nodes.type.tolist()
        known = tuple(NodeType)
        for row, (kind, attributes) in enumerate(zip(types, nodes.attributes, strict=True)):
            self._read(row, known[kind], dict(attributes))
        graph = RankGraph(
            path=nodes.path,
            rank=self.rank,
            id=nodes.id[kept],
            kind=self.kind[kept],
            name=nodes.name[kept],
            names=nodes.names,
            duration_ps=self.duration_ps[kept],
            iteration=self.iteration[kept],
            phase=self.phase[kept],
            phases=tuple(self.phases),
            stream=self.stream[kept],
            streams=tuple(self.streams),
            dep_ptr=np.concatenate([[0], dep_ptr[1:][kept]]),
            dep_row=new_row[dep_row],
            exchanges=tuple(self.exchanges),
        )
        counted = Counter({NodeType(kind): count for kind, count in Counter(types).items()})
        for number, count in nodes.unused_fields.items():
            self.ignored[_UNUSED.get(number, f"field {number} of nodes, which the schema does not have")] += count
        return ChakraGraph(
            graph=graph, costs=tuple(self.costs), groups=self.groups, types=counted, ignored=self.ignored
        )

    def _read(self, row: int, kind: NodeType, attributes: dict[str, Value]) -> None:
        for name in attributes:
            if _READ.get(name) not in _TYPES[kind]:
                self.ignored[f"attribute {name!r} of {kind.name} nodes"] += 1
        is_cpu_op = bool(self._integer(row, attributes, "is_cpu_op", 0))
        if kind is NodeType.COMP:
            is_memory = self._text(row, attributes, OWN + "kind", "") == "memory"
            if not is_memory:
                self.kind[row] = NodeKind.COMPUTE
                self.stream[row] = self.streams["cpu" if is_cpu_op else "compute"]
            self._read_time(row, attributes, is_rated=not is_cpu_op)
        elif kind in (NodeType.MEM_LOAD, NodeType.MEM_STORE):
            self._read_time(row, attributes, is_rated=True)
        elif kind in (NodeType.INVALID, NodeType.METADATA):
            # both end as soon as they begin
            self.duration_ps[row] = 0
            if kind is NodeType.METADATA and row in self.nodes.input_values:
                self._read_groups(row, self.nodes.input_values[row])
        else:
            if is_cpu_op:
                raise self.error(row, "communicates, and is_cpu_op is true; allowed: false")
            self.kind[row] = NodeKind.COLLECTIVE
            self.duration_ps[row] = 0
            is_collective = kind is NodeType.COMM_COLL
            self.exchanges.append((self._collective if is_collective else self._message)(row, attributes))
        self._read_own(row, attributes)

    def _read_own(self, row: int, attributes: dict[str, Value]) -> None:
        """What a Trace has and the schema has not."""
        if iteration := self._integer(row, attributes, OWN + "iteration", 0, most=2**31 - 1):
            self.iteration[row] = iteration
        if phase := self._text(row, attributes, OWN + "phase", ""):
            self.phase[row] = self.phases.setdefault(phase, len(self.phases))
        if OWN + "stream" in attributes:
            stream = self._text(row, attributes, OWN + "stream", "")
            self.stream[row] = self.streams.setdefault(stream, len(self.streams)) if stream else -1

    def _read_time(self, row: int, attributes: dict[str, Value], *, is_rated: bool) -> None:
        if (exact := self._integer(row, attributes, OWN + "duration_ps", -1, most=MAX_INT64)) >= 0:
            if abs(exact - int(self.duration_ps[row])) > _PS_PER_US:
                raise self.error(
                    row, f"{OWN}duration_ps is {exact} and duration_micros {self.nodes.duration_micros[row]}"
                )
            self.duration_ps[row] = exact
        elif is_rated and not self.duration_ps[row]:
            operations = self._integer(row, attributes, "num_ops", 0)
            size = self._integer(row, attributes, "tensor_size", 0)
            if operations or size:
                self.costs.append((self.new_row[row], operations, size))

    def _read_groups(self, row: int, values: str) -> None:
        """Groups as PyTorch has them: a list with one text, JSON, of objects with ``pg_name`` and ``ranks``."""
        try:
            groups = {
                str(group["pg_name"]): tuple(group["ranks"]) or None for group in json.loads(values.strip()[2:-2])
            }
        except (ValueError, TypeError, LookupError, RecursionError):
            self.ignored["inputs of METADATA nodes that are no list of groups"] += 1
            return
        for name, ranks in groups.items():
            if any(type(rank) is not int for rank in ranks or ()):
                raise self.error(row, f"the ranks of group {name!r} are {ranks}; allowed are whole numbers")
            if self.groups.setdefault(name, ranks) != ranks:
                raise self.error(
                    row, f"group {name!r} is of ranks {ranks}, and of {self.groups[name]} in a node before"
                )

    def _collective(self, row: int, attributes: dict[str, Value]) -> Exchange:
        number = self._integer(row, attributes, "comm_type")
        known = {int(kind) for kind in COMM_KINDS}
        if number not in known:
            allowed = ", ".join(f"{int(kind)} ({kind.name})" for kind in COMM_KINDS)
            raise self.error(row, f"comm_type {number} is not read; allowed: {allowed}")
        if not all(self._list(row, attributes, "involved_dim", (1,))):
            raise self.error(row, "involved_dim leaves out a dimension of a network; allowed: a group by pg_name")
        kind = COMM_KINDS[CommType(number)]
        size: int | None = None if kind == "barrier" else self._integer(row, attributes, "comm_size")
        sends = attributes.get(OWN + "send_bytes")
        if sends is not None:
            if kind != "all_to_all":
                raise self.error(row, f"{OWN}send_bytes is an all-to-all's, and comm_type is {number}")
            size, kind = None, "all_to_all_v"
        is_input = kind == "all_gather"
        whole = self._integer(row, attributes, OWN + "size_bytes", -1)
        is_input = kind == "all_gather" and whole < 0
        return Exchange(
            row=self.new_row[row],
            kind=kind,
            group=Group(self._group_name(row, attributes)),
            size_bytes=None if is_input else size if whole < 0 else whole,
            part_bytes=size if is_input else None,
            send_bytes=None if sends is None else self._list(row, attributes, OWN + "send_bytes", ()),
            dtype=self._text(row, attributes, OWN + "dtype", ""),
            priority=self._integer(row, attributes, "comm_priority", 0),
            algorithm=self._text(row, attributes, OWN + "algorithm", "") or None,
        )

    def _group_name(self, row: int, attributes: dict[str, Value]) -> str:
        name = attributes.get("pg_name", "")
        if isinstance(name, int):
            name = str(name)
        if not isinstance(name, str):
            raise self.error(row, f"pg_name is {name!r}; allowed is a text")
        return "" if name in ALL_RANKS else name

    def _message(self, row: int, attributes: dict[str, Value]) -> Exchange:
        is_sender = self.nodes.type[row] == NodeType.COMM_SEND
        own, other = ("comm_src", "comm_dst") if is_sender else ("comm_dst", "comm_src")
        if (rank := self._integer(row, attributes, own, self.rank)) != self.rank:
            raise self.error(row, f"{own} is {rank}, and the file is of rank {self.rank}")
        return Exchange(
            row=self.new_row[row],
            kind="sendrecv",
            size_bytes=self._integer(row, attributes, "comm_size"),
            peer=self._integer(row, attributes, other),
            tag=self._integer(row, attributes, "comm_tag", 0),
            is_sender=is_sender,
            dtype=self._text(row, attributes, OWN + "dtype", ""),
            priority=self._integer(row, attributes, "comm_priority", 0),
            algorithm=self._text(row, attributes, OWN + "algorithm", "") or None,
        )

    def _integer(
        self, row: int, attributes: dict[str, Value], name: str, default: int | None = None, most: int = 2**64 - 1
    ) -> int:
        """An attribute of any integer type; it must be there where it has no default."""
        value = attributes.get(name, default)
        if value is None:
            raise self.error(
                row, f"has no attribute {name!r}, which a {NodeType(self.nodes.type[row]).name} node needs"
            )
        if not isinstance(value, int) or (name in attributes and not 0 <= value <= most):
            raise self.error(row, f"{name} is {value!r}; allowed is a whole number from 0 to {most}")
        return value

    def _text(self, row: int, attributes: dict[str, Value], name: str, default: str) -> str:
        value = attributes.get(name, default)
        if not isinstance(value, str):
            raise self.error(row, f"{name} is {value!r}; allowed is a text")
        return value

    def _list(self, row: int, attributes: dict[str, Value], name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        value = attributes.get(name, default)
        numbers = tuple(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else ()
        if not isinstance(value, tuple) or len(numbers) != len(value) or min(numbers, default=0) < 0:
            raise self.error(row, f"{name} is {value!r}; allowed is a list of whole numbers from 0")
        return numbers
