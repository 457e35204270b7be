# SPDX-License-Identifier: GPL-2.0-only
"""Figures of a scenario fitted to measured times of a collective; sizes that were fitted and that were not stay apart.

Least squares of relative errors, so that a small message counts as much as a large one; by
:func:`scipy.optimize.least_squares`. What the fit is worth is the error at the sizes it has not seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.analysis.sensitivity import figures_of, rules_of
from astra_py.config import Scenario, load_scenario
from astra_py.config.rules import Number, QuantityRule
from astra_py.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Calibration", "calibrate"]

#: Where a time begins that the scenario has as 0, in ps: a microsecond, what a step of a collective library costs.
_FIRST_TIME_PS = 10**6
#: Relative steps of the numerical derivative: large against whole picoseconds and bits, small against what matters.
_STEP = 1e-3
_FEWEST_FITTED = 1


@dataclass(frozen=True)
class Calibration:
    """A fit and what it is worth.

    Attributes
    ----------
    fitted : the keys that were fitted and their values, as a scenario file holds them.
    before : their values before.
    points : one row a size: size_bytes, measured_us, before_us, simulated_us, error_percent, is_fitted.
    at_limit : the fitted keys whose values are as far as they may go: the measurements ask for more.
    """

    fitted: Mapping[str, Any]
    before: Mapping[str, Any]
    points: pd.DataFrame
    at_limit: tuple[str, ...] = ()

    @property
    def overrides(self) -> tuple[str, ...]:
        """The fitted figures as ``key=value``, as the command line takes them."""
        return tuple(f"{key}={value}" for key, value in self.fitted.items())

    def error_percent(self, *, is_fitted: bool) -> float:
        """Root mean square of the relative errors at the sizes that were fitted, or held out; NaN without any."""
        errors = self.points.loc[self.points["is_fitted"] == is_fitted, "error_percent"].to_numpy()
        return float(np.sqrt(np.mean(errors**2))) if len(errors) else float("nan")


def calibrate(
    source: str | Path | Mapping[str, Any] | Scenario,
    measurements: pd.DataFrame,
    kind: str,
    *overrides: str,
    keys: Sequence[str] = (),
    held_out: Sequence[int] | None = None,
) -> Calibration:
    """Fit figures of a scenario to measured times of a collective of all its ranks.

    Parameters
    ----------
    source, overrides : the scenario, as :func:`astra_py.load` takes it; its engine is the one that is fitted.
    measurements : columns size_bytes and time_us, such as the nccl-tests reader returns. Rows without bytes
        are left out.
    kind : the collective.
    keys : the figures to fit: rates, times, sizes, shares. Without any, the efficiency of scale-up links where all
        ranks are in one machine, else the rate of links, and ``system.endpoint_delay``.
    held_out : sizes in bytes that the fit does not see; every second one where None.

    Raises
    ------
    ConfigError : the scenario is not allowed, a key is no figure of it, is there twice or moves none of the fitted
        times, a measurement is no size or time, or there are fewer sizes than figures.
    """
    least_squares = _least_squares()
    scenario = source if isinstance(source, Scenario) else load_scenario(source, overrides)
    sizes, measured_ps = _measured(measurements)
    is_fitted = _fitted(sizes, held_out)
    keys = tuple(keys) or _usual_keys(scenario)
    rules = _rules(scenario, keys)
    if is_fitted.sum() < max(len(keys), _FEWEST_FITTED):
        raise ConfigError(
            f"{int(is_fitted.sum())} sizes to fit {len(keys)} figures to ({', '.join(keys)}); allowed: at least as many"
        )
    start = np.array([_start(rules[key]) for key in keys])
    bounds = np.array([_bounds(rules[key], first) for key, first in zip(keys, start, strict=True)])

    def texts(scale: NDArray[np.float64]) -> tuple[Any, ...]:
        return tuple(_text(rules[key], first * by) for key, first, by in zip(keys, start, scale, strict=True))

    @cache
    def times_ps(values: tuple[Any, ...]) -> NDArray[np.float64]:
        changed = [f"{key}={value}" for key, value in zip(keys, values, strict=True)]
        return _times_ps(load_scenario(scenario.resolved(), changed), kind, sizes)

    def errors(scale: NDArray[np.float64]) -> NDArray[np.float64]:
        relative: NDArray[np.float64] = times_ps(texts(scale))[is_fitted] / measured_ps[is_fitted] - 1
        return relative

    first = np.clip(1.0, *bounds.T)
    for i, key in enumerate(keys):
        halved = np.where(np.arange(len(keys)) == i, np.maximum(first / 2, bounds[:, 0]), first)
        if np.array_equal(errors(halved), errors(first)):
            raise ConfigError(f"{key} moves none of the {is_fitted.sum()} fitted times; allowed: figures that do")
    found = least_squares(errors, first, bounds=tuple(bounds.T), diff_step=_STEP, x_scale="jac", max_nfev=50)
    best = texts(found.x)
    simulated_ps, before_ps = times_ps(best), _times_ps(scenario, kind, sizes)
    return Calibration(
        fitted=dict(zip(keys, best, strict=True)),
        before={key: rules[key][0].write(rules[key][1]) for key in keys},
        points=_points(sizes, measured_ps, before_ps, simulated_ps, is_fitted),
        at_limit=tuple(key for key, limit in zip(keys, found.active_mask, strict=True) if limit),
    )


def _least_squares() -> Any:
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise ConfigError("a fit needs scipy; install it, or astra-py[fit]") from None
    return least_squares


def _points(
    sizes: NDArray[np.int64],
    measured_ps: NDArray[np.float64],
    before_ps: NDArray[np.float64],
    simulated_ps: NDArray[np.float64],
    is_fitted: NDArray[np.bool_],
) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "size_bytes": sizes,
            "measured_us": measured_ps / 1e6,
            "before_us": before_ps / 1e6,
            "simulated_us": simulated_ps / 1e6,
            "error_percent": 100 * (simulated_ps / measured_ps - 1),
            "is_fitted": is_fitted,
        }
    )


def _measured(measurements: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sizes in bytes, ascending, and the mean of the times of each in ps."""
    for column in ("size_bytes", "time_us"):
        if column not in measurements:
            raise ConfigError(f"measurements have no column {column}; they have {', '.join(measurements.columns)}")
    for column in ("size_bytes", "time_us"):
        for value in measurements[column]:
            if not 0 <= value < math.inf:
                raise ConfigError(f"measurements have {value} as {column}; allowed: finite numbers, at least 0")
    rows = measurements[(measurements["size_bytes"] > 0) & (measurements["time_us"] > 0)]
    if rows.empty:
        raise ConfigError("measurements have no row with bytes and a time")
    means = rows.groupby("size_bytes")["time_us"].mean()
    return means.index.to_numpy(dtype=np.int64), means.to_numpy(dtype=np.float64) * 1e6


