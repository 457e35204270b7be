# SPDX-License-Identifier: GPL-2.0-only
"""Engines, transports and algorithms side by side on one scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.analysis.cases import make_cases, unobserved, variants_of
from astra_py.analysis.comparison import Comparison
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.analysis.cases import Observe

__all__ = ["compare"]


def compare(
    source: str | Path | Mapping[str, Any],
    *overrides: str,
    engines: Sequence[str] = ("packet", "analytic"),
    transports: Sequence[str] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    variants: Mapping[str, Sequence[str]] | None = None,
    collective: str | None = None,
    sizes: Sequence[int] | None = None,
    group: tuple[int, ...] | None = None,
    reference: pd.DataFrame | None = None,
    tolerance: float | None = None,
    observe: Observe = unobserved,
) -> Comparison:
    """Run a scenario with several engines and variants, one after another.

    Parameters
    ----------
    source, overrides : the scenario, as :func:`astra_py.load` takes it.
    engines : names of engines; the first one, on the first variant, is what the others are compared with.
    transports : kinds of transport, such as ``["roce", "tcp"]``, each of them a variant; keys of the scenario, of
        ``overrides`` and of variants that are of another kind are put aside. Only the scenario's own where None.
    vary : values by key; every combination is a variant. Presets of transports and algorithms are varied so, too.
    variants : names to lists of ``"key.path=value"``, for changes that belong together.
    collective : a kind, to compare it alone in place of the scenario's workload.
    sizes : of that collective, in bytes; a barrier has none.
    group : the ranks that take part in it; all of them where None, and 0 and 1 in a sendrecv.
    reference : a log of that collective, to compare with: columns ``size_bytes`` and ``time_us``; where its attribute
        (``attrs``) ``collective`` says of which kind it is, it has to be that one.
    tolerance : largest difference allowed, as a share: 0.05 is 5 %. It raises nothing; see
        :attr:`Comparison.is_within_tolerance`.
    observe : called with what is run, to be told how far it is; see :data:`~astra_py.analysis.cases.Observe`.

    Returns
    -------
    Comparison : ``.table`` has all times, ``.why`` where those of the packet engine went.

    Raises
    ------
    ConfigError : a name, key or combination is not allowed; and what :meth:`astra_py.Run.run` raises.
    """
    if collective == "barrier" and sizes is None:
        sizes = [0]
    if collective == "sendrecv" and group is None:
        group = (0, 1)
    if group is not None and collective is None:
        raise ConfigError("group: a scenario's collectives have their own; allowed: with collective")
    if (collective is None) != (sizes is None):
        given, missing = ("collective", "sizes") if sizes is None else ("sizes", "collective")
        raise ConfigError(f"{given} is given without {missing}; allowed: both, or none of them")
    if tolerance is not None and not tolerance >= 0:
        raise ConfigError(f"tolerance = {tolerance!r}; allowed: a share, 0 or more")
    if reference is not None:
        if collective is None:
            raise ConfigError("reference: a log is of one collective; allowed: with collective and sizes")
        if missing_columns := [name for name in ("size_bytes", "time_us") if name not in reference.columns]:
            raise ConfigError(f"reference has no column {missing_columns[0]!r}; allowed: size_bytes and time_us")
        if reference["size_bytes"].duplicated().any():
            raise ConfigError("reference has a size twice; allowed: one row a size")
        # a log that names its program, as newer ones do, has no times of anything else
        logged = reference.attrs.get("collective")
        if logged and logged != collective:
            raise ConfigError(
                f"reference: it is a log of {logged}, not of {collective}; allowed: collective = {logged!r}"
            )
    if sizes is not None and not len(sizes):
        raise ConfigError("sizes: there is none; allowed: one or more")
    chosen = variants_of(vary, variants, transports)
    cases = make_cases(
        source, overrides, engines, chosen, collective, list(sizes or []), group, for_all_kinds=transports is not None
    )
    return Comparison(cases, reference, tolerance, observe)
