# SPDX-License-Identifier: GPL-2.0-only
"""The algorithm ``auto``: of all algorithms of a kind, the one that is fastest for this size, group and platform.

Each is built and timed alone by ``SystemModel.measure``, the analytic engine, in which messages share links and ports
first come, first served. On a wire what several senders have for one receiver shares its link, and ranks that are ahead
hold up those that are behind. So of algorithms that are nearly as fast as the fastest, the one of the fewest senders to
a rank is taken. What is chosen stands in the template's name, as ``"ring (auto)"``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from astra_py.collectives.registry import Group
    from astra_py.collectives.schedule import Template
    from astra_py.collectives.system import SystemModel

__all__ = ["AUTO", "fastest", "plain_name"]

AUTO = "auto"
#: Times up to a sixteenth above the least are nearly as fast. Source: assumed; it holds on the grid of
#: tests/engines/test_algorithm_choice.py, where packets and messages differ by about as much.
_NEARLY = 16
_SUFFIX = f" ({AUTO})"


def plain_name(algorithm: str) -> str:
    """The name of an algorithm without the word that ``auto`` chose it."""
    return algorithm.removesuffix(_SUFFIX)


def fastest(
    kind: str, names: tuple[str, ...], group: Group, system: SystemModel, build: Callable[[str], Any]
) -> Template:
    """Return the template that takes the least time, or nearly so with fewer senders to a rank.

    Of equal ones it is the first of ``names``.

    Parameters
    ----------
    names : the algorithms to try; those that do not take this group are left out.
    build : from a name to its template.

    Raises
    ------
    ConfigError : there is nothing to measure times with, or no algorithm takes this group.
    """
    if system.measure is None:
        raise ConfigError(f"{kind} algorithm 'auto' goes by times on a platform, and SystemModel.measure gives none")
    timed: list[tuple[int, Template]] = []
    for name in names:
        try:
            template: Template = build(name)
        except ConfigError:
            continue
        timed.append((system.measure(template, group.ranks), template))
    if not timed:
        raise ConfigError(f"no {kind} algorithm takes this group of {group.size} ranks")
    least_ps = min(time_ps for time_ps, _ in timed)
    near = [each for each in timed if (each[0] - least_ps) * _NEARLY <= least_ps]
    _, best = min(near, key=lambda each: (_most_senders(each[1]), each[0]))
    return replace(best, algorithm=best.algorithm + _SUFFIX)


def _most_senders(template: Template) -> int:
    """How many others send to the rank to which the most do."""
    is_send = template.is_send
    pairs = np.unique(template.dst[is_send].astype(np.int64) * template.ranks + template.src[is_send])
    return int(np.bincount(pairs // template.ranks).max(initial=0))
