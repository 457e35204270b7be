# SPDX-License-Identifier: GPL-2.0-only
"""The packet engine: every packet of every message in ns-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.engines.native import engine_columns

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.base import EngineColumns, EngineOptions, TransportModel
    from astra_py.platforms.platform import Platform

__all__ = ["PacketEngine"]


class PacketEngine:
    """Runs a schedule packet by packet: RoCE NICs, links and switches, with ns-3's clock and queue replaced by our own.

    Python is out of the loop while it runs, with the GIL released; Ctrl-C and the progress callback still work. ns-3
    has one simulator a process, so packet runs of one process follow one another.
    """

    name = "packet"

    def run(
        self,
        schedule: Schedule,
        platform: Platform,
        transport: TransportModel,
        options: EngineOptions,
    ) -> EngineColumns:
        """See :meth:`astra_py.engines.base.Engine.run`."""
        from astra_py._ns3_ext import PacketRun

        run = PacketRun(platform.arrays(), schedule, transport, options)
        return engine_columns(run.run(options.progress), schedule)
