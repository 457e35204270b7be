# SPDX-License-Identifier: GPL-2.0-only
"""The format ``chakra``: MLCommons Chakra's execution traces, one ``.et`` file a rank."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from astra_py.errors import ConfigError, WorkloadError
from astra_py.formats.chakra_graph import ALL_RANKS, ChakraGraph, chakra_graph
from astra_py.formats.chakra_nodes import VERSION, read_chakra_nodes
from astra_py.formats.chakra_writer import chakra_files, write_chakra
from astra_py.formats.graph_job import complete, counted, graph_job, rank_files, span
from astra_py.formats.head import Head
from astra_py.formats.protobuf import LENGTH, VARINT, WireError, fields, varint
from astra_py.formats.rank_graph import Exchange, Group, RankGraph
from astra_py.formats.rated import rated
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.platforms import build_platform
from astra_py.workloads import Job, build_job

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["CHAKRA"]

#: Wire types of the fields of GlobalMetadata and of Node; a repeated integer may be packed.
_METADATA_FIELDS: Mapping[int, tuple[int, ...]] = {1: (LENGTH,), 2: (LENGTH,)}
_NODE_FIELDS: Mapping[int, tuple[int, ...]] = {
    **dict.fromkeys((1, 3, 6, 7), (VARINT,)),
    **dict.fromkeys((2, 8, 9, 10), (LENGTH,)),
    **dict.fromkeys((4, 5), (LENGTH, VARINT)),
}


def _recognises(path: Path, head: Head) -> bool:
    """A stream of messages, as far as it is seen: one with the fields of GlobalMetadata, then such of Node."""
    data, at, known = head.data, 0, _METADATA_FIELDS
    if head.is_gzip or not data:
        return False
    try:
        while at < len(data):
            length, at = varint(data, at, len(data))
            if at + length > len(data):
                return not head.is_whole and known is _NODE_FIELDS
            if any(wire not in known.get(number, ()) for number, wire, _, _ in fields(data, at, at + length)):
                return False
            at, known = at + length, _NODE_FIELDS
    except WireError:
        return not head.is_whole and known is _NODE_FIELDS
    return True


def _read(path: Path, options: Options) -> Document:
    graphs, warnings = {}, []
    for rank, file in rank_files(path).items():
        nodes = read_chakra_nodes(file)
        if nodes.version not in ("", VERSION):
            warnings.append(f"{file}: is of schema {nodes.version!r}, and read as {VERSION}")
        graphs[rank] = chakra_graph(nodes, rank)
        _ = graphs[rank].graph.order  # raises where nodes wait for each other
    ignored: Counter[str] = sum((graph.ignored for graph in graphs.values()), Counter())
    document = Document(
        format=CHAKRA.name,
        path=path,
        content=None,
        summary=tuple(_summary(path, graphs)),
        ignored=tuple(f"{what} ({count})" for what, count in ignored.items()),
        warnings=tuple(warnings[:1]),
        ranks=complete(graphs),
    )
    # warnings are the document's to say
    return replace(document, content=_Maker(replace(document, warnings=()), graphs))


def _summary(path: Path, graphs: Mapping[int, ChakraGraph]) -> list[str]:
    """What was taken, a sentence a line, with units."""
    types = sum((graph.types for graph in graphs.values()), Counter[object]())
    named = ", ".join(f"{count} {kind.name}" for kind, count in sorted(types.items()))  # type: ignore[attr-defined]
    lines = [f"{path}: {counted(len(graphs), 'file')}, {counted(sum(types.values()), 'node')}: {named or 'none'}"]
    if busiest := max(int(graph.graph.duration_ps.sum(dtype=object)) for graph in graphs.values()):
        lines.append(f"times of nodes, in whole us there: at most {busiest / 1e6:g} us a rank together")
    if rated := sum(len(graph.costs) for graph in graphs.values()):
        what = f"{counted(rated, 'node')} with num_ops and tensor_size and no time"
        lines.append(f"{what}: the accelerator's roofline gives it")
    for kind, exchanges in _by_kind(graphs).items():
        sizes = [size for exchange in exchanges if (size := _size(exchange)) is not None]
        what = "each rank's input" if kind == "all_gather" else "each message" if kind == "sendrecv" else "the buffer"
        of_what = "" if kind == "barrier" else f": {span(sizes)} ({what})"
        lines.append(f"{counted(len(exchanges), 'node')} of {kind}{of_what}")
    rooted = [kind for kind in _by_kind(graphs) if kind in ("broadcast", "reduce", "gather", "scatter")]
    if rooted:
        lines.append(f"the root of {', '.join(rooted)} is the first rank of the group: the schema names none")
    return lines


def _by_kind(graphs: Mapping[int, ChakraGraph]) -> dict[str, list[Exchange]]:
    found: dict[str, list[Exchange]] = {}
    for graph in graphs.values():
        for exchange in graph.graph.exchanges:
            found.setdefault(exchange.kind, []).append(exchange)
    return dict(sorted(found.items()))


def _size(exchange: Exchange) -> int | None:
    if exchange.send_bytes is not None:
        return sum(exchange.send_bytes)
    return exchange.part_bytes if exchange.size_bytes is None else exchange.size_bytes


class _Maker:
    """Makes the job of all ranks: groups by their names, times of nodes that give operations and bytes."""

    def __init__(self, document: Document, graphs: Mapping[int, ChakraGraph]) -> None:
        self.document = document
        self.graphs = graphs

    def __call__(self, scenario: Scenario, ranks: int) -> Job:
        config = scenario.require_workload()
        given = {} if config.comm_groups is None else read_comm_groups(Path(config.comm_groups))
        graphs = {}
        for rank, graph in self.graphs.items():
            costs = ((*cost, config.compute_dtype) for cost in graph.costs)
            graphs[rank] = rated(_grouped(graph, given, config.comm_groups, ranks), costs, scenario)
        job = graph_job(self.document.path, graphs, scenario, ranks)
        return Job(job.trace, (*self.document.notes, *job.notes))


def read_comm_groups(path: Path) -> dict[str, tuple[int, ...]]:
    """Read ASTRA-sim's file of communicator groups: JSON such as ``{"1": [0, 1, 2, 3]}``.

    Raises
    ------
    WorkloadError : it cannot be read, or is something else.
    """
    try:
        tree = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise WorkloadError(f"{path}: is no JSON: {error}") from None
    if not isinstance(tree, dict):
        raise WorkloadError(f'{path}: holds no groups; allowed is JSON such as {{"1": [0, 1, 2, 3]}}')
    for name, members in tree.items():
        if not isinstance(members, list) or not members or any(type(rank) is not int for rank in members):
            raise WorkloadError(f"{path}: group {name!r} is {members!r}; allowed is a list of ranks")
    return {name: tuple(members) for name, members in tree.items()}


def _grouped(read: ChakraGraph, given: Mapping[str, tuple[int, ...]], source: str | None, ranks: int) -> RankGraph:
    """The graph with the ranks of its named groups."""
    graph, everyone = read.graph, tuple(range(ranks))
    groups: dict[str, Group] = {"": Group()}
    for name, members in (*read.groups.items(), *given.items()):
        known = Group(name, None if members in (None, everyone) else members)
        if name in ALL_RANKS and known.ranks is not None:
            raise WorkloadError(
                f"{source if name in given else graph.path}: group {name!r} is of ranks {members}, and ASTRA-sim takes "
                "that name for all ranks whatever is said; allowed: another name"
            )
        if groups.setdefault(name, known) != known:
            raise WorkloadError(f"{source}: group {name!r} is of ranks {members}, and in {graph.path} of others")
    for exchange in graph.exchanges:
        if exchange.group.name not in groups:
            raise WorkloadError(
                f"{graph.where(exchange.row)}: group {exchange.group.name!r} has no ranks: no METADATA node of the "
                "file and no workload.comm_groups names them"
            )
    exchanges = tuple(
        replace(exchange, group=groups[exchange.group.name]) if exchange.group.name else exchange
        for exchange in graph.exchanges
    )
    return replace(graph, exchanges=exchanges)


def _write(document: Document, path: Path, options: Options) -> tuple[str, ...]:
    """Write the job of a workload file in ``options.scenario``."""
    assert options.scenario is not None
    job = build_job(options.scenario, build_platform(options.scenario.platform).ranks)
    read_from = [file.resolve() for file in rank_files(document.path).values()]
    if over := [file for file in chakra_files(path, job.trace.ranks) if file.resolve() in read_from]:
        raise ConfigError(f"{over[0]}: is the source itself; allowed: another name")
    if options.is_strict and job.warnings:
        raise WorkloadError(f"{job.warnings[0]} (strict: an error)")
    return (*job.notes, *write_chakra(job.trace, path, is_overwriting=options.is_overwriting))


CHAKRA = register_format(
    Format(
        name="chakra",
        title="Chakra execution trace",
        kind=Kind.WORKLOAD,
        recognises=_recognises,
        read=_read,
        write=_write,
        writes=frozenset({Kind.WORKLOAD}),
        suffixes=(".et",),
    )
)
