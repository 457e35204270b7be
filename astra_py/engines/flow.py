# SPDX-License-Identifier: GPL-2.0-only
"""The flow engine: messages as flows that share links max-min fairly, over the same schedule and the same routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.engines.native import engine_columns
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.base import EngineColumns, EngineOptions, TransportModel
    from astra_py.platforms.platform import Platform

__all__ = ["FlowEngine"]


class FlowEngine:
    """Runs a schedule on flows with max-min fair rates (Bertsekas and Gallager, Data Networks, section 6.5.2).

    A message flows once it is posted and the one before it in its queue pair has left. At each instant at which flows
    begin or end, rates are shared out anew: raised alike until a link of a flow's way is full, higher priorities first.
    A message is delivered after its last byte left: by the delays and latencies of its way and the time that a packet
    takes on each link but the slowest, so that alone it takes the time of its packets. Acknowledgements, windows,
    congestion control, buffers and losses do not exist here, and no frame is counted.
    """

    name = "flow"

    def run(
        self,
        schedule: Schedule,
        platform: Platform,
        transport: TransportModel,
        options: EngineOptions,
    ) -> EngineColumns:
        """See :meth:`astra_py.engines.base.Engine.run`."""
        from astra_py._ns3_ext import run_flow

        if options.ns3_defaults:
            names = ", ".join(sorted(options.ns3_defaults))
            raise ConfigError(f"ns3.defaults: the flow engine has no ns-3 to set {names} in; use engine=packet")
        return engine_columns(run_flow(platform.arrays(), schedule, transport, options), schedule, platform)
