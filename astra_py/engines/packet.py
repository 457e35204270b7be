# SPDX-License-Identifier: GPL-2.0-only
"""The packet engine: every packet of every message in ns-3."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from astra_py.engines.native import engine_columns
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.engines.base import EngineColumns, EngineOptions, TransportModel
    from astra_py.platforms.platform import Platform

__all__ = ["PacketEngine", "PreparedPacketRun"]


#: Held by the plain run that has ns-3's one simulator. A thread's own second run, from its progress callback, is not
#: kept waiting for itself: it goes on and is refused by ns-3's owner.
_one_run = threading.RLock()


class PacketEngine:
    """Runs a schedule packet by packet: RoCE NICs, links and switches, with ns-3's clock and queue replaced by our own.

    Python is out of the loop while it runs, with the GIL released; Ctrl-C and the progress callback still work. ns-3
    has one simulator a process, so packet runs of one process follow one another: those of other threads wait for
    their turn. Processes run side by side.
    """

    name = "packet"

    def prepare(
        self,
        schedule: Schedule,
        platform: Platform,
        transport: TransportModel,
        options: EngineOptions,
    ) -> PreparedPacketRun:
        """Build everything in ns-3 without running it.

        Raises
        ------
        ConfigError : ns-3 refuses an attribute, another packet run of this process exists, or ns-3 already runs another
            simulator.
        """
        return PreparedPacketRun(schedule, platform, transport, options)

    def run(
        self,
        schedule: Schedule,
        platform: Platform,
        transport: TransportModel,
        options: EngineOptions,
    ) -> EngineColumns:
        """See :meth:`astra_py.engines.base.Engine.run`; waits while another thread runs."""
        with _one_run:
            prepared = self.prepare(schedule, platform, transport, options)
            try:
                return prepared.run()
            finally:
                prepared.close()


class PreparedPacketRun:
    """A schedule on a platform, built in ns-3 and ready to run once; it holds ns-3's one simulator until it goes.

    Attributes
    ----------
    node_ids : where the platform's nodes are in ns-3's ``NodeList``, in order of the platform.
    """

    def __init__(
        self,
        schedule: Schedule,
        platform: Platform,
        transport: TransportModel,
        options: EngineOptions,
    ) -> None:
        from astra_py._ns3_ext import PacketRun

        self._schedule = schedule
        self._platform = platform
        self._options = options
        self._native: PacketRun | None = PacketRun(platform.arrays(), schedule, transport, options)
        self.node_ids: list[int] = self._native.node_ids

    def run(self) -> EngineColumns:
        """Run to the end; what was built stays in ns-3 until :meth:`close`.

        Raises
        ------
        ConfigError : it has run already, or was closed.
        SimulationError : an invariant of the engine broke.
        KeyboardInterrupt : the user interrupted the run.
        """
        native = self._native
        if native is None:
            raise ConfigError("a packet simulation runs once; build another one")
        return engine_columns(native.run(self._options.progress), self._schedule, self._platform)

    def close(self) -> None:
        """Take everything out of ns-3 again; harmless when done twice."""
        if self._native is not None:
            self._native.close()
            self._native = None
