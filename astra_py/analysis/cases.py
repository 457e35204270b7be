# SPDX-License-Identifier: GPL-2.0-only
"""What is compared: a scenario's variants, each with several engines, as runs with a label each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.api import Run, one_collective
from astra_py.config import load_scenario
from astra_py.config.table import rule_of
from astra_py.config.transport import TransportConfig
from astra_py.engines.registry import ENGINES
from astra_py.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from astra_py.engines.base import Progress
    from astra_py.results.result import Result

__all__ = ["Case", "Observe", "Variant", "make_cases", "unobserved", "variants_of"]

#: Called with what is run; inside the context that it gives runs report to the function that this gives, or to none.
Observe = Callable[[str], AbstractContextManager["Progress | None"]]
#: A name and the changes that it stands for.
Variant = tuple[str, tuple[str, ...]]


_TRANSPORT = "transport.kind"


@contextmanager
def unobserved(title: str) -> Iterator[Progress | None]:
    """Nobody wants to know how far ``title`` is."""
    yield None


@dataclass(frozen=True, eq=False)
class Case:
    """One engine on one variant.

    Attributes
    ----------
    label : its column's name, such as ``"packet, transport.window=bdp"``.
    engine, variant : of what it is made; the variant's name is empty where there is one only.
    runs : its runs: one, or one a size of a single collective.
    """

    label: str
    engine: str
    variant: str
    runs: tuple[Run, ...]

    @property
    def is_followed(self) -> bool:
        """Whether its frames can be followed: those of packet runs over RoCE can."""
        return self.engine == "packet" and self.runs[0].scenario.transport.kind == "roce"

    def results(self, observe: Observe) -> list[Result]:
        """Run them, one after another."""
        results = []
        for run in self.runs:
            with observe(f"{self.label}: {run.title}") as progress:
                results.append(run.run(progress=progress))
        return results


def variants_of(
    vary: Mapping[str, Sequence[Any]] | None,
    variants: Mapping[str, Sequence[str]] | None,
    transports: Sequence[str] | None = None,
) -> list[Variant]:
    """The variants that are asked for: each combination of ``vary``'s values under each of ``variants`` and transports.

    Parameters
    ----------
    vary : values by key, such as ``{"transport.window": ["none", "bdp"]}``.
    variants : names to lists of ``"key.path=value"``, for changes that belong together.
    transports : kinds of transport, each of which is a variant of its name.

    Raises
    ------
    ConfigError : a key has no value, or one of ``transports`` is no kind of transport or does not stand alone.
    """
    kinds: list[Variant] = [(kind, (f"{_TRANSPORT}={kind}",)) for kind in transports or ()] or [("", ())]
    if transports is not None:
        _check_transports(transports, [*(vary or {}), *chain.from_iterable((variants or {}).values())])
    named: list[Variant] = [(name, tuple(changes)) for name, changes in (variants or {"": ()}).items()]
    keys = [[f"{key}={_text(value)}" for value in values] for key, values in (vary or {}).items()]
    if empty := [key for key, values in (vary or {}).items() if not len(values)]:
        raise ConfigError(f"vary: {empty[0]} has no value; allowed: one or more")
    return [
        (", ".join(filter(None, (kind, name, *changes))), (*chosen, *first, *changes))
        for kind, chosen in kinds
        for name, first in named
        for changes in product(*keys)
    ]


def _check_transports(transports: Sequence[str], changes: Sequence[str]) -> None:
    if not transports:
        raise ConfigError("transports: there is none; allowed: one or more")
    for kind in transports:
        try:
            rule_of(TransportConfig.model_fields["kind"]).read(kind)
        except ValueError as error:
            raise ConfigError(f"transports: {error}") from None
    for change in changes:
        if change.partition("=")[0].strip() == _TRANSPORT:
            raise ConfigError(f"{change}: it is transports that are compared; allowed: their kinds as transports")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def make_cases(
    source: str | Path | Mapping[str, Any],
    overrides: Sequence[str],
    engines: Sequence[str],
    variants: Sequence[Variant],
    collective: str | None,
    sizes: Sequence[int],
    group: tuple[int, ...] | None,
    *,
    for_all_kinds: bool = False,
) -> list[Case]:
    """Make every engine's case of every variant, variant by variant; nothing is run.

    Changes may be for other kinds of transport than their variant's ``for_all_kinds``, and then are put aside in it.

    Raises
    ------
    ConfigError : an engine is unknown or named twice, two variants have one name, or a scenario is not allowed.
    """
    for engine in engines:
        if engine not in ENGINES:
            raise ConfigError(
                f"engines: unknown engine {engine!r}; allowed: {', '.join(ENGINES)}{did_you_mean(engine, ENGINES)}"
            )
    for change in (*overrides, *(change for _, changes in variants for change in changes)):
        if change.partition("=")[0].strip() == "engine":
            raise ConfigError(f"{change}: it is engines that are compared; allowed: their names as engines")
    labels = [", ".join(filter(None, (engine, name))) for name, _ in variants for engine in engines]
    if not labels:
        raise ConfigError("engines: there is none; allowed: one or more")
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise ConfigError(f"{twice[0]!r} is compared with itself: engines and variants have to differ")
    cases: list[Case] = []
    for name, changes in variants:
        for engine in engines:
            given = (*overrides, *changes, f"engine={engine}")
            scenario = load_scenario(source, given, for_all_kinds=for_all_kinds)
            if collective is None:
                scenario.require_work()
                runs: tuple[Run, ...] = (Run(scenario),)
            else:
                runs = tuple(one_collective(scenario, collective, size, group) for size in sizes)
            cases.append(Case(labels[len(cases)], engine, name, runs))
    return cases
