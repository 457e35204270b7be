# SPDX-License-Identifier: GPL-2.0-only
"""The analytic engine: whole messages as LogGP sees them, over the same schedule and the same links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.engines.astra_sim import is_astra_sim, require_astra_sim
from astra_py.engines.native import engine_columns
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.base import EngineColumns, EngineOptions, TransportModel
    from astra_py.platforms.platform import Platform

__all__ = ["AnalyticEngine"]


class AnalyticEngine:
    """Runs a schedule on LogGP (Alexandrov et al., SPAA 1995), or on ASTRA-sim's analytical models.

    LogGP: a port's messages go first in, first out, those with a busy receiver last. On link ``j`` of its way a message
    begins at ``b_j = max(b_(j-1) + latency_j, free_j)`` and holds the link for its line bytes over the link's rate; it
    is complete its line bytes over the slowest rate after it begins on the last link. A link is taken in the order in
    which first bytes come to it. Acknowledgements, windows, priorities and queues of packets do not exist here, and no
    frame is counted.

    ``options.analytic_mode`` has the other models; see :mod:`astra_py.engines.astra_sim`.
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
        clock_ps = 1
        if is_astra_sim(options.analytic_mode):
            require_astra_sim(platform, transport, options.analytic_mode)
            clock_ps = 1000
        raw = run_analytic(platform.arrays(), schedule, transport, options)
        return engine_columns({**raw, "clock_ps": clock_ps}, schedule, platform)
