# SPDX-License-Identifier: GPL-2.0-only
"""Latin-hypercube samples: few points that cover the range of every key evenly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra_py.batch.designs import value_text
from astra_py.config.params import rule_at
from astra_py.config.rules import Count, Number, QuantityRule, Rule
from astra_py.errors import ConfigError, did_you_mean

__all__ = ["SCALES", "LatinHypercube", "Range"]

#: How a range is divided: into equal differences, or equal ratios.
SCALES = ("linear", "log")


@dataclass(frozen=True)
class Range:
    """What a key is sampled from, both ends included.

    Parameters
    ----------
    low, high : as a scenario file has them, with their unit.
    scale : ``"linear"``, or ``"log"`` for what is thought of in factors.
    """

    low: Any
    high: Any
    scale: str = "linear"


@dataclass(frozen=True)
class LatinHypercube:
    """A Latin-hypercube sample (McKay, Beckman, Conover, Technometrics 21, 1979).

    The range of each key is divided into ``samples`` parts of equal length on its scale, and each part has one sample;
    which parts of different keys go together is random. Whole numbers, and quantities of whole units, are rounded, so
    that few of them may share a part.

    Parameters
    ----------
    samples : number of points.
    ranges : of each key, which is a quantity or a number.
    seed : of the sample; not the seed of the runs.

    Raises
    ------
    ConfigError : there are no samples or keys, a key is no quantity or number, or a range is none. Without SciPy, too,
        which draws the sample.
    """

    samples: int
    ranges: Mapping[str, Range]
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (("samples", self.samples, 1), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(f"latin_hypercube: {name} = {value!r}; allowed: a whole number from {least}")
        if not self.ranges:
            raise ConfigError("latin_hypercube: no ranges; allowed: at least one key with 'from' and 'to'")
        for key, span in self.ranges.items():
            _ends(key, span)

    @property
    def keys(self) -> tuple[str, ...]:  # noqa: D102  (as the protocol)
        return tuple(self.ranges)

    def rows(self) -> list[dict[str, str]]:  # noqa: D102
        try:
            from scipy.stats.qmc import LatinHypercube as Sampler
        except ImportError as error:
            raise ConfigError(
                "latin_hypercube: SciPy draws the sample, and it is not installed; install it, or astra-py[sample]"
            ) from error
        unit = Sampler(len(self.ranges), rng=self.seed).random(self.samples)
        columns = [
            [_text(key, span, float(share)) for share in unit[:, i]]
            for i, (key, span) in enumerate(self.ranges.items())
        ]
        return [dict(zip(self.ranges, texts, strict=True)) for texts in zip(*columns, strict=True)]


def _rule(key: str) -> Rule:
    rule = rule_at(key)
    if rule is None:
        from astra_py.config import parameter_table

        known = [parameter.key for parameter in parameter_table()]
        raise ConfigError(f"latin_hypercube: {key}: unknown key{did_you_mean(key, known)}")
    if not isinstance(rule, QuantityRule | Count | Number):
        raise ConfigError(f"latin_hypercube: {key} is no quantity or number; allowed: in grid or points")
    return rule


def _ends(key: str, span: Range) -> tuple[float, float]:
    """Both ends in base units.

    Raises
    ------
    ConfigError : they are none, or not in order.
    """
    rule, ends = _rule(key), []
    for name, given in (("from", span.low), ("to", span.high)):
        try:
            value = rule.read(given)
        except ValueError as error:
            raise ConfigError(f"latin_hypercube: {key}: {name}: {error}; allowed: {rule.allowed}") from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"latin_hypercube: {key}: {name} = {given!r} is a word; allowed: a quantity or number")
        ends.append(value)
    low, high = ends
    if span.scale not in SCALES:
        raise ConfigError(
            f"latin_hypercube: {key}: scale = {span.scale!r}{did_you_mean(str(span.scale), SCALES)}; allowed: "
            f"{' or '.join(map(repr, SCALES))}"
        )
    if not low < high:
        raise ConfigError(f"latin_hypercube: {key}: from {span.low!r} to {span.high!r}; allowed: from below to")
    if span.scale == "log" and low <= 0:
        raise ConfigError(f"latin_hypercube: {key}: from {span.low!r} on a log scale; allowed: above 0")
    return low, high


def _text(key: str, span: Range, share: float) -> str:
    """What lies ``share`` of the way from one end to the other, as a scenario file has it."""
    rule, (low, high) = _rule(key), _ends(key, span)
    if span.scale == "log":
        value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    else:
        value = low + share * (high - low)
    value = min(max(value, low), high)
    return value_text(rule.write(value if isinstance(rule, Number) else round(value)), f"latin_hypercube: {key}")
