# SPDX-License-Identifier: GPL-2.0-only
"""How figures spread over seeds: mean, percentiles, and a confidence interval of the mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from astra_py.batch.point import SEED
from astra_py.batch.table import SweepTable
from astra_py.errors import ConfigError

__all__ = ["CONFIDENCE", "spread_table", "student_t"]

#: Share of experiments whose interval holds the true mean; customary.
CONFIDENCE = 0.95
_PERCENTILES = (5, 50, 95)
#: Columns of the table of results that are no figures.
_NO_FIGURES = ("point", "status", "reason", "digest", "warnings")
#: Halvings after which a quantile is exact in 64-bit floats.
_HALVINGS = 200


def spread_table(results: SweepTable, keys: Sequence[str], confidence: float = CONFIDENCE) -> SweepTable | None:
    """The spread of each figure over the seeds of a point; None where no seeds are varied.

    One row a point without its seed and figure: the other keys, ``figure``, ``seeds`` (how many runs it is of; failed
    ones are left out), ``mean``, ``std`` (of the sample, with n - 1), ``min``, ``p5``, ``p50``, ``p95`` (between
    neighbours, linearly), ``max``, ``ci_low`` and ``ci_high``: Student's interval of the mean, which supposes that the
    figure is about normal over seeds. Of one run, deviation and interval are empty.

    Parameters
    ----------
    results : :func:`astra_py.batch.table.results_table`.
    keys : the keys that are varied.
    confidence : of the interval, between 0 and 1.

    Raises
    ------
    ConfigError : ``confidence`` is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence {confidence!r}: allowed: between 0 and 1")
    if SEED not in keys:
        return None
    # columns of keys come before the status, those of figures after it
    status = results.columns.index("status")
    others = [column for column in results.columns[1:status] if column != SEED]
    figures = [column for column in results.columns[status:] if column not in _NO_FIGURES]
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in results.rows:
        groups.setdefault(tuple(row[column] for column in others), []).append(row)
    rows: list[dict[str, Any]] = []
    for group, members in groups.items():
        # two points that are one run count once
        distinct = list({row["digest"]: row for row in members}.values())
        for figure in figures:
            values = [row[figure] for row in distinct if _is_number(row.get(figure))]
            if values:
                head = dict(zip(others, group, strict=True))
                rows.append({**head, "figure": figure, **_spread(np.array(values, dtype=np.float64), confidence)})
    names = ["seeds", "mean", "std", "min", *(f"p{each}" for each in _PERCENTILES), "max", "ci_low", "ci_high"]
    return SweepTable((*others, "figure", *names), tuple(rows))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _spread(values: np.ndarray[Any, np.dtype[np.float64]], confidence: float) -> dict[str, Any]:
    count, mean = len(values), math.fsum(values) / len(values)
    row: dict[str, Any] = {"seeds": count, "mean": mean, "min": float(values.min()), "max": float(values.max())}
    row |= {f"p{each}": float(np.percentile(values, each)) for each in _PERCENTILES}
    if count > 1:
        deviation = math.sqrt(math.fsum((values - mean) ** 2) / (count - 1))
        half = student_t((1 + confidence) / 2, count - 1) * deviation / math.sqrt(count)
        row |= {"std": deviation, "ci_low": mean - half, "ci_high": mean + half}
    return row


def student_t(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution.

    Parameters
    ----------
    probability : from 0.5 to below 1.
    freedom : degrees of freedom, at least 1.
    """
    low, high = 0.0, 1.0
    while _below(high, freedom) < probability:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _below(middle, freedom) < probability else (low, middle)
    return high


def _below(t: float, freedom: int) -> float:
    """The probability of a value below ``t``, t >= 0 (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    # of odd degrees cos, 2/3 cos^3, 2/3 4/5 cos^5, ...; of even ones 1, 1/2 cos^2, 1/2 3/4 cos^4, ...
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= k / (k + 1) * square
    inside = (angle + math.sin(angle) * total) * 2 / math.pi if odd else math.sin(angle) * total
    return 0.5 + inside / 2
