# SPDX-License-Identifier: GPL-2.0-only
"""One Trace from the graphs of all ranks: collectives and messages of one file meet those of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.formats.rank_graph import Exchange, Group, RankGraph
from astra_py.workloads import CollectiveCall, Trace

__all__ = ["joined"]


@dataclass(frozen=True)
class _Part:
    """One rank's part in a call: its node in its graph."""

    graph: RankGraph
    exchange: Exchange

    @property
    def where(self) -> str:
        return self.graph.where(self.exchange.row)


def joined(graphs: Sequence[RankGraph], ranks: int) -> Trace:
    """Join the graphs of all ranks into one Trace.

    Collectives of a group are matched in the order in which each member's file has them, messages of a pair and tag
    in the order of the sender's and of the receiver's file. The order of a file is that of its nodes; where one stands
    before what it waits for, it moves behind that.

    Parameters
    ----------
    graphs : one a rank, 0 to ``ranks - 1``.
    ranks : number of ranks of the job.

    Raises
    ------
    WorkloadError : the parts of a collective or a message contradict one another, one has no counterpart, or nodes wait
        for each other in a circle; the message has file and node of both.
    """
    collectives: dict[Group, dict[int, list[_Part]]] = defaultdict(lambda: defaultdict(list))
    messages: dict[tuple[int, int, int], tuple[list[_Part], list[_Part]]] = defaultdict(lambda: ([], []))
    for graph in graphs:
        place = np.empty(len(graph), dtype=np.int64)
        place[graph.order] = np.arange(len(graph))
        for exchange in sorted(graph.exchanges, key=lambda exchange: int(place[exchange.row])):
            part = _Part(graph, exchange)
            if exchange.kind == "sendrecv":
                ends = (graph.rank, exchange.peer) if exchange.is_sender else (exchange.peer, graph.rank)
                _require_peer(part, ranks)
                messages[*ends, exchange.tag][0 if exchange.is_sender else 1].append(part)
            else:
                _require_member(part, ranks)
                collectives[exchange.group][graph.rank].append(part)
    matched = [
        *(_matched_collectives(group, members, ranks) for group, members in collectives.items()),
        *(_matched_messages(*ends) for ends in messages.values()),
    ]
    return _trace(graphs, ranks, [call for calls in matched for call in calls])


_Calls = list[tuple[CollectiveCall, list[_Part]]]


def _require_peer(part: _Part, ranks: int) -> None:
    peer = part.exchange.peer
    if not 0 <= peer < ranks or peer == part.graph.rank:
        what = "itself" if peer == part.graph.rank else f"rank {peer}, and the job has ranks 0 to {ranks - 1}"
        raise WorkloadError(f"{part.where}: {'sends to' if part.exchange.is_sender else 'receives from'} {what}")


def _require_member(part: _Part, ranks: int) -> None:
    group = part.exchange.group
    if group.ranks is None:
        return
    if part.graph.rank not in group.ranks:
        raise WorkloadError(
            f"{part.where}: is of rank {part.graph.rank}, and its group {group.name!r} is of ranks {group.ranks}"
        )
    if not 0 <= min(group.ranks) <= max(group.ranks) < ranks:
        raise WorkloadError(
            f"{part.where}: its group {group.name!r} is of ranks {group.ranks}, and the job has ranks 0 to {ranks - 1}"
        )


def _matched_collectives(group: Group, members: Mapping[int, list[_Part]], ranks: int) -> _Calls:
    """The calls of one group: the k-th part of each member is of the k-th call."""
    of_rank = group.ranks or tuple(range(ranks))
    counts = {rank: len(members.get(rank, ())) for rank in of_rank}
    most = max(counts, key=lambda rank: counts[rank])
    least = min(counts, key=lambda rank: counts[rank])
    if counts[least] < counts[most]:
        alone = members[most][counts[least]]
        raise WorkloadError(
            f"{alone.where}: is collective {counts[least] + 1} of its group {group.name!r} on rank {most}, and rank "
            f"{least} has {counts[least]} of them"
        )
    columns = [members[rank] for rank in of_rank]
    return [(_call(group, of_rank, list(parts)), list(parts)) for parts in zip(*columns, strict=True)]


def _call(group: Group, of_rank: tuple[int, ...], parts: list[_Part]) -> CollectiveCall:
    first = parts[0].exchange
    for part in parts[1:]:
        for what, one, other in _differences(first, part.exchange):
            raise WorkloadError(
                f"{part.where}: is the part of rank {part.graph.rank} in the collective of {parts[0].where}, and its "
                f"{what} is {other!r}, not {one!r}"
            )
    if not 0 <= first.root < len(of_rank):
        raise WorkloadError(
            f"{parts[0].where}: its root is member {first.root}, and its group {group.name!r} has {len(of_rank)}"
        )
    # the first member of a call's group is its root
    root = first.root
    in_order = (of_rank[root], *of_rank[:root], *of_rank[root + 1 :]) if root else of_rank
    size_bytes = first.size_bytes
    if first.part_bytes is not None:
        whole = first.part_bytes * len(of_rank)
        if size_bytes not in (None, whole):
            raise WorkloadError(
                f"{parts[0].where}: the whole array has {size_bytes} B, and a rank's part of {len(of_rank)} has "
                f"{first.part_bytes} B"
            )
        size_bytes = whole
    return CollectiveCall(
        name=parts[0].graph.names[parts[0].graph.name[first.row]],
        kind=first.kind,
        group=in_order,
        size_bytes=size_bytes,
        matrix=None if first.send_bytes is None else _matrix(parts),
        dtype=first.dtype,
        priority=first.priority,
        algorithm=first.algorithm,
        iteration=int(parts[0].graph.iteration[first.row]),
        source=parts[0].where,
    )


