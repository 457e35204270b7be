# SPDX-License-Identifier: GPL-2.0-only
"""Sizes as a command line gives them: a list of sizes and of geometric ranges."""

from __future__ import annotations

import re

from astra_py.errors import ConfigError
from astra_py.units import parse_size
from astra_py.workloads.calls import MOST_BYTES

__all__ = ["parse_sizes"]

_ALLOWED = "sizes such as 16MiB,100MB, or ranges FROM:TO:FACTOR such as 1MiB:64MiB:2"


def parse_sizes(text: str) -> list[int]:
    """Read ``text``, such as ``"1B,1MiB:64MiB:4"``, into sizes in bytes, in the order given.

    Raises
    ------
    ConfigError : a part is no size or range, or a size is too large for a collective; names the part.
    """
    sizes = []
    for part in text.split(","):
        try:
            sizes += _range(part) if ":" in part else [_size(part)]
        except ConfigError as error:
            raise ConfigError(f"--sizes {text!r}: {error}; allowed: {_ALLOWED}") from None
    return sizes


def _size(part: str) -> int:
    if letter := re.fullmatch(r"\s*([0-9.]+)\s*([KMGT])\s*", part):
        number, prefix = letter.groups()
        decimal = f"{number}{prefix.replace('K', 'k')}B"
        raise ConfigError(
            f"{part!r} is not a size: write {decimal!r} (powers of 1,000) or '{number}{prefix}iB' (powers of 1,024, "
            f"which is what nccl-tests means by {prefix})"
        )
    size_bytes = parse_size(part)
    if size_bytes > MOST_BYTES:
        raise ConfigError(f"{part!r} is above {MOST_BYTES >> 40}TiB, the largest buffer of a collective")
    return size_bytes


def _range(part: str) -> list[int]:
    ends = part.split(":")
    if len(ends) != 3:
        raise ConfigError(f"{part!r} has {len(ends)} parts and a range has three")
    low, high, factor = _size(ends[0]), _size(ends[1]), ends[2].strip()
    if not (factor.isascii() and factor.isdigit()) or int(factor) < 2:
        raise ConfigError(f"{part!r} has the factor {factor!r}, which is no whole number above 1")
    if not 0 < low <= high:
        raise ConfigError(f"{part!r} does not run from a size above 0 to one that is not smaller")
    sizes = [low]
    while sizes[-1] * int(factor) <= high:
        sizes.append(sizes[-1] * int(factor))
    return sizes
