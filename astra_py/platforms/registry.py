# SPDX-License-Identifier: GPL-2.0-only
"""Platform builders by name: the values of ``platform.kind``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from astra_py.errors import TopologyError, did_you_mean

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["build_platform", "platform_kinds", "register_platform"]

Builder = Callable[["PlatformConfig"], "Platform"]

_builders: dict[str, Builder] = {}


def register_platform(kind: str) -> Callable[[Builder], Builder]:
    """Return a decorator that makes a function the builder of ``platform.kind = kind``.

    Raises
    ------
    TopologyError
        the kind has a builder already.
    """

    def register(builder: Builder) -> Builder:
        if kind in _builders:
            raise TopologyError(f"platform.kind = {kind!r} is registered already, by {_builders[kind].__module__}")
        _builders[kind] = builder
        return builder

    return register


def platform_kinds() -> tuple[str, ...]:
    """Return the kinds that have a builder, in order of registration."""
    return tuple(_builders)


def build_platform(config: PlatformConfig) -> Platform:
    """Build the platform that a scenario's ``[platform]`` describes.

    Raises
    ------
    TopologyError
        no builder has this name, or what it built does not hold together.
    """
    builder = _builders.get(config.kind)
    if builder is None:
        hint = did_you_mean(config.kind, _builders)
        allowed = ", ".join(_builders)
        raise TopologyError(f"platform.kind: {config.kind!r} has no builder{hint}; allowed: {allowed}")
    return builder(config)
