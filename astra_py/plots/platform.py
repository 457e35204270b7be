# SPDX-License-Identifier: GPL-2.0-only
"""The platform of a result: the one that is kept with it, or made again from the scenario in its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.errors import AstraPyError, ConfigError

if TYPE_CHECKING:
    from astra_py.platforms import Platform
    from astra_py.results.result import Result

__all__ = ["platform_of"]


def platform_of(result: Result) -> Platform:
    """The platform that a run was on.

    Raises
    ------
    ConfigError : none is kept with the result, and it cannot be made again, as its file or the function that
        registered it is gone, or has changed.
    """
    from astra_py.config import load_scenario
    from astra_py.platforms import build_platform

    manifest = result.manifest
    try:
        platform = result.kept_platform or build_platform(
            load_scenario({"platform": manifest["scenario"]["platform"]}).platform
        )
    except AstraPyError as error:
        raise ConfigError(f"the platform of the run cannot be made again from its manifest: {error}") from error
    links = platform.graph.number_of_edges()
    if (platform.ranks, 2 * links) != (manifest["platform"]["ranks"], len(result.columns("links")["channel"])):
        raise ConfigError(
            f"the platform of the run, {manifest['platform']['name']}, is now another one: it has {platform.ranks} "
            f"ranks and {links} links; allowed: the file or function that the run had"
        )
    return platform
