# SPDX-License-Identifier: GPL-2.0-only
"""Platform builders by name: the values of ``platform.kind``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from astra_py.errors import TopologyError
from astra_py.plugins import Registry, calling

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["build_platform", "platform_kinds", "register_platform", "topology"]

Builder = Callable[["PlatformConfig"], "Platform"]
BuilderT = TypeVar("BuilderT", bound=Builder)

_builders: Registry[Builder] = Registry("astra_py.topologies", "topology")


def topology(name: str) -> Callable[[BuilderT], BuilderT]:
    """Register a function as the builder of ``platform.kind = name``.

    Parameters
    ----------
    name : what ``platform.kind`` in a scenario calls it.

    Returns
    -------
    A decorator for ``function(config)``, where ``config`` is the scenario's ``[platform]``
    (:class:`~astra_py.config.PlatformConfig`): its ``ranks``, the rates and delays of its links, and whatever else the
    shape has a use for. It returns a :class:`~astra_py.platforms.Platform`, most easily from a
    :class:`~astra_py.platforms.PlatformBuilder`.

    Raises
    ------
    ConfigError : a name that cannot be one, or is taken.

    Examples
    --------
    >>> from astra_py.platforms import PlatformBuilder
    >>> @topology("in_a_line")
    ... def in_a_line(config):
    ...     build = PlatformBuilder(config)
    ...     switches = [build.add_switch(f"switch{rank}") for rank in range(config.ranks)]
    ...     for rank, switch in enumerate(switches):
    ...         build.add_link(rank, switch, "host")
    ...         if rank:
    ...             build.add_link(switches[rank - 1], switch, "line")
    ...     return build.build()
    """

    def register(builder: BuilderT) -> BuilderT:
        _builders.add(name, builder)
        return builder

    return register


#: By its name in the package's own builders.
register_platform = topology


def platform_kinds() -> tuple[str, ...]:
    """Return the kinds that have a builder, those of plug-ins too, in order of registration.

    Raises
    ------
    ConfigError : a plug-in is broken.
    """
    return _builders.names()


def build_platform(config: PlatformConfig) -> Platform:
    """Build the platform that a scenario's ``[platform]`` describes.

    Raises
    ------
    ConfigError : no builder has this name; a plug-in or file is broken.
    PluginError : a builder of one's own raised an exception.
    TopologyError : what it built is no platform, or does not hold together.
    """
    from astra_py.platforms.platform import Platform

    builder = _builders.find(config.kind)
    with calling(f"topology {config.kind!r}", builder):
        platform = builder(config)
    if not isinstance(platform, Platform):
        raise TopologyError(f"topology {config.kind!r}: its builder returned {platform!r}, and a Platform is needed")
    return platform
