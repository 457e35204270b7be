# SPDX-License-Identifier: GPL-2.0-only
"""Writes a Trace as Chakra files, one a rank.

What the schema has is written as it has it, so that other programs read it: nodes with their row in the Trace as id,
dependencies as control dependencies, times in whole microseconds, collectives by type, size and group, messages as a
send and a receive. What a Trace has beyond that goes into attributes whose names begin with ``astra_py.``, and only
where it is needed to read the same Trace again: times that are no whole microseconds, sizes that ranks do not share
evenly, streams, phases, iterations, types of elements, algorithms.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from astra_py.errors import ConfigError, WorkloadError
from astra_py.formats.chakra_attributes import write_attribute
from astra_py.formats.chakra_graph import COMM_KINDS, OWN
from astra_py.formats.chakra_nodes import VERSION, CommType, NodeType
from astra_py.formats.protobuf import field, message, packed
from astra_py.workloads import CollectiveCall, NodeKind, Trace

__all__ = ["chakra_files", "write_chakra"]

_COMM_TYPES = {kind: number for number, kind in COMM_KINDS.items()}
_PS_PER_US = 10**6

#: Streams that nodes of a kind are in where no attribute says so.
_STREAMS = {NodeKind.COMPUTE: "compute", NodeKind.MEMORY: "", NodeKind.COLLECTIVE: ""}


def chakra_files(path: Path, ranks: int) -> list[Path]:
    """Return the files of a job's ranks; ``path`` is what their names begin with, and may end in ``.et``."""
    prefix = path.with_suffix("") if path.suffix == ".et" else path
    return [prefix.with_name(f"{prefix.name}.{rank}.et") for rank in range(ranks)]


def write_chakra(trace: Trace, path: Path, *, is_overwriting: bool = False) -> tuple[str, ...]:
    """Write ``trace`` as ``path.0.et``, ``path.1.et``, and so on; ``path`` may end in ``.et``, which then is left out.

    Returns
    -------
    What was written and what other programs will not read of it, a sentence each.

    Raises
    ------
    ConfigError : a file is there already and ``is_overwriting`` is not set.
    WorkloadError : a file cannot be written, a call has no node type (a list of flows), or ranks do the collectives of
        a group in different orders.
    """
    files = chakra_files(path, trace.ranks)
    if not is_overwriting and (there := [file for file in files if file.exists()]):
        raise ConfigError(f"{there[0]}: is there already; allowed: another name, or --overwrite")
    writer = _Writer(trace)
    try:
        for rank, file in enumerate(files):
            file.write_bytes(writer.file(rank))
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be written: {error.strerror}") from error
    return (
        f"{files[0]} to {files[-1].name}: {len(trace)} nodes of {trace.ranks} ranks",
        *(f"only astra-py reads {what} ({count} nodes)" for what, count in writer.own.items()),
    )


