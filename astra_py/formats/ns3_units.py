# SPDX-License-Identifier: GPL-2.0-only
"""Rates and times as ns-3 writes them: ``100Gbps``, ``0.0005ms``."""

from __future__ import annotations

import re
from fractions import Fraction

from astra_py.units import INT64_MAX

__all__ = ["ns3_rate_bps", "ns3_time_ps"]

_QUANTITY = re.compile(
    r"(?P<number>[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?)(?P<unit>[A-Za-z/]*)", re.ASCII
)

#: Units of ns3::DataRate: b is bit and B is byte, k is 1000 in either case, Ki is 1024.
_RATES = {
    f"{prefix}{what}{per}": factor * bits
    for prefix, factor in {
        **{"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12},
        **{"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40},
    }.items()
    for what, bits in (("b", 1), ("B", 8))
    for per in ("ps", "/s")
}
#: Units of ns3::Time, in ps; without one it is seconds.
_TIMES = {
    **{"": Fraction(10**12), "s": Fraction(10**12), "ms": Fraction(10**9), "us": Fraction(10**6)},
    **{"ns": Fraction(10**3), "ps": Fraction(1), "fs": Fraction(1, 10**3)},
    **{"min": Fraction(60 * 10**12), "h": Fraction(3600 * 10**12)},
}


def ns3_rate_bps(text: str) -> int:
    """Bits per second of a text that ns3::DataRate takes.

    Raises
    ------
    ValueError : it is none, or no whole number from 1 to 2^63 - 1; the message starts with the text.
    """
    return _read(text, {unit: Fraction(factor) for unit, factor in _RATES.items()}, "rate", "bit/s", "100Gbps", 1)


def ns3_time_ps(text: str) -> int:
    """Picoseconds of a text that ns3::Time takes.

    Raises
    ------
    ValueError : it is none, or no whole number from 0 to 2^63 - 1; the message starts with the text.
    """
    return _read(text, _TIMES, "time", "ps", "0.001ms", 0)


def _read(text: str, units: dict[str, Fraction], what: str, base: str, example: str, least: int) -> int:
    match = _QUANTITY.fullmatch(text)
    if match is None or match["unit"] not in units:
        listed = " ".join(unit for unit in units if unit)
        raise ValueError(f"{text!r} is no {what}; allowed: a number and a unit, such as {example!r} (units: {listed})")
    exact = Fraction(match["number"]) * units[match["unit"]]
    if exact.denominator != 1 or not least <= exact <= INT64_MAX:
        raise ValueError(f"{text!r} is out of range; allowed: a whole number of {base} from {least} to 2^63 - 1")
    return int(exact)
