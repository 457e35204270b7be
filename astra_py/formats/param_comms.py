# SPDX-License-Identifier: GPL-2.0-only
"""The format ``param_comms``: PARAM's traces of collectives, one JSON file a rank.

A list of entries, in the order in which the rank issues them: the "basic" trace of PARAM's replay,
``commsTraceParser.py`` and ``commsTraceReplay.py``. ``comms`` names a collective, with ``in_msg_size`` and
``out_msg_size`` in *elements* of ``dtype``, ``in_split`` and ``out_split`` of an all_to_allv, ``root``, ``src_rank``
and ``dst_rank`` as ranks of the job, ``req`` to which a ``wait`` refers, and ``pg_id``, whose ranks an ``init`` entry
or ``global_ranks`` gives. ``compute`` is a kernel, ``count`` times: ``gemm`` of two matrices, or ``emb_lookup``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.errors import WorkloadError, did_you_mean
from astra_py.formats.graph_job import complete, counted, graph_job, rank_files, span
from astra_py.formats.head import Head
from astra_py.formats.issued_graph import IssuedGraph
from astra_py.formats.rank_graph import Exchange, Group, RankGraph
from astra_py.formats.rated import rated
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.workloads import Job

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["PARAM_COMMS"]

#: Kinds by PARAM's names, without what is between their words.
_KINDS = {
    "allreduce": "all_reduce",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "allgather": "all_gather",
    "allgatherbase": "all_gather",
    "reducescatter": "reduce_scatter",
    "reducescatterbase": "reduce_scatter",
    "alltoall": "all_to_all",
    "alltoallbase": "all_to_all",
    "alltoallsingle": "all_to_all",
    "alltoallv": "all_to_all_v",
    "gather": "gather",
    "scatter": "scatter",
    "send": "sendrecv",
    "isend": "sendrecv",
    "recv": "sendrecv",
    "irecv": "sendrecv",
    "barrier": "barrier",
}

#: Bytes of an element by PARAM's names of types, which are PyTorch's; and what we call the type.
_DTYPES = {
    "float": (4, "fp32"),
    "float32": (4, "fp32"),
    "half": (2, "fp16"),
    "float16": (2, "fp16"),
    "bfloat16": (2, "bf16"),
    "double": (8, "fp64"),
    "int": (4, "int32"),
    "int32": (4, "int32"),
    "long": (8, "int64"),
    "byte": (1, "uint8"),
    "uint8": (1, "uint8"),
    "char": (1, "int8"),
    "int8": (1, "int8"),
    "bool": (1, "bool"),
}

#: Types that a matrix product is timed in, by PARAM's names.
_GEMM_DTYPES = ("fp32", "fp16", "bf16", "fp64")

#: Bytes of an embedding row's element where PARAM looks it up: its tables are of floats.
_ROW_BYTES = 4

#: Numbers beyond these are no size of anything.
_MOST = 2**50


class _Entry:
    """One entry, and errors that say which."""

    def __init__(self, path: Path, number: int, found: Any) -> None:
        if not isinstance(found, dict):
            raise WorkloadError(f"{path}, entry {number}: is {str(found)[:80]}, and an object is needed")
        self.number = number
        self.found: Mapping[str, Any] = found
        self.name = self.text("comms" if "comms" in found else "compute", f"{path}, entry {number}").lower()
        self.where = f"{path}, entry {number} ({self.name!r})"

    def error(self, what: str) -> WorkloadError:
        return WorkloadError(f"{self.where}: {what}")

    def text(self, key: str, where: str) -> str:
        value = self.found.get(key)
        if not isinstance(value, str):
            raise WorkloadError(f"{where}: {key} is {value!r}; allowed is a name")
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        value = self.found.get(key, default)
        if type(value) is not int or not 0 <= value <= _MOST:
            raise self.error(f"{key} is {value!r}; allowed is a whole number from 0 to 2^50")
        return value

    def integers(self, key: str) -> tuple[int, ...]:
        value = self.found.get(key)
        if not isinstance(value, list) or not value or any(type(v) is not int or not 0 <= v <= _MOST for v in value):
            raise self.error(f"{key} is {str(value)[:80]}; allowed is a list of whole numbers from 0 to 2^50")
        return tuple(value)

    def dtype(self) -> tuple[int, str]:
        """Bytes of an element, and what we call the type."""
        name = self.text("dtype", self.where).lower()
        if name not in _DTYPES:
            raise self.error(f"unknown dtype {name!r}; known are {', '.join(_DTYPES)}{did_you_mean(name, _DTYPES)}")
        return _DTYPES[name]


class _Reader:
    """What a file's entries issue."""

    def __init__(self, path: Path, rank: int) -> None:
        self.path = path
        self.rank = rank
        self.issued = IssuedGraph(path, rank)
        self.costs: list[tuple[int, int, int, str]] = []
        self.groups: dict[int, tuple[int, ...]] = {}
        self.by_request: dict[str, int] = {}
        self.ignored: Counter[str] = Counter()

    def read(self) -> None:
        for number, found in enumerate(_entries(self.path)):
            entry = _Entry(self.path, number, found)
            if "comms" in entry.found:
                self._communicate(entry)
            else:
                self._compute(entry)

    def _compute(self, entry: _Entry) -> None:
        count = entry.integer("count", 1)
        if entry.name == "gemm":
            keys = ("mm0_dim0", "mm0_dim1", "mm1_dim1")
            m, k, n = (entry.integer(key, entry.found.get("mm_dim")) for key in keys)
            size, dtype = entry.dtype()
            if dtype not in _GEMM_DTYPES:
                raise entry.error(f"a gemm of {dtype}; allowed: {', '.join(_GEMM_DTYPES)}")
            cost = 2 * m * k * n, (m * k + k * n + m * n) * size, dtype
        elif entry.name == "emb_lookup":
            rows = entry.integer("batch_size") * entry.integer("num_emb_tables") * entry.integer("bag_size")
            direction = entry.found.get("direction", "forward")
            if direction not in ("forward", "backward"):
                raise entry.error(f"direction is {direction!r}; allowed: forward, backward")
            # an update reads and writes the rows that a lookup reads
            passes = 1 if direction == "forward" else 2
            cost = 0, rows * entry.integer("emb_dim") * _ROW_BYTES * passes, "fp32"
        else:
            raise entry.error("unknown compute; known are gemm, emb_lookup")
        self.costs.append((self.issued.next_row, cost[0] * count, cost[1] * count, cost[2]))
        self.issued.compute(entry.number, entry.name, 0)

    def _communicate(self, entry: _Entry) -> None:
        name = entry.name.replace("_", "").replace("-", "")
        if name == "init":
            if "pg_id" in entry.found:
                self.groups[entry.integer("pg_id")] = entry.integers("global_ranks")
            return
        request = str(entry.found.get("req"))
        if name == "wait":
            if request in self.by_request:
                self.issued.wait(self.by_request[request])
            else:
                self.ignored["waits for what is not in the file"] += 1
            return
        if name not in _KINDS:
            known = ", ".join((*_KINDS, "wait", "init"))
            raise entry.error(f"unknown collective; known are {known}{did_you_mean(name, _KINDS)}")
        row = self.issued.next_row
        self.issued.exchange(entry.number, entry.name, self._exchange(entry, name, row))
        self.by_request[request] = row

    def _exchange(self, entry: _Entry, name: str, row: int) -> Exchange:
        kind, group = _KINDS[name], self._group(entry)
        if kind == "barrier":
            return Exchange(row=row, kind=kind, group=group, size_bytes=0)
        size, dtype = entry.dtype()
        sent, received = entry.integer("in_msg_size") * size, entry.integer("out_msg_size") * size
        if kind == "sendrecv":
            is_sender = name.endswith("send")
            own, peer = ("src_rank", "dst_rank") if is_sender else ("dst_rank", "src_rank")
            if entry.integer(own) != self.rank:
                raise entry.error(f"{own} is {entry.integer(own)}, and the file is of rank {self.rank}")
            return Exchange(
                row=row,
                kind=kind,
                size_bytes=sent if is_sender else received,
                peer=entry.integer(peer),
                is_sender=is_sender,
                dtype=dtype,
            )
        if kind == "all_to_all_v":
            sends, receives = (tuple(n * size for n in entry.integers(key)) for key in ("in_split", "out_split"))
            for what, parts, whole in (("in", sends, sent), ("out", receives, received)):
                if sum(parts) != whole:
                    raise entry.error(f"{what}_split has {sum(parts)} B together, and {what}_msg_size is {whole} B")
            return Exchange(row=row, kind=kind, group=group, send_bytes=sends, receive_bytes=receives, dtype=dtype)
        if kind in ("all_gather", "gather", "reduce_scatter", "scatter"):
            part, whole = (sent, received) if kind.endswith("gather") else (received, sent)
            is_known = kind in ("all_gather", "reduce_scatter")  # only the root of the others has the whole
            return Exchange(
                row=row,
                kind=kind,
                group=group,
                size_bytes=whole if is_known else None,
                part_bytes=part,
                root=0 if is_known else self._root(entry, group),
                dtype=dtype,
            )
        root = self._root(entry, group) if kind in ("broadcast", "reduce") else 0
        return Exchange(row=row, kind=kind, group=group, size_bytes=sent, root=root, dtype=dtype)

    def _group(self, entry: _Entry) -> Group:
        if entry.found.get("pg_id") is None:
            return Group()
        number = entry.integer("pg_id")
        if "global_ranks" in entry.found:
            self.groups[number] = entry.integers("global_ranks")
        if number not in self.groups:
            raise entry.error(f"pg_id {number} has no ranks: no init entry before it and no global_ranks name them")
        return Group(str(number), self.groups[number])

    def _root(self, entry: _Entry, group: Group) -> int:
        """The root as a member of the group."""
        root = entry.integer("root", 0 if group.ranks is None else group.ranks[0])
        if group.ranks is None:
            return root
        if root not in group.ranks:
            raise entry.error(f"root is rank {root}, and the group is of ranks {group.ranks}")
        return group.ranks.index(root)


