# SPDX-License-Identifier: GPL-2.0-only
"""The analytic engine: whole messages as LogGP sees them, over the same schedule and the same links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.engines.native import engine_columns
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.base import EngineColumns, EngineOptions, TransportModel
    from astra_py.platforms.platform import Platform

__all__ = ["AnalyticEngine"]


class AnalyticEngine:
    """Runs a schedule on LogGP (Alexandrov et al., SPAA 1995): messages in order of readiness, one pass over each way.

    A port's messages go first in, first out. On link ``j`` of its way a message begins at
    ``b_j = max(b_(j-1) + latency_j, free_j)`` and holds the link for its line bytes over the link's rate; it is
    complete its line bytes over the slowest rate after it begins on the last link. Acknowledgements, windows and queues
    of packets do not exist here, and no frame is counted.
    """

    name = "analytic"

    def run(
        self,
        schedule: Schedule,
        platform: Platform,
        transport: TransportModel,
        options: EngineOptions,
    ) -> EngineColumns:
        """See :meth:`astra_py.engines.base.Engine.run`."""
        from astra_py._ns3_ext import run_analytic

        if options.ns3_defaults:
            names = ", ".join(sorted(options.ns3_defaults))
            raise ConfigError(f"ns3.defaults: the analytic engine has no ns-3 to set {names} in; use engine=packet")
        return engine_columns(run_analytic(platform.arrays(), schedule, transport, options), schedule, platform)
