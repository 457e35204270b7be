# SPDX-License-Identifier: GPL-2.0-only
"""What moves a result and what does not: each figure of a scenario halved and doubled, one at a time.

Run again with one figure changed and all else as it was: no model of the model. A figure that changes nothing is a
finding, too: it is not what limits, or it does not reach what one believes it reaches.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.config import Scenario, load_scenario
from astra_py.config.by_rate import SizeByRate, SizeByRateRule
from astra_py.config.rules import Count, Number, QuantityRule, Rule, WordRule
from astra_py.config.table import Table, declaration, rule_of
from astra_py.errors import AstraPyError, ConfigError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Effect", "figures_of", "rules_of", "sensitivity", "to_pandas"]

#: Tables that a single collective takes the place of.
_WORKLOADS = ("workload.", "jobs.", "background.")
#: Tables whose figures do not belong to what is simulated.
_NOT_SIMULATED = ("limits", "pcap", "ns3")

_HALF, _DOUBLE = (1, 2), (2, 1)


@dataclass(frozen=True)
class Change:
    """One figure at another value, and what became of the run.

    ``value`` is as a scenario file holds it; ``time_ps`` is the run's time, or None where the value is ``refused``, and
    why. ``change`` is relative to the run as it was.
    """

    value: Any
    time_ps: int | None
    change: float | None
    refused: str = ""


@dataclass(frozen=True)
class Effect:
    """What halving and doubling one figure does.

    Attributes
    ----------
    key, value : the figure, as a scenario file holds it.
    time_ps : time of the run as it was.
    halved, doubled : the run with another value.
    """

    key: str
    value: Any
    time_ps: int
    halved: Change
    doubled: Change

    @property
    def largest(self) -> float:
        """The larger of both relative changes, without its sign; 0 where neither value is allowed."""
        return max((abs(each.change) for each in (self.halved, self.doubled) if each.change is not None), default=0.0)

    @property
    def is_refused(self) -> bool:
        """Whether neither value is allowed."""
        return self.halved.change is None and self.doubled.change is None

    @property
    def has_no_effect(self) -> bool:
        """Whether at least one other value was run and none moved the result by a picosecond."""
        return not self.is_refused and all(each.time_ps in (None, self.time_ps) for each in (self.halved, self.doubled))


def figures_of(scenario: Scenario) -> dict[str, Any]:
    """Every rate, time, size, share and factor of a scenario that is a number now and not 0, by key.

    Words such as ``"auto"`` stand for rules and are left out, and so is what means nothing with the scenario's choices.
    """
    return {
        key: rule.write(value)
        for key, (rule, value) in rules_of(scenario).items()
        if isinstance(rule, QuantityRule | SizeByRateRule | Number) and _is_number(value, rule)
    }


def rules_of(scenario: Scenario) -> dict[str, tuple[Rule, Any]]:
    """Rule and value of every parameter that means something with the scenario's choices, by key."""
    return {key: (rule, value) for key, rule, value in _fields(scenario, "")}


def _fields(table: Table, path: str) -> Iterator[tuple[str, Rule, Any]]:
    conditions = table.conditions()
    for name, info in type(table).model_fields.items():
        if name in _NOT_SIMULATED or (name in conditions and not table.is_met(conditions[name])):
            continue
        value = getattr(table, name)
        if isinstance(value, Table):
            yield from _fields(value, f"{path}{name}.")
        elif declaration(info) is not None:
            yield f"{path}{name}", rule_of(info), value
        elif isinstance(value, Mapping):
            # tables by the user's own names: jobs, background
            for own, each in value.items():
                yield from _fields(each, f"{path}{name}.{own}.")


def _is_number(value: Any, rule: Rule) -> bool:
    if isinstance(rule, WordRule) and any(value is meaning or value == meaning for meaning in rule.words.values()):
        return False
    if isinstance(value, SizeByRate):
        return bool(value.size_bytes or value.entries)
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0