def _entries(path: Path) -> list[Any]:
    try:
        tree = json.loads(path.read_bytes())
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        what = "its lists are nested too deep" if isinstance(error, RecursionError) else str(error)
        raise WorkloadError(f"{path}: is no JSON: {what}") from None
    if not isinstance(tree, list):
        raise WorkloadError(f"{path}: is no list of entries, each an object with 'comms' or 'compute'")
    return tree


def _recognises(path: Path, head: Head) -> bool:
    """A list of objects, of which some are collectives with sizes."""
    is_list = (head.text or "").lstrip().startswith("[") and not head.is_gzip
    return is_list and "comms" in head.json_keys and not {"ph", "nodes"} & head.json_keys


def _read(path: Path, options: Options) -> Document:
    readers = {rank: _Reader(file, rank) for rank, file in rank_files(path).items()}
    for reader in readers.values():
        reader.read()
    graphs = {rank: reader.issued.made() for rank, reader in readers.items()}
    ignored: Counter[str] = sum((reader.ignored for reader in readers.values()), Counter())
    document = Document(
        format=PARAM_COMMS.name,
        path=path,
        content=None,
        summary=tuple(_summary(path, graphs)),
        ignored=tuple(f"{what} ({count})" for what, count in ignored.items()),
        ranks=complete(graphs),
    )
    return replace(document, content=_Maker(document, graphs, {rank: reader.costs for rank, reader in readers.items()}))


