# SPDX-License-Identifier: GPL-2.0-only
"""Engines by name; each is imported when first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from astra_py.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from astra_py.engines.base import Engine

__all__ = ["ENGINES", "make_engine"]

#: Name in scenarios to (module, class).
ENGINES = {
    "packet": ("astra_py.engines.packet", "PacketEngine"),
    "flow": ("astra_py.engines.flow", "FlowEngine"),
    "analytic": ("astra_py.engines.analytic", "AnalyticEngine"),
}


def make_engine(name: str) -> Engine:
    """The engine that scenarios call ``name``.

    Raises
    ------
    ConfigError : there is none; the message has the nearest and all that there are.
    """
    if name not in ENGINES:
        raise ConfigError(f"engine: unknown engine {name!r}{did_you_mean(name, ENGINES)} Allowed: {', '.join(ENGINES)}")
    module, cls = ENGINES[name]
    engine: Engine = getattr(import_module(module), cls)()
    return engine