class _Writer:
    """What all files have in common: the groups, and the messages between each two ranks in order."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.everyone = tuple(range(trace.ranks))
        groups = [call.group for call in trace.calls if call.kind != "sendrecv" and call.group != self.everyone]
        # "0" means all ranks
        self.groups = {group: str(number) for number, group in enumerate(dict.fromkeys(groups), start=1)}
        self.own: Counter[str] = Counter()
        for call in trace.calls:
            if call.kind not in (*_COMM_TYPES, "all_to_all_v", "sendrecv"):
                raise call.error(f"a Chakra file has no node for {call.kind}")
        self._require_one_order()

    def _require_one_order(self) -> None:
        """Collectives of a group are told apart by their order alone, which is that of rows."""
        trace = self.trace
        order: dict[tuple[int, ...], dict[int, list[int]]] = {}
        for row in np.flatnonzero(trace.call >= 0).tolist():
            call = trace.calls[trace.call[row]]
            if call.kind != "sendrecv":
                order.setdefault(call.group, {}).setdefault(int(trace.rank[row]), []).append(int(trace.call[row]))
        for of_rank in order.values():
            first, *others = of_rank.values()
            for other in others:
                if other != first:
                    one = next(a for a, b in zip(first, other, strict=True) if a != b)
                    raise trace.calls[one].error("ranks do the collectives of its group in different orders")

    def file(self, rank: int) -> bytes:
        """Everything of one rank's file."""
        parts = [message(field(1, VERSION))]
        if self.groups:
            parts.append(message(self._group_node()))
        parts += [message(self._node(row)) for row in np.flatnonzero(self.trace.rank == rank).tolist()]
        return b"".join(parts)

    def _group_node(self) -> bytes:
        """Groups as files that come from PyTorch have them: a METADATA node whose input is a list with one text."""
        groups = ", ".join(f'{{"pg_name": "{name}", "ranks": {list(group)}}}' for group, name in self.groups.items())
        inputs = field(1, f"['[{groups}]']")
        return field(1, len(self.trace)) + field(2, "groups") + field(3, NodeType.METADATA) + field(8, inputs)

    def _node(self, row: int) -> bytes:
        trace = self.trace
        kind = NodeKind(trace.kind[row])
        call = trace.calls[trace.call[row]] if kind is NodeKind.COLLECTIVE else None
        duration = int(trace.duration_ps[row])
        deps = trace.dep_node[trace.dep_ptr[row] : trace.dep_ptr[row + 1]].tolist()
        attributes = self._work(kind, duration) if call is None else self._exchange(row, call)
        attributes += self._labels(row, kind)
        return b"".join(
            (
                field(1, row),
                field(2, trace.names[trace.name[row]]),
                field(3, self._type(call, int(trace.rank[row]))),
                packed(4, deps),
                field(7, (duration + _PS_PER_US // 2) // _PS_PER_US) if duration else b"",
                *(field(10, attribute) for attribute in attributes),
            )
        )

    def _type(self, call: CollectiveCall | None, rank: int) -> NodeType:
        if call is None:
            return NodeType.COMP
        if call.kind == "sendrecv":
            return NodeType.COMM_SEND if rank == call.group[0] else NodeType.COMM_RECV
        return NodeType.COMM_COLL

    def _work(self, kind: NodeKind, duration: int) -> list[bytes]:
        # memory work is beside compute: for others it is the host's, with its time, since a MEM node's is its size's
        is_memory = kind is NodeKind.MEMORY
        attributes = [write_attribute("is_cpu_op", is_memory)]
        if is_memory:
            attributes.append(self._beyond("kind", "memory", "that work is memory's"))
        if duration % _PS_PER_US:
            attributes.append(self._beyond("duration_ps", duration, "times that are no whole microseconds"))
        return attributes

    def _exchange(self, row: int, call: CollectiveCall) -> list[bytes]:
        attributes = [write_attribute("is_cpu_op", False)]
        if call.kind == "sendrecv":
            src, dst = call.group
            attributes += [write_attribute(name, value) for name, value in (("comm_src", src), ("comm_dst", dst))]
            # a tag of its own, so that it meets its counterpart whatever order they stand in
            attributes.append(write_attribute("comm_tag", int(self.trace.call[row])))
            attributes.append(write_attribute("comm_size", call.size_bytes or 0))
        else:
            attributes += self._collective(call, int(self.trace.rank[row]))
        if call.priority:
            attributes.append(write_attribute("comm_priority", call.priority))
        if call.dtype:
            attributes.append(self._beyond("dtype", call.dtype, "types of elements"))
        if call.algorithm:
            attributes.append(self._beyond("algorithm", call.algorithm, "algorithms of collectives"))
        return attributes

    def _collective(self, call: CollectiveCall, rank: int) -> list[bytes]:
        n = len(call.group)
        kind = "all_to_all" if call.kind == "all_to_all_v" else call.kind
        attributes = [write_attribute("comm_type", int(_COMM_TYPES[kind]))]
        size = call.size_bytes or 0
        if call.matrix is not None:
            size = int(call.matrix.sum(axis=1).max())
            sends = call.matrix[call.group.index(rank)].tolist()
            attributes.append(self._beyond("send_bytes", sends, "uneven all-to-alls, which others take for even ones"))
        elif kind == "all_gather":
            if size % n:
                attributes.append(self._beyond("size_bytes", size, "sizes of all-gathers that ranks share unevenly"))
            size = -(-size // n)
        if _COMM_TYPES[kind] != CommType.BARRIER:
            attributes.append(write_attribute("comm_size", size))
        if call.group != self.everyone:
            attributes.append(write_attribute("pg_name", self.groups[call.group]))
        return attributes

    def _labels(self, row: int, kind: NodeKind) -> list[bytes]:
        trace = self.trace
        attributes = []
        stream = trace.streams[trace.stream[row]] if trace.stream[row] >= 0 else ""
        if stream != _STREAMS[kind]:
            attributes.append(self._beyond("stream", stream, "streams"))
        if phase := trace.phases[trace.phase[row]]:
            attributes.append(self._beyond("phase", phase, "phases"))
        if iteration := int(trace.iteration[row]):
            attributes.append(self._beyond("iteration", iteration, "iterations"))
        return attributes

    def _beyond(self, name: str, value: int | str | list[int], what: str) -> bytes:
        """An attribute that the schema does not know, counted."""
        self.own[what] += 1
        return write_attribute(OWN + name, value)