def _summary(path: Path, graphs: Mapping[int, RankGraph]) -> list[str]:
    exchanges = [exchange for graph in graphs.values() for exchange in graph.exchanges]
    computes = sum(map(len, graphs.values())) - len(exchanges)
    lines = [f"{path}: {counted(len(graphs), 'file')}"]
    if computes:
        lines.append(f"{counted(computes, 'compute')}: the accelerator's roofline gives their times")
    for kind in sorted({exchange.kind for exchange in exchanges}):
        of_kind = [exchange for exchange in exchanges if exchange.kind == kind]
        sizes = [size for exchange in of_kind for size in _sizes(exchange)]
        what = {"all_to_all_v": "to a rank", "all_gather": "a rank's part", "reduce_scatter": "a rank's part"}
        lines.append(f"{counted(len(of_kind), 'entry')} of {kind}: {span(sizes)} {what.get(kind, '')}".rstrip())
    return lines


def _sizes(exchange: Exchange) -> tuple[int, ...]:
    if exchange.send_bytes is not None:
        return exchange.send_bytes
    return ((exchange.size_bytes or 0) if exchange.part_bytes is None else exchange.part_bytes,)


class _Maker:
    """Makes the job of all ranks."""

    def __init__(
        self,
        document: Document,
        graphs: Mapping[int, RankGraph],
        costs: Mapping[int, list[tuple[int, int, int, str]]],
    ) -> None:
        self.document = document
        self.graphs = graphs
        self.costs = costs

    def __call__(self, scenario: Scenario, ranks: int) -> Job:
        graphs = {
            rank: rated(graph.in_job_of(ranks), self.costs[rank], scenario) for rank, graph in self.graphs.items()
        }
        job = graph_job(self.document.path, graphs, scenario, ranks)
        return Job(job.trace, (*self.document.notes, *job.notes))


PARAM_COMMS = register_format(
    Format(
        name="param_comms",
        title="PARAM trace of collectives",
        kind=Kind.WORKLOAD,
        recognises=_recognises,
        read=_read,
        suffixes=(".json",),
        keys=frozenset({"missing_ranks", "compute_scale"}),
    )
)
