# SPDX-License-Identifier: GPL-2.0-only
"""The algorithm ``auto``: of all algorithms of a kind, the one that is fastest for this size, group and platform.

Each is built and timed alone by ``SystemModel.measure``, the analytic engine, in which messages share links and ports
first come, first served. What is chosen stands in the template's name, as ``"ring (auto)"``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from astra_py.collectives.registry import Group
    from astra_py.collectives.schedule import Template
    from astra_py.collectives.system import SystemModel

__all__ = ["AUTO", "fastest", "plain_name"]

AUTO = "auto"
_SUFFIX = f" ({AUTO})"


def plain_name(algorithm: str) -> str:
    """The name of an algorithm without the word that ``auto`` chose it."""
    return algorithm.removesuffix(_SUFFIX)


def fastest(
    kind: str, names: tuple[str, ...], group: Group, system: SystemModel, build: Callable[[str], Any]
) -> Template:
    """Return the template that takes the least time; of equal ones, the first of ``names``.

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
    best: Template | None = None
    least_ps = -1
    for name in names:
        try:
            template: Template = build(name)
        except ConfigError:
            continue
        time_ps = system.measure(template, group.ranks)
        if best is None or time_ps < least_ps:
            best, least_ps = template, time_ps
    if best is None:
        raise ConfigError(f"no {kind} algorithm takes this group of {group.size} ranks")
    return replace(best, algorithm=best.algorithm + _SUFFIX)
