# SPDX-License-Identifier: GPL-2.0-only
"""A size of a port that goes by the port's rate: one for all, in proportion to the rate, or one for each rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from astra_py.config.rules import WordRule
from astra_py.errors import ConfigError
from astra_py.units import RATE, SIZE, format_rate, format_size, parse_rate, parse_size

__all__ = ["SizeByRate", "SizeByRateRule"]


@dataclass(frozen=True)
class SizeByRate:
    """A size in bytes as a function of a port's rate in bit/s.

    Attributes
    ----------
    size_bytes, per_bps : ``size_bytes`` for every rate where ``per_bps`` is 0, else for each ``per_bps`` of the rate.
    entries : (rate in bit/s, size in bytes) of each rate that there is, ascending; in place of the other two.
    """

    size_bytes: int = 0
    per_bps: int = 0
    entries: tuple[tuple[int, int], ...] = ()

    def at(self, rate_bps: int) -> int | None:
        """Size in bytes at a rate, rounded down; None where none is given for it."""
        if self.entries:
            return dict(self.entries).get(rate_bps)
        return self.size_bytes * rate_bps // self.per_bps if self.per_bps else self.size_bytes

    def to_ns3(self) -> str:
        """As ns-3's attribute has it: sizes as bare numbers of bytes, rates in Gbps."""
        return self._text(str, _ns3_rate)

    def __str__(self) -> str:
        return self._text(format_size, format_rate)

    def _text(self, size: Callable[[int], str], rate: Callable[[int], str]) -> str:
        if self.entries:
            return ",".join(f"{rate(rate_bps)}={size(size_bytes)}" for rate_bps, size_bytes in self.entries)
        return size(self.size_bytes) + (f"/{rate(self.per_bps)}" if self.per_bps else "")


def _ns3_rate(rate_bps: int) -> str:
    return f"{Decimal(rate_bps).scaleb(-9).normalize():f}Gbps"


@dataclass(frozen=True)
class SizeByRateRule(WordRule):
    """The texts, and the tables, of :class:`SizeByRate`."""

    type_name = "size by rate"

    @property
    def unit(self) -> str:  # noqa: D102
        return "B"

    @property
    def ordinary(self) -> str:  # noqa: D102
        return (
            f"a size such as {SIZE.example!r}, one in proportion to a port's rate such as '100kB/25Gbps', or a table "
            "of a size for each rate such as {'25Gbps' = '100kB', '100Gbps' = '400kB'}, as text '25Gbps=100kB,...'"
        )

    def read_ordinary(self, value: Any) -> SizeByRate:  # noqa: D102
        try:
            if isinstance(value, Mapping):
                return _entries([(rate, size) for rate, size in value.items()])
            if isinstance(value, str) and "=" in value:
                return _entries([part.partition("=")[::2] for part in value.split(",")])
            if isinstance(value, str) and "/" in value:
                size, _, rate = value.partition("/")
                return SizeByRate(parse_size(size), _rate(rate))
            return SizeByRate(parse_size(value))
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def write_ordinary(self, value: SizeByRate) -> str:  # noqa: D102
        return str(value)

    def to_ns3(self, value: SizeByRate) -> str:  # noqa: D102
        return value.to_ns3()


def _entries(pairs: list[Any]) -> SizeByRate:
    entries = [(_rate(rate), parse_size(size)) for rate, size in pairs]
    rates = [rate for rate, _ in entries]
    if twice := next((rate for rate in rates if rates.count(rate) > 1), None):
        raise ValueError(f"{RATE.format(twice)!r} is there twice")
    if not entries:
        raise ValueError("{} has no rate")
    return SizeByRate(entries=tuple(sorted(entries)))


def _rate(text: Any) -> int:
    rate = parse_rate(text.strip() if isinstance(text, str) else text)
    if rate == 0:
        raise ValueError(f"{text!r} is no rate of a port")
    return rate
