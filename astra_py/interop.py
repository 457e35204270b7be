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

It needs the ``ns3`` wheel with its cppyy dependencies and a C++ compiler at run time; nothing else in the package does.
ns-3 counts picoseconds in such a process.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.api import Run
    from astra_py.engines.packet import PreparedPacketRun
    from astra_py.results.result import Result

__all__ = ["BuiltSimulation", "built", "import_ns"]


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

    def run(self) -> Result:
        """Run it, once; everything ns-3 has scheduled itself runs along.

        Raises
        ------
        ConfigError : it has run already.
        SimulationError : as :meth:`astra_py.api.Run.run`.
        """
        return self._run.run_prepared(self._prepared)


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
