# SPDX-License-Identifier: GPL-2.0-only
"""Rules of values that only platforms have: dimensions of a torus, rates of several links, a function of one's own."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from astra_py.config.rules import QuantityRule, WordRule
from astra_py.units import RATE

__all__ = ["Dimensions", "FunctionName", "Rates"]


@dataclass(frozen=True)
class Dimensions(WordRule):
    """Sizes of the dimensions of a grid, such as ``"4x4x2"``, held as a tuple; their product is at most ``most``."""

    type_name = "text"
    most: int

    @property
    def ordinary(self) -> str:  # noqa: D102
        return f"sizes such as '4x4x2', whose product is at most {self.most}"

    def read_ordinary(self, value: Any) -> tuple[int, ...]:  # noqa: D102
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)  # one dimension
        if not isinstance(value, str) or not re.fullmatch(r"[1-9][0-9]{0,8}(x[1-9][0-9]{0,8})*", value):
            raise ValueError(f"{value!r} is not the size of a grid")
        sizes = tuple(int(size) for size in value.split("x"))
        if math.prod(sizes) > self.most:
            raise ValueError(f"{value!r} is out of range")
        return sizes

    def write_ordinary(self, value: tuple[int, ...]) -> str:  # noqa: D102
        return "x".join(map(str, value))


@dataclass(frozen=True)
class Rates(WordRule):
    """Rates separated by commas, such as ``"1000Gbps,800Gbps"``, held as a tuple in bit/s."""

    type_name = "rate"
    most: int

    @property
    def unit(self) -> str:  # noqa: D102
        return "bit/s"

    @property
    def ordinary(self) -> str:  # noqa: D102
        return f"1 to {self.most} rates such as '1000Gbps,800Gbps'"

    def read_ordinary(self, value: Any) -> tuple[int, ...]:  # noqa: D102
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a list of rates")
        rule = QuantityRule(RATE, least=1)
        rates = tuple(rule.read(text.strip()) for text in value.split(","))
        if len(rates) > self.most:
            raise ValueError(f"{value!r} are {len(rates)} rates")
        return rates

    def write_ordinary(self, value: tuple[int, ...]) -> str:  # noqa: D102
        return ",".join(RATE.format(rate) for rate in value)


@dataclass(frozen=True)
class FunctionName(WordRule):
    """A function in a Python file, such as ``"routes.py:choose"``."""

    type_name = "text"

    @property
    def ordinary(self) -> str:  # noqa: D102
        return "a function in a Python file, such as 'routes.py:choose'"

    def read_ordinary(self, value: Any) -> str:  # noqa: D102
        if not isinstance(value, str) or not re.fullmatch(r".+\.py:[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError(f"{value!r} is not a function in a file")
        return value