def _scaled(rule: Rule, value: Any, factor: tuple[int, int]) -> Any:
    """``value`` times ``factor``, as a scenario file holds it; whole units are rounded up."""
    over, under = factor

    def whole(number: int) -> int:
        return -(-number * over // under)

    if isinstance(value, SizeByRate):
        entries = tuple((rate, whole(size)) for rate, size in value.entries)
        return rule.write(SizeByRate(whole(value.size_bytes), value.per_bps, entries))
    return rule.write(whole(value) if isinstance(value, int) else value * over / under)


def sensitivity(
    source: str | Path | Mapping[str, Any] | Scenario,
    *overrides: str,
    keys: Sequence[str] = (),
    collective: tuple[str, int] | None = None,
    told: Callable[[Effect], None] | None = None,
) -> list[Effect]:
    """Halve and double each figure of a scenario.

    Parameters
    ----------
    source, overrides : the scenario, as :func:`astra_py.load` takes it.
    keys : the keys to vary, ``*`` for anything: numbers of things (``collective.chunks``), too, where they are named.
        Without any, all of :func:`figures_of`.
    collective : (kind, size in bytes) of a collective to time in place of the scenario's workload; a sendrecv is one of
        ranks 0 and 1.
    told : called with each effect when it is there.

    Returns
    -------
    The effects, that of the largest change first.

    Raises
    ------
    ConfigError : the scenario is not allowed, or a key fits no figure of it.
    SimulationError : the run as it is does not come to its end. A changed one that does not is in its effect.
    """
    scenario = source if isinstance(source, Scenario) else load_scenario(source, overrides)
    base_ps = _time_ps(scenario, collective)
    effects = []
    for key, rule, value in _chosen(scenario, keys, collective):
        halved, doubled = (
            _changed(scenario, key, _scaled(rule, value, factor), collective, base_ps) for factor in (_HALF, _DOUBLE)
        )
        effect = Effect(key, rule.write(value), base_ps, halved, doubled)
        effects.append(effect)
        if told is not None:
            told(effect)
    return sorted(effects, key=lambda effect: (effect.is_refused, -effect.largest))


def _chosen(
    scenario: Scenario, patterns: Sequence[str], collective: tuple[str, int] | None
) -> list[tuple[str, Rule, Any]]:
    all_numbers = {
        key: (rule, value)
        for key, (rule, value) in rules_of(scenario).items()
        if isinstance(rule, QuantityRule | SizeByRateRule | Number | Count)
        and _is_number(value, rule)
        and not (collective and key.startswith(_WORKLOADS))
    }
    all_numbers.pop("seed", None)
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(key, pattern) for key in all_numbers):
            raise ConfigError(
                f"{pattern!r} fits no figure of this scenario{did_you_mean(pattern, all_numbers)}; it has "
                f"{', '.join(all_numbers)}"
            )
    plain = figures_of(scenario)
    return [
        (key, rule, value)
        for key, (rule, value) in all_numbers.items()
        if (any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns) if patterns else key in plain)
    ]


def _changed(scenario: Scenario, key: str, value: Any, collective: tuple[str, int] | None, base_ps: int) -> Change:
    try:
        time_ps = _time_ps(load_scenario(scenario.resolved(), [f"{key}={value}"]), collective)
    except AstraPyError as error:
        return Change(value, None, None, str(error))
    return Change(value, time_ps, (time_ps - base_ps) / base_ps if base_ps else 0.0)


def _time_ps(scenario: Scenario, collective: tuple[str, int] | None) -> int:
    """Time of the whole run."""
    from astra_py.api import Run, one_collective

    group = (0, 1) if collective is not None and collective[0] == "sendrecv" else None
    run = Run(scenario) if collective is None else one_collective(scenario, *collective, group)
    return int(run.run().manifest["run"]["time_ps"])


def to_pandas(effects: Sequence[Effect]) -> pd.DataFrame:
    """One row a figure: key, value, time_us, and of each other value the value, time_us, change_percent, refused."""
    import pandas as pd

    rows = []
    for effect in effects:
        row: dict[str, Any] = {"key": effect.key, "value": effect.value, "time_us": effect.time_ps / 1e6}
        for word, each in (("halved", effect.halved), ("doubled", effect.doubled)):
            row |= {
                f"{word}_value": each.value,
                f"{word}_time_us": None if each.time_ps is None else each.time_ps / 1e6,
                f"{word}_change_percent": None if each.change is None else 100 * each.change,
                f"{word}_refused": each.refused,
            }
        rows.append({**row, "has_no_effect": effect.has_no_effect})
    return pd.DataFrame(rows)
