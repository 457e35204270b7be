# SPDX-License-Identifier: GPL-2.0-only
"""Quantities as text: a number and its unit, exactly.

The grammar is ``NUMBER [space] UNIT``, where ``NUMBER`` is a decimal such as ``64``, ``0.5`` or ``1e3``:

========  ===================================================================================================
size      ``B``, decimal ``kB MB GB TB``, binary ``KiB MiB GiB TiB``
rate      ``bps kbps Mbps Gbps Tbps``, the same as ``b/s kb/s Mb/s Gb/s Tb/s``, and each size unit with ``/s``
time      ``ps ns us ms s``
========  ===================================================================================================

Units are case-sensitive, ``b`` is bit and ``B`` is byte, ``GB`` is 10^9 bytes and ``GiB`` 2^30. Inside the package a
size is integer bytes, a rate integer bits per second and a time integer picoseconds, each below 2^63; a text that does
not name a whole number of those is refused rather than rounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from astra_py.errors import ConfigError, did_you_mean

__all__ = [
    "INT64_MAX",
    "RATE",
    "SIZE",
    "TIME",
    "Quantity",
    "format_rate",
    "format_size",
    "format_time",
    "parse_rate",
    "parse_size",
    "parse_time",
]

#: Largest value that a column of 64-bit integers holds.
INT64_MAX = 2**63 - 1

_TEXT = re.compile(r"(?P<sign>[+-]?)(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?)\s?(?P<unit>[^\W\d_]\S*)?")
_LONGEST_TEXT = 64
_MOST_DECIMALS = 3

_SIZE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_BIT_RATE_UNITS = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_RATE_UNITS = (
    _BIT_RATE_UNITS
    | {unit.replace("bps", "b/s"): factor for unit, factor in _BIT_RATE_UNITS.items()}
    | {f"{unit}/s": 8 * factor for unit, factor in _SIZE_UNITS.items()}
)
_TIME_UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}

#: What people write for a unit of ours, with no spelling in common with it.
_HABITS = {"µs": "us", "μs": "us", "usec": "us", "sec": "s", "byte": "B", "bytes": "B"}


@dataclass(frozen=True)
class Quantity:
    """One kind of quantity: its units and the whole unit it is counted in.

    Attributes
    ----------
    name : ``"size"``, ``"rate"`` or ``"time"``.
    base : the unit of the integers, in words.
    units : factor of each unit, in base units.
    printed : the units that :meth:`format` writes.
    example : a text that is right.
    """

    name: str
    base: str
    units: Mapping[str, int]
    printed: tuple[str, ...]
    example: str

    def parse(self, text: str) -> int:
        """Read ``text`` exactly.

        Parameters
        ----------
        text : such as ``"64MiB"``, ``"100 Gbps"`` or ``"1.5us"``.

        Returns
        -------
        int
            in base units, 0 <= value < 2^63.

        Raises
        ------
        ConfigError
            no number, no unit, an unknown unit (with the nearest one), a negative, a fraction of the base unit, or a
            value that does not fit.
        """
        if not isinstance(text, str):
            raise ConfigError(f"{text!r} is not a {self.name}: write text with a unit, such as {self.example!r}")
        match = _TEXT.fullmatch(text.strip()) if len(text) <= _LONGEST_TEXT else None
        if match is None:
            raise ConfigError(f"{text!r} is not a {self.name}: write a number and a unit, such as {self.example!r}")
        sign, number, unit = match["sign"], match["number"], match["unit"]
        if unit is None:
            raise ConfigError(f"{text!r} has no unit: a {self.name} is written like {self.example!r}")
        if unit not in self.units:
            raise ConfigError(self._unknown_unit(text, number, unit))
        if sign == "-":
            raise ConfigError(f"{text!r} is negative: a {self.name} is 0 or more")
        exact = Fraction(Decimal(number)) * self.units[unit]
        if exact.denominator != 1:
            raise ConfigError(f"{text!r} is not a whole number of {self.base}")
        if exact > INT64_MAX:
            raise ConfigError(f"{text!r} is too large: a {self.name} is at most {INT64_MAX} {self.base}")
        return int(exact)

    def format(self, value: int) -> str:
        """Write ``value`` (base units) as the shortest text that :meth:`parse` reads back to the same value.

        Raises
        ------
        ConfigError
            ``value`` is negative or does not fit 64 bits.
        """
        if not 0 <= value <= INT64_MAX:
            raise ConfigError(f"{value} {self.base} is not a {self.name}: it is 0 to {INT64_MAX}")
        texts = [text for unit in self.printed if (text := self._exact_text(value, unit)) is not None]
        return min(texts, key=len)

    def _exact_text(self, value: int, unit: str) -> str | None:
        """``value`` in ``unit``, or None where that takes too many decimals or leaves nothing before the point."""
        factor = self.units[unit]
        whole, rest = divmod(value, factor)
        if rest == 0:
            return f"{whole}{unit}"
        decimals, inexact = divmod(rest * 10**_MOST_DECIMALS, factor)
        if inexact or whole == 0:
            return None
        return f"{whole}.{decimals:0{_MOST_DECIMALS}d}".rstrip("0") + unit

    def _unknown_unit(self, text: str, number: str, unit: str) -> str:
        """Say what is wrong with ``unit`` and which units there are, with the nearest named."""
        other = next((kind for kind in (SIZE, RATE, TIME) if unit in kind.units), None)
        if other is not None:
            problem = f"{unit!r} is a unit of {other.name}"
            meant = [unit + "/s", unit.removesuffix("/s")]
        elif self is SIZE and unit in _BIT_UNITS:
            problem = f"{unit!r} counts bits, and a size is in bytes"
            meant = [unit[: unit.index("b")] + "B"]
        else:
            problem = f"unknown unit {unit!r}"
            meant = [_HABITS.get(unit, "")] + [known for known in self.units if known.casefold() == unit.casefold()]
        nearest = [repr(number + known) for known in meant if known in self.units]
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        if not hint and other is None:
            hint = did_you_mean(unit, self.units)
        units = " ".join(self.units)
        return f"{text!r} is not a {self.name}: {problem}{hint} (b is bit, B is byte; units of {self.name}: {units})"


_BIT_UNITS = {"b", "kb", "Mb", "Gb", "Tb", "Kib", "Mib", "Gib", "Tib", "bit", "kbit", "Mbit", "Gbit", "Tbit"}

SIZE = Quantity("size", "bytes", _SIZE_UNITS, tuple(reversed(_SIZE_UNITS)), "64MiB")
RATE = Quantity("rate", "bits per second", _RATE_UNITS, tuple(reversed(_BIT_RATE_UNITS)), "100Gbps")
TIME = Quantity("time", "picoseconds", _TIME_UNITS, tuple(reversed(_TIME_UNITS)), "5us")


def parse_size(text: str) -> int:
    """Bytes of a text such as ``"64MiB"``; see :meth:`Quantity.parse`."""
    return SIZE.parse(text)


def parse_rate(text: str) -> int:
    """Bits per second of a text such as ``"100Gbps"`` or ``"12.5GB/s"``; see :meth:`Quantity.parse`."""
    return RATE.parse(text)


def parse_time(text: str) -> int:
    """Picoseconds of a text such as ``"5us"``; see :meth:`Quantity.parse`."""
    return TIME.parse(text)


def format_size(size_bytes: int) -> str:
    """Shortest exact text of a size in bytes, such as ``"64MiB"``; see :meth:`Quantity.format`."""
    return SIZE.format(size_bytes)


def format_rate(rate_bps: int) -> str:
    """Shortest exact text of a rate in bits per second, such as ``"100Gbps"``; see :meth:`Quantity.format`."""
    return RATE.format(rate_bps)


def format_time(time_ps: int) -> str:
    """Shortest exact text of a time in picoseconds, such as ``"1.5us"``; see :meth:`Quantity.format`."""
    return TIME.format(time_ps)
