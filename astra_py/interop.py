# SPDX-License-Identifier: GPL-2.0-only
"""A packet simulation beside ns-3's own Python bindings, in one process and on one ns-3.

The engine's nodes, NICs and switches are ordinary ns-3 objects. Between building and running they can be looked at and
changed through ``ns``, traces can be hung on them, and applications of ns-3 can be added, which run on the same clock:

>>> import astra_py as ap
>>> from astra_py import interop
>>> with interop.built(ap.load("workloads/astra2020_16.toml")) as simulation:  # doctest: +SKIP
...     ns = interop.import_ns()
...     print(ns.NodeList.GetNNodes(), simulation.node_ids[0])
...     result = simulation.run()

Trace sources hand over C++ values. Those with plain numbers can be traced from Python: ``FrameSent`` of a port's
device, by :meth:`BuiltSimulation.trace_frames`.

It needs the ``ns3`` wheel with its cppyy dependencies and a C++ compiler at run time; nothing else in the package does.
ns-3 counts picoseconds in such a process.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.api import Run
    from astra_py.engines.packet import PreparedPacketRun
    from astra_py.results.result import Result

__all__ = ["BuiltSimulation", "FrameTrace", "built", "import_ns"]

#: Called for a frame: its kind (0 data, 1 ACK, 2 NAK, 3 CNP, 4 PAUSE), source and destination rank, packet sequence
#: number (of a PAUSE its quanta), bytes of payload.
FrameTrace = Callable[[int, int, int, int, int], None]

#: Hangs a Python function, which cppyy makes a C++ one that takes Python's lock, on the trace source.
_CONNECT_FRAMES = """
namespace astra_interop
{
bool
ConnectFrames(ns3::Ptr<ns3::NetDevice> device, void (*function)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t))
{
    return device->TraceConnectWithoutContext("FrameSent", ns3::MakeCallback(function));
}
} // namespace astra_interop
"""


def import_ns() -> Any:
    """Import ns-3's Python bindings and return their ``ns``; takes over ten seconds the first time.

    The bindings collect libraries from the current folder and everything below it, so they are imported from an empty
    one. The engine is imported first: it has to set the resolution of ns-3's time before any time exists.

    Raises
    ------
    ConfigError : the bindings or what they need are not installed.
    """
    import astra_py._ns3_ext  # noqa: F401

    here = os.getcwd()
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        try:
            from ns import ns
        except ImportError as error:
            raise ConfigError(
                f"ns-3's Python bindings do not import ({error}); they need a C++ compiler and cppyy, which "
                "`pip install ns3` brings unless told --no-deps"
            ) from error
        finally:
            os.chdir(here)
    return ns


class BuiltSimulation:
    """A run whose nodes, devices and NICs exist in ns-3 and wait to be run.

    Attributes
    ----------
    node_ids : ids in ns-3's ``NodeList`` of the platform's nodes, in order of the platform; rank ``r`` of a built-in
        platform is node ``r``.
    """

    def __init__(self, run: Run, prepared: PreparedPacketRun) -> None:
        self._run = run
        self._prepared = prepared
        self.node_ids = prepared.node_ids
        self._functions: list[FrameTrace] = []  # ns-3 does not keep them alive
        self._failure: BaseException | None = None

    def trace_frames(self, device: Any, function: FrameTrace) -> None:
        """Have a Python function called for each frame that a port sends, when its first bit leaves.

        Parameters
        ----------
        device : of the bindings, an ``ns3::FabricDevice``: ``ns.NodeList.GetNode(i).GetDevice(j)``. Device ``j`` of a
            node is its ``j``-th port in the order of ``astra-py topology --json``.
        function : see :data:`FrameTrace`. ``ns.Simulator.Now()`` is the time. What it raises ends its calls, and
            :meth:`run` raises it at the end.

        Raises
        ------
        ConfigError : the device is none of a fabric's.
        """

        def guarded(kind: int, src: int, dst: int, psn: int, payload_bytes: int) -> None:
            if self._failure is None:
                try:
                    function(kind, src, dst, psn, payload_bytes)
                except BaseException as error:  # it cannot pass through ns-3
                    self._failure = error

        self._functions.append(guarded)
        if not _connect_frames()(device, guarded):
            raise ConfigError(
                f"{device.GetInstanceTypeId().GetName()} has no trace source FrameSent; allowed: ns3::FabricDevice"
            )

    def run(self) -> Result:
        """Run it, once; everything ns-3 has scheduled itself runs along.

        Raises
        ------
        ConfigError : it has run already.
        SimulationError : as :meth:`astra_py.api.Run.run`.
        """
        result = self._run.run_prepared(self._prepared)
        if self._failure is not None:
            raise self._failure
        return result


@cache
def _connect_frames() -> Callable[[Any, FrameTrace], bool]:
    """The C++ function that hangs a Python function on FrameSent."""
    cppyy = import_ns().cppyy
    cppyy.cppdef(_CONNECT_FRAMES)
    connect: Callable[[Any, FrameTrace], bool] = cppyy.gbl.astra_interop.ConnectFrames
    return connect


@contextmanager
def built(run: Run) -> Iterator[BuiltSimulation]:
    """Build a scenario's packet simulation in ns-3, and take it out again at the end.

    Parameters
    ----------
    run : of :func:`astra_py.load`, with ``engine = "packet"``.

    Raises
    ------
    ConfigError : the run has another engine, or ns-3 is in use.
    """
    prepared = run.prepare()
    try:
        yield BuiltSimulation(run, prepared)
    finally:
        prepared.close()
