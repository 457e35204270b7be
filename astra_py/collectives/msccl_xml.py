# SPDX-License-Identifier: GPL-2.0-only
"""Reads an algorithm of MSCCL: the XML that its compiler writes, and its runtime runs.

An ``<algo>`` has a ``<gpu>`` a rank, a gpu has threadblocks ``<tb>``, each with at most one peer that it sends to and
one that it receives from, and a threadblock takes each ``<step>`` after the one before. A step's ``depid`` and
``deps`` are the threadblock and step of the same gpu that it waits for besides. Source: Cowan et al., "MSCCLang:
Microsoft Collective Communication Language", ASPLOS 2023, and the parser of the public runtime.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from astra_py.errors import ConfigError, did_you_mean

__all__ = ["MscclAlgorithm", "Place", "Step", "Threadblock", "read_msccl"]

#: Names of collectives in the XML, and ours.
_KINDS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
}
_PROTOCOLS = ("Simple", "LL", "LL128")
_BUFFERS = {"i": "input", "o": "output", "s": "scratch"}

#: What steps of each type do: receive, add what is at the source, store at the destination, send.
_TYPES = {
    "s": frozenset({"send"}),
    "r": frozenset({"receive", "store"}),
    "rcs": frozenset({"receive", "store", "send"}),
    "rrs": frozenset({"receive", "add", "send"}),
    "rrc": frozenset({"receive", "add", "store"}),
    "rrcs": frozenset({"receive", "add", "store", "send"}),
    "cpy": frozenset({"copy"}),
    "re": frozenset({"reduce"}),
    "nop": frozenset[str](),
}


@dataclass(frozen=True)
class Place:
    """Some chunks of a buffer: ``"i"``nput, ``"o"``utput or ``"s"``cratch, from ``offset`` on."""

    buffer: str
    offset: int

    def __str__(self) -> str:
        return f"chunk {self.offset} of the {_BUFFERS[self.buffer]}"


@dataclass(frozen=True)
class Step:
    """One step of a threadblock.

    Attributes
    ----------
    line : where it is in the file.
    type : as in the file, such as ``"rrcs"``.
    does : what steps of this type do.
    src, dst : first chunks that it works on.
    count : how many chunks.
    after : (threadblock, step) of the same gpu that it waits for, or None.
    """

    line: int
    type: str
    does: frozenset[str]
    src: Place
    dst: Place
    count: int
    after: tuple[int, int] | None


@dataclass(frozen=True)
class Threadblock:
    """Steps that go one after another; ``send`` and ``receive`` are the peers, -1 for none."""

    line: int
    send: int
    receive: int
    channel: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class MscclAlgorithm:
    """An algorithm as it is in the file.

    Attributes
    ----------
    path : the file.
    kind : the collective, by our name.
    ranks : how many it is for.
    chunks : how many its larger buffer is cut into, ``nchunksperloop``.
    is_in_place : whether input and output are the same memory.
    least_bytes, most_bytes : sizes that it is for; ``most_bytes`` None for no limit.
    scratch_chunks : by gpu.
    gpus : threadblocks of each gpu.
    """

    path: Path
    kind: str
    ranks: int
    chunks: int
    is_in_place: bool
    least_bytes: int
    most_bytes: int | None
    scratch_chunks: tuple[int, ...]
    gpus: tuple[tuple[Threadblock, ...], ...]

    @property
    def parts(self) -> int:
        """Chunks that each rank's own part of the collective is made of."""
        return self.chunks if self.kind == "all_reduce" else self.chunks // self.ranks


@dataclass
class _Element:
    """An element of the file with its line."""

    path: Path
    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list[_Element] = field(default_factory=list)

    def refuse(self, what: str) -> NoReturn:
        raise ConfigError(f"{self.path}:{self.line}: <{self.tag}>: {what}")

    def text(self, name: str, allowed: Iterable[str] | None = None, default: str | None = None) -> str:
        value = self.attributes.get(name, default)
        if value is None:
            self.refuse(f"{name} is missing")
        if allowed is not None and value not in (names := list(allowed)):
            self.refuse(f"{name}={value!r}; allowed: {', '.join(names)}{did_you_mean(value, names)}")
        return value

    def number(self, name: str, least: int, most: int | None = None, default: int | None = None) -> int:
        text = self.text(name, default=None if default is None else str(default))
        try:
            value = int(text)
        except ValueError:
            self.refuse(f"{name}={text!r}; allowed: a whole number")
        if value < least or (most is not None and value > most):
            self.refuse(f"{name}={value}; allowed: {least} {'or more' if most is None else f'to {most}'}")
        return value

    def only(self, tag: str) -> list[_Element]:
        for child in self.children:
            if child.tag != tag:
                child.refuse(f"it is inside <{self.tag}>, where only <{tag}> may be")
        return self.children