#: What all parts of a collective have in common.
_COMMON = ("kind", "size_bytes", "part_bytes", "root", "dtype", "priority", "algorithm")


def _differences(one: Exchange, other: Exchange) -> list[tuple[str, object, object]]:
    pairs = [(name, getattr(one, name), getattr(other, name)) for name in _COMMON]
    return [(name.replace("_bytes", " in bytes"), a, b) for name, a, b in pairs if a != b]


def _matrix(parts: list[_Part]) -> NDArray[np.int64]:
    """Bytes of an all_to_all_v, row = sender, once what each receives is what the others send it."""
    n = len(parts)
    for part in parts:
        for splits in (part.exchange.send_bytes, part.exchange.receive_bytes):
            if splits is not None and len(splits) != n:
                raise WorkloadError(f"{part.where}: has splits for {len(splits)} ranks, and its group has {n}")
    try:
        matrix = np.array([part.exchange.send_bytes for part in parts], dtype=np.int64)
    except OverflowError:
        raise WorkloadError(f"{parts[0].where}: sends more than 2^63 bytes to a rank") from None
    for j, part in enumerate(parts):
        for i, received in enumerate(part.exchange.receive_bytes or ()):
            if received != matrix[i, j]:
                raise WorkloadError(
                    f"{part.where}: receives {received} B from member {i} of its group, and that one sends it "
                    f"{matrix[i, j]} B in {parts[i].where}"
                )
    return matrix


def _matched_messages(sends: list[_Part], receives: list[_Part]) -> _Calls:
    if len(sends) != len(receives):
        alone = max(sends, receives, key=len)[min(len(sends), len(receives))]
        peer, tag, is_sender = alone.exchange.peer, alone.exchange.tag, alone.exchange.is_sender
        counterpart = min(sends, receives, key=len)
        last = f"; the last one there is {counterpart[-1].where}" if counterpart else ""
        raise WorkloadError(
            f"{alone.where}: rank {peer} has nothing that {'receives' if is_sender else 'sends'} it (tag {tag}){last}"
        )
    calls: _Calls = []
    for sender, receiver in zip(sends, receives, strict=True):
        sent, received = sender.exchange, receiver.exchange
        if sent.size_bytes != received.size_bytes:
            raise WorkloadError(
                f"{sender.where}: sends {sent.size_bytes} B, and its counterpart {receiver.where} receives "
                f"{received.size_bytes} B"
            )
        call = CollectiveCall(
            name=sender.graph.names[sender.graph.name[sent.row]],
            kind="sendrecv",
            group=(sender.graph.rank, receiver.graph.rank),
            size_bytes=sent.size_bytes,
            dtype=sent.dtype,
            priority=sent.priority,
            algorithm=sent.algorithm,
            iteration=int(sender.graph.iteration[sent.row]),
            source=sender.where,
        )
        calls.append((call, [sender, receiver]))
    return calls


def _trace(graphs: Sequence[RankGraph], ranks: int, calls: _Calls) -> Trace:
    first_row = np.cumsum([0, *(len(graph) for graph in graphs)])
    base = {graph.rank: int(first) for graph, first in zip(graphs, first_row, strict=False)}
    # ids of all files in one order, as a trace that was written from one has them; ranks keep theirs in any case
    order = np.concatenate([graph.order + base[graph.rank] for graph in graphs])
    key = np.concatenate([np.maximum.accumulate(graph.id[graph.order]) for graph in graphs])
    order = order[np.lexsort((np.arange(len(order)), np.repeat([g.rank for g in graphs], np.diff(first_row)), key))]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))

    call = np.full(len(order), -1, dtype=np.int64)
    rows = [[place[base[part.graph.rank] + part.exchange.row] for part in parts] for _, parts in calls]
    in_order = sorted(range(len(calls)), key=lambda index: min(rows[index]))
    for number, index in enumerate(in_order):
        call[rows[index]] = number

    name, names = _relabelled([(graph.name, graph.names) for graph in graphs], order)
    phase, phases = _relabelled([(graph.phase, graph.phases) for graph in graphs], order)
    stream, streams = _relabelled([(graph.stream, graph.streams) for graph in graphs], order)
    counts = np.concatenate([np.diff(graph.dep_ptr) for graph in graphs])[order]
    dep_ptr = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(counts, out=dep_ptr[1:])
    waiting = np.concatenate([np.repeat(np.arange(len(g)) + base[g.rank], np.diff(g.dep_ptr)) for g in graphs])
    waited = np.concatenate([graph.dep_row + base[graph.rank] for graph in graphs])
    return Trace(
        ranks=ranks,
        kind=np.concatenate([graph.kind for graph in graphs])[order],
        rank=np.repeat([graph.rank for graph in graphs], np.diff(first_row)).astype(np.int32)[order],
        name=name,
        names=names,
        duration_ps=np.concatenate([graph.duration_ps for graph in graphs])[order],
        call=call.astype(np.int32),
        iteration=np.concatenate([graph.iteration for graph in graphs])[order],
        phase=phase,
        phases=phases,
        stream=stream,
        streams=streams,
        dep_ptr=dep_ptr,
        dep_node=place[waited][np.argsort(place[waiting], kind="stable")],
        calls=tuple(calls[index][0] for index in in_order),
    )


def _relabelled(
    columns: Sequence[tuple[NDArray[np.int32], tuple[str, ...]]], order: NDArray[np.int64]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """One column of labels for all graphs, in a new order, -1 as it is."""
    labels: dict[str, int] = {}
    parts = []
    for index, names in columns:
        new = np.array([labels.setdefault(name, len(labels)) for name in names] + [-1], dtype=np.int32)
        parts.append(new[index])
    return np.concatenate(parts)[order], tuple(labels)
