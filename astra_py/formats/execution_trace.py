# SPDX-License-Identifier: GPL-2.0-only
"""The format ``pytorch_et``: PyTorch's execution traces, one JSON file a rank, plain or as a gzip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from astra_py.formats.execution_trace_graph import EtGraph, execution_trace_graph
from astra_py.formats.execution_trace_nodes import read_et_nodes
from astra_py.formats.graph_job import complete, counted, graph_job, rank_files, span
from astra_py.formats.head import Head
from astra_py.formats.rank_graph import Exchange
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.workloads import Job

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["PYTORCH_ET"]


def _recognises(path: Path, head: Head) -> bool:
    """An object with a schema and nodes, and no events of a profiler."""
    return {"schema", "nodes"} <= head.json_keys and "traceEvents" not in head.json_keys


def _read(path: Path, options: Options) -> Document:
    graphs = {rank: execution_trace_graph(file, read_et_nodes(file), rank) for rank, file in rank_files(path).items()}
    ignored: Counter[str] = sum((graph.ignored for graph in graphs.values()), Counter())
    document = Document(
        format=PYTORCH_ET.name,
        path=path,
        content=None,
        summary=tuple(_summary(path, graphs)),
        ignored=tuple(f"{what} ({count})" for what, count in ignored.items()),
        ranks=complete(graphs),
    )
    return replace(document, content=_Maker(document, graphs))


def _summary(path: Path, graphs: Mapping[int, EtGraph]) -> list[str]:
    """What was taken, a sentence a line, with units."""
    operators = sum(graph.operators for graph in graphs.values())
    timed = sum(graph.timed for graph in graphs.values())
    lines = [f"{path}: {counted(len(graphs), 'file')}, {counted(operators, 'operator')}"]
    if timed:
        busiest = max(int(graph.graph.duration_ps.sum(dtype=object)) for graph in graphs.values())
        lines.append(f"{counted(timed, 'node')} with times, at most {busiest / 1e6:g} us a rank together")
    else:
        lines.append("no operator has a time: compute takes none, and the exchanges alone are simulated")
    by_kind: dict[str, list[Exchange]] = {}
    for graph in graphs.values():
        for exchange in graph.graph.exchanges:
            by_kind.setdefault(exchange.kind, []).append(exchange)
    lines += [
        f"{counted(len(exchanges), 'node')} of {kind}: {_sizes(exchanges)}"
        for kind, exchanges in sorted(by_kind.items())
    ]
    return lines


def _sizes(exchanges: list[Exchange]) -> str:
    if exchanges[0].send_bytes is not None:
        return f"{span(size for exchange in exchanges for size in exchange.send_bytes or ())} to a rank"
    sizes = [exchange.part_bytes if exchange.size_bytes is None else exchange.size_bytes for exchange in exchanges]
    return span(size for size in sizes if size is not None)


class _Maker:
    """Makes the job of all ranks."""

    def __init__(self, document: Document, graphs: Mapping[int, EtGraph]) -> None:
        self.document = document
        self.graphs = graphs

    def __call__(self, scenario: Scenario, ranks: int) -> Job:
        graphs = {rank: graph.graph.in_job_of(ranks) for rank, graph in self.graphs.items()}
        job = graph_job(self.document.path, graphs, scenario, ranks)
        return Job(job.trace, (*self.document.notes, *job.notes))


PYTORCH_ET = register_format(
    Format(
        name="pytorch_et",
        title="PyTorch execution trace",
        kind=Kind.WORKLOAD,
        recognises=_recognises,
        read=_read,
        suffixes=(".json", ".json.gz"),
        keys=frozenset({"missing_ranks", "compute_scale"}),
    )
)