def read_msccl(path: Path) -> MscclAlgorithm:
    """Read ``path``.

    The threadblocks of each gpu are in order of their ids, 0 and up, as are their steps. ``nchannels`` and ``hasdep``
    say nothing that the rest does not and are not looked at; ``proto`` is how GPUs copy, has to be one of MSCCL's, and
    its cost is not the network's.

    Raises
    ------
    ConfigError : the file cannot be read, is not XML, or a line of it is not allowed: says which, and what is.
    """
    algo = _parse(path)
    if algo.tag != "algo":
        algo.refuse("an algorithm of MSCCL is an <algo>")
    kind = _KINDS[algo.text("coll", _KINDS)]
    ranks = algo.number("ngpus", 2)
    chunks = algo.number("nchunksperloop", 1)
    algo.text("proto", _PROTOCOLS)
    if kind != "all_reduce" and chunks % ranks:
        algo.refuse(f"nchunksperloop={chunks}; {algo.text('coll')} of {ranks} gpus needs a multiple of {ranks}")
    gpus = _numbered(algo.only("gpu"), "id", algo)
    if len(gpus) != ranks:
        algo.refuse(f"ngpus={ranks}, and there are {len(gpus)} <gpu>")
    least_bytes, most_bytes = algo.number("minBytes", 0, default=0), algo.number("maxBytes", -1, default=0)
    return MscclAlgorithm(
        path=path,
        kind=kind,
        ranks=ranks,
        chunks=chunks,
        is_in_place=algo.number("inplace", 0, 1, default=1) == 1,
        least_bytes=least_bytes,
        most_bytes=most_bytes if most_bytes > 0 else None,
        scratch_chunks=tuple(gpu.number("s_chunks", 0, default=0) for gpu in gpus),
        gpus=tuple(_threadblocks(gpu, ranks, number) for number, gpu in enumerate(gpus)),
    )


def _parse(path: Path) -> _Element:
    """The file's outermost element."""
    parser = expat.ParserCreate()
    root = _Element(path, "file", {}, 1)
    open_elements = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = _Element(path, tag, attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    try:
        parser.Parse(path.read_bytes(), True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except expat.ExpatError as error:
        raise ConfigError(f"{path}:{error.lineno}: not XML: {expat.ErrorString(error.code)}") from None
    return root.children[0]


def _numbered(elements: list[_Element], name: str, parent: _Element) -> list[_Element]:
    """``elements`` in order of the numbers that they give themselves, which have to be 0, 1, 2, ..."""
    by_number: dict[int, _Element] = {}
    for element in elements:
        number = element.number(name, 0)
        if number in by_number:
            element.refuse(f"{name}={number} is there already, in line {by_number[number].line}")
        by_number[number] = element
    for number in range(len(elements)):
        if number not in by_number:
            parent.refuse(f"its <{elements[0].tag}> are numbered 0 to {len(elements) - 1}, and {number} is missing")
    return [by_number[number] for number in range(len(elements))]


def _threadblocks(gpu: _Element, ranks: int, own: int) -> tuple[Threadblock, ...]:
    blocks: list[Threadblock] = []
    elements = _numbered(gpu.only("tb"), "id", gpu)
    steps = [_numbered(element.only("step"), "s", element) for element in elements]
    taken: dict[tuple[str, int, int], int] = {}
    for number, element in enumerate(elements):
        peers = {way: element.number(way, -1, ranks - 1) for way in ("send", "recv")}
        channel = element.number("chan", 0)
        for way, peer in peers.items():
            if peer == own:
                element.refuse(f"{way}={peer} is the gpu itself")
            if peer >= 0 and (line := taken.setdefault((way, peer, channel), element.line)) != element.line:
                element.refuse(f"{way}={peer} on chan={channel} is that of the threadblock in line {line}, too")
        read = [_step(step, peers, [len(of) for of in steps], number) for step in steps[number]]
        blocks.append(Threadblock(element.line, peers["send"], peers["recv"], channel, tuple(read)))
    return tuple(blocks)


def _step(element: _Element, peers: Mapping[str, int], lengths: list[int], own: int) -> Step:
    kind = element.text("type", _TYPES)
    does = _TYPES[kind]
    for way, verb in (("send", "send"), ("recv", "receive")):
        if verb in does and peers[way] < 0:
            element.refuse(f"type={kind!r} in a threadblock with {way}=-1, that {verb}s nothing")
    block, step = element.number("depid", -1, default=-1), element.number("deps", -1, default=-1)
    after = None
    if block >= 0:
        if block >= len(lengths):
            element.refuse(f"depid={block}; allowed: -1 to {len(lengths) - 1}, a threadblock of this gpu")
        if not 0 <= step < lengths[block]:
            element.refuse(f"deps={step}; allowed: 0 to {lengths[block] - 1}, a step of threadblock {block}")
        if block == own and step >= element.number("s", 0):
            element.refuse(f"depid={block} deps={step} is no step before this one")
        after = (block, step)
    return Step(
        line=element.line,
        type=kind,
        does=does,
        src=_place(element, "src"),
        dst=_place(element, "dst"),
        count=element.number("cnt", 1 if does else 0, default=None if does else 0),
        after=after,
    )


def _place(element: _Element, end: str) -> Place:
    does_nothing = element.attributes.get("type") == "nop"
    default = "i" if does_nothing else None
    return Place(
        element.text(f"{end}buf", _BUFFERS, default),
        element.number(f"{end}off", -1 if does_nothing else 0, default=0 if does_nothing else None),
    )