def _fitted(sizes: NDArray[np.int64], held_out: Sequence[int] | None) -> NDArray[np.bool_]:
    if held_out is None:
        every_second: NDArray[np.bool_] = np.arange(len(sizes)) % 2 == 0
        return every_second
    if unknown := sorted(set(held_out) - set(sizes.tolist())):
        raise ConfigError(f"{unknown[0]} B is to be held out and was not measured; there are {sizes.tolist()}")
    is_fitted: NDArray[np.bool_] = ~np.isin(sizes, np.array(held_out, dtype=np.int64))
    return is_fitted


def _usual_keys(scenario: Scenario) -> tuple[str, ...]:
    from astra_py.platforms import build_platform

    arrays = build_platform(scenario.platform).arrays()
    has_one_machine = len(np.unique(arrays.rank_machine)) == 1 and bool((arrays.link_efficiency > 0).any())
    return ("platform.scale_up.efficiency" if has_one_machine else "platform.link_rate", "system.endpoint_delay")


def _rules(scenario: Scenario, keys: Sequence[str]) -> dict[str, tuple[QuantityRule | Number, Any]]:
    """Rule and value of each figure to fit."""
    known = rules_of(scenario)
    rules: dict[str, tuple[QuantityRule | Number, Any]] = {}
    for key in keys:
        if key in rules:
            raise ConfigError(f"{key} is to be fitted twice; allowed: each figure once")
        rule, value = known.get(key, (None, None))
        is_word = isinstance(value, bool) or not isinstance(value, int | float)
        if not isinstance(rule, QuantityRule | Number) or is_word:
            near = did_you_mean(key, figures_of(scenario))
            raise ConfigError(f"{key!r} is no figure of this scenario that can be fitted{near}; give it a number first")
        rules[key] = (rule, value)
    return rules


def _start(known: tuple[QuantityRule | Number, Any]) -> float:
    rule, value = known
    if value:
        return float(value)
    if isinstance(rule, QuantityRule) and rule.quantity.name == "time":
        return float(_FIRST_TIME_PS)
    raise ConfigError(f"a {rule.type_name} of 0 is no start of a fit; give it a number first")


def _bounds(known: tuple[QuantityRule | Number, Any], first: float) -> tuple[float, float]:
    """Allowed factors on the first value: a thousandth to a thousand times, within what the rule allows."""
    rule, _ = known
    least, most = (float(rule.least), float(rule.most))
    low = 0.0 if isinstance(rule, QuantityRule) and rule.quantity.name == "time" and least == 0 else 1e-3
    return max(low, least / first), min(1e3, most / first)


def _text(known: tuple[QuantityRule | Number, Any], value: float) -> Any:
    rule, _ = known
    return rule.write(round(value)) if isinstance(rule, QuantityRule) else float(f"{value:.9g}")


def _times_ps(scenario: Scenario, kind: str, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    from astra_py.api import one_collective

    return np.array(
        [one_collective(scenario, kind, size).run().columns("collectives")["time_ps"][0] for size in sizes.tolist()],
        dtype=np.float64,
    )
