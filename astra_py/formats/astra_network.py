# SPDX-License-Identifier: GPL-2.0-only
"""The format ``astra_network``: ASTRA-sim's analytical networks, ``network.yml``.

Four lists, a dimension an entry, the one of neighbouring ranks first: ``topology`` (Ring, FullyConnected or Switch),
``npus_count``, ``bandwidth`` (GB/s of 2^30 B, of each link in each direction) and ``latency`` (ns of each link). Rank r
is at ``(r mod n0, r // n0 mod n1, ...)``. Along each dimension, a Ring has a link to each neighbour (one between two),
FullyConnected one to each other rank, and a Switch one to the dimension's switch, so that ways through it are two links
long. Ways along several dimensions pass through ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from astra_py.config import PlatformConfig
from astra_py.config.platform import MOST_RANKS
from astra_py.errors import TopologyError, did_you_mean
from astra_py.formats.file_platform import FilePlatform, require_dims
from astra_py.formats.head import Head
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.formats.yaml_lists import Entry, read_lists
from astra_py.platforms import Platform
from astra_py.units import INT64_MAX, format_time

__all__ = ["ASTRA_NETWORK", "Dimension", "read_dimensions"]

_KEYS = ("topology", "npus_count", "bandwidth", "latency")
_SHAPES = ("Ring", "FullyConnected", "Switch")
#: Bits of the format's GB.
_BITS_PER_GB = 8 * 2**30
_MOST_DIMENSIONS = 8
_MOST_LINKS = 2**23


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """One dimension: its shape, its ranks, and the rate (bit/s) and delay (ps) of each of its links."""

    shape: str
    size: int
    rate_bps: int
    delay_ps: int

    @property
    def links_per_line(self) -> int:
        """Links of ``size`` ranks in a line along this dimension."""
        if self.shape == "Switch":
            return self.size
        if self.shape == "FullyConnected":
            return self.size * (self.size - 1) // 2
        return self.size if self.size > 2 else self.size - 1

    def __str__(self) -> str:
        rate = f"{self.rate_bps / _BITS_PER_GB:g} GB/s of 2^30 B"
        return f"{self.shape} of {self.size}, links of {rate} each way and {format_time(self.delay_ps)}"


def _recognises(path: Path, head: Head) -> bool:
    """The four keys, at the beginning of lines."""
    keys = {fields[0].partition(":")[0] for fields in head.lines if ":" in fields[0] or fields[1:2] == [":"]}
    return not head.is_gzip and len({*_KEYS} & keys) >= 3


def read_dimensions(path: Path) -> tuple[list[Dimension], list[str]]:
    """Return the dimensions of a network, and the keys of its file that nothing is made of.

    Raises
    ------
    TopologyError : the file is not understood; with its line.
    """
    lists = read_lists(path)
    for key in _KEYS:
        if key not in lists:
            raise TopologyError(f"{path}: {key!r} is missing{did_you_mean(key, lists)}; needed: {', '.join(_KEYS)}")
    counts = {key: len(lists[key]) for key in _KEYS}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} of {key}" for key, count in counts.items())
        raise TopologyError(f"{path}: dimensions do not agree: {listed}; allowed: lists of one length")
    if not 1 <= counts["topology"] <= _MOST_DIMENSIONS:
        raise TopologyError(f"{path}: {counts['topology']} dimensions; allowed: 1 to {_MOST_DIMENSIONS}")
    dimensions = [_dimension(*entries) for entries in zip(*(lists[key] for key in _KEYS), strict=True)]
    ranks = math.prod(dimension.size for dimension in dimensions)
    if ranks > MOST_RANKS:
        raise TopologyError(f"{path}: npus_count makes {ranks} ranks; allowed: at most {MOST_RANKS}")
    links = sum(dimension.links_per_line * ranks // dimension.size for dimension in dimensions)
    if links > _MOST_LINKS:
        raise TopologyError(f"{path}: {ranks} ranks with {links} links; allowed: at most {_MOST_LINKS} links")
    return dimensions, [key for key in lists if key not in _KEYS]


def _dimension(shape: Entry, size: Entry, bandwidth: Entry, latency: Entry) -> Dimension:
    if shape.text not in _SHAPES:
        raise shape.error(
            f"unknown topology {shape.text!r}{did_you_mean(shape.text, _SHAPES)}; allowed: " + ", ".join(_SHAPES)
        )
    rate = bandwidth.decimal("bandwidth in GB/s") * _BITS_PER_GB
    if not 1 <= rate <= INT64_MAX:
        raise bandwidth.error(f"bandwidth is {bandwidth.text} GB/s; allowed: above 0, below 2^63 bit/s")
    delay = latency.decimal("latency in ns") * 1000
    if not 0 <= delay <= 10**14 or delay.denominator != 1:
        raise latency.error(f"latency is {latency.text} ns; allowed: whole picoseconds from 0 to 100 s")
    return Dimension(
        shape=shape.text,
        size=size.whole("npus_count", 1, MOST_RANKS),
        rate_bps=round(rate),
        delay_ps=int(delay),
    )


def _read(path: Path, options: Options) -> Document:
    config = options.platform or PlatformConfig(kind="file", file=str(path))
    dimensions, others = read_dimensions(path)
    ranks = math.prod(dimension.size for dimension in dimensions)
    require_dims(path, config, ranks)
    return Document(
        format=ASTRA_NETWORK.name,
        path=path,
        content=lambda: _build(path, config, dimensions),
        summary=(
            f"{path}: {ranks} ranks in {len(dimensions)} dimensions, that of neighbouring ranks first",
            *(f"dimension {number}: {dimension}" for number, dimension in enumerate(dimensions)),
            *([f"the {dimensions[0].size} ranks of dimension 0 are a machine"] if len(dimensions) > 1 else ()),
        ),
        ignored=tuple(f"key {key!r}" for key in others),
        ranks=ranks,
    )


def _build(path: Path, config: PlatformConfig, dimensions: list[Dimension]) -> Platform:
    nodes = FilePlatform(config, are_forwarding=True)
    sizes = [dimension.size for dimension in dimensions]
    ranks = math.prod(sizes)
    inside = (config.dims or sizes)[0] if len(config.dims or sizes) > 1 else None
    for rank in range(ranks):
        nodes.add_accelerator(f"rank{rank}", rank, machine=None if inside is None else rank // inside)
    stride = 1
    for number, dimension in enumerate(dimensions):
        link_class = f"dim{number}"
        for line in _lines(ranks, stride, dimension.size):
            if dimension.shape == "Switch":
                switch = nodes.add_switch(f"{link_class}_switch{line[0]}")
                pairs = [(rank, switch) for rank in line]
            elif dimension.shape == "FullyConnected":
                pairs = [(a, b) for index, a in enumerate(line) for b in line[index + 1 :]]
            else:
                pairs = list(pairwise(line))
                pairs += [(line[0], line[-1])] if dimension.size > 2 else []
            for a, b in pairs:
                nodes.add_link(a, b, link_class, dimension.rate_bps, dimension.delay_ps)
        stride *= dimension.size
    return nodes.build(path.stem)


def _lines(ranks: int, stride: int, size: int) -> Iterator[list[int]]:
    """Ranks that differ along one dimension alone, by their first one."""
    for first in range(ranks):
        if first // stride % size == 0:
            yield [first + step * stride for step in range(size)]


ASTRA_NETWORK = register_format(
    Format(
        name="astra_network",
        title="ASTRA-sim network.yml",
        kind=Kind.PLATFORM,
        recognises=_recognises,
        read=_read,
    )
)
