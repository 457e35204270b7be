# SPDX-License-Identifier: GPL-2.0-only
"""From a scenario to a result, step by step: scenario, platform, trace, schedule, engine, result."""

from __future__ import annotations

import os
import platform as machine
import resource
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import astra_py
from astra_py.collectives.registry import require_runnable
from astra_py.config import load_scenario
from astra_py.engines.packet import PacketEngine
from astra_py.engines.registry import make_engine
from astra_py.engines.resolve import engine_options, switch_model
from astra_py.engines.routes import route_paths
from astra_py.engines.stopped import measured_before
from astra_py.errors import AstraPyError, ConfigError
from astra_py.preparation import Preparation
from astra_py.results.build import build_result, partial_result
from astra_py.results.checks import require_completed, require_passed, run_checks
from astra_py.results.estimate import Estimate, estimate_run
from astra_py.results.record import RunRecord

if TYPE_CHECKING:
    from astra_py.config import Scenario
    from astra_py.engines.base import EngineColumns, EngineOptions, Progress
    from astra_py.engines.hook import RoutingHook
    from astra_py.engines.network import NetworkInterface
    from astra_py.engines.packet import PreparedPacketRun
    from astra_py.engines.watch import Watch
    from astra_py.results.result import Result

__all__ = ["FAULTS", "Run", "load", "one_collective", "versions_here"]

#: What ``ASTRA_PY_FAULT`` may ask an engine to do wrong, so that tests see the checks find it.
FAULTS = ("drop_message", "double_message", "swap_sizes")


def load(source: str | Path | Mapping[str, Any], *overrides: str, routing_hook: RoutingHook | None = None) -> Run:
    """Read a scenario, ready to run.

    Parameters
    ----------
    source : path of a TOML file, or the same tree as a mapping.
    overrides : ``"key.path=value"``, each over what was there before.
    routing_hook : chooses ways in place of the function of ``platform.routing_hook``, with ``platform.routing`` =
        ``"hook"``: see :data:`~astra_py.engines.hook.RoutingHook`.

    Raises
    ------
    ConfigError : a key or value is not allowed, or the scenario has nothing to do; says where and what is allowed.
    """
    started = time.process_time()
    scenario = load_scenario(source, overrides)
    scenario.require_work()
    return Run(scenario, started=started, routing_hook=routing_hook)


def one_collective(
    scenario: Scenario,
    kind: str,
    size_bytes: int,
    group: tuple[int, ...] | None = None,
    *,
    started: float | None = None,
    routing_hook: RoutingHook | None = None,
) -> Run:
    """One collective alone in place of a training job; all ranks join at once.

    Parameters
    ----------
    scenario : platform, transport and algorithms; its workload, jobs and background, if it has any, are not run.
    kind : the collective.
    size_bytes : each rank's buffer; the whole array for all_gather and reduce_scatter. For all_to_all_v, of
        equal parts.
    group : the ranks that take part; all of them where None.
    started : CPU time of the process when its set-up began; now where None.
    routing_hook : as :func:`load` takes it.

    Raises
    ------
    ConfigError : no algorithm of ``kind`` is registered, the size or a rank of ``group`` is no whole number, or a rank
        is not on the platform.
    """
    require_runnable(kind)
    size_bytes = _whole(size_bytes, f"{kind}: size_bytes")
    if group is not None:
        group = tuple(_whole(rank, f"{kind}: a rank of the group") for rank in group)
    return Run(scenario, alone=(kind, size_bytes, group), started=started, routing_hook=routing_hook)


def _whole(value: Any, what: str) -> int:
    """``value`` as a Python integer, if it is an integer of Python or numpy."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ConfigError(f"{what} is {value!r}; allowed: a whole number")
    return int(value)


class Run(Preparation):
    """A scenario and what is made from it on the way to a result; each step is done when first asked for, and once.

    Parameters
    ----------
    scenario, alone, routing_hook : as :class:`~astra_py.preparation.Preparation` takes them.
    started : CPU time of the process when the run's set-up began; now where None.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        alone: tuple[str, int, tuple[int, ...] | None] | None = None,
        started: float | None = None,
        routing_hook: RoutingHook | None = None,
    ) -> None:
        super().__init__(scenario, alone=alone, routing_hook=routing_hook)
        self._started = time.process_time() if started is None else started

    def _repr_html_(self) -> str:
        return self.scenario._repr_html_()

    def estimate(self) -> Estimate:
        """Count what the run would do, and what that is likely to cost, without running it.

        Raises
        ------
        AstraPyError : whatever would stop the run before its first event.
        """
        with _noted(f"while checking {self.title}"):
            self.require_sound()
            return estimate_run(
                self.schedule,
                self.routed_platform,
                self.transport,
                self.scenario.seed,
                route_paths,
                self.scenario.engine,
            )

    def alone(self, job: str) -> Run:
        """The same run with one of its jobs only, on the same ranks and from the same start.

        Raises
        ------
        ConfigError : there is no such job.
        """
        return Run(self.scenario.job_alone(job), routing_hook=self._routing_hook)

    def network(self) -> NetworkInterface:
        """The scenario's network for a script to drive; see :class:`~astra_py.engines.network.NetworkInterface`.

        Raises
        ------
        ConfigError, TopologyError : as there.
        """
        from astra_py.engines.network import NetworkInterface

        return NetworkInterface(self.scenario)

    def run(self, *, progress: Progress | None = None) -> Result:
        """Run the scenario. Packet runs of one process follow one another: one in another thread waits for its turn.

        Parameters
        ----------
        progress : called about ten times a second with (simulated time in ps, events, finished operations, operations).

        Raises
        ------
        ConfigError, WorkloadError, TopologyError : the run cannot be set up.
        SimulationError : it did not come to its end (DeadlockError, limits), did something else than was declared
            (CheckError), or there was nothing to do (reason ``no_work``).
        KeyboardInterrupt : the user interrupted it.
            Of these, and of what ``progress`` raises, ``partial`` is a result of what had happened by then.
        """
        with _noted(f"while simulating {self.title}"):
            return self._run(progress)

    def record(self, *, watch: Watch | None = None, progress: Progress | None = None) -> RunRecord:
        """Run the scenario and give what its result is made of, for :mod:`astra_py.analysis`; raises as :meth:`run`.

        Parameters
        ----------
        watch : what the engine is to write down beside.
        progress : as :meth:`run` takes it.
        """
        with _noted(f"while simulating {self.title}"):
            record = self._measure(progress, watch=watch)[0]
            require_completed(record)
            require_passed(run_checks(record))
            return record

    def prepare(self) -> PreparedPacketRun:
        """Build the packet simulation in ns-3 without running it; see :mod:`astra_py.interop`.

        Raises
        ------
        ConfigError : the scenario's engine is not ``packet``, or ns-3 is in use.
        """
        if self.scenario.engine != "packet":
            raise ConfigError(f"engine = {self.scenario.engine!r} builds nothing in ns-3; allowed: 'packet'")
        self.require_sound()
        options = engine_options(self.scenario, platform=self.platform, fault=_fault())
        return PacketEngine().prepare(self.schedule, self.routed_platform, self.transport, options)

    def run_prepared(self, prepared: PreparedPacketRun) -> Result:
        """Run what :meth:`prepare` returned; raises as :meth:`run`."""
        with _noted(f"while simulating {self.title}"):
            return self._run(None, prepared)

    def _run(self, progress: Progress | None, prepared: PreparedPacketRun | None = None) -> Result:
        record, cost = self._measure(progress, prepared)
        return build_result(record, {**self._manifest(), "run": cost})

    def _measure(
        self, progress: Progress | None, prepared: PreparedPacketRun | None = None, watch: Watch | None = None
    ) -> tuple[RunRecord, dict[str, float]]:
        """Run, and give what was measured and what that cost."""
        scenario = self.scenario
        engine = make_engine(scenario.engine)
        options = engine_options(scenario, platform=self.platform, progress=progress, fault=_fault())
        if watch is not None:
            # it repeats a run, whose capture is there already
            options = replace(options, watch=watch, capture=None)
        self.require_sound()
        before = time.process_time()
        try:
            if prepared is None:
                columns = engine.run(self.schedule, self.routed_platform, self.transport, options)
            else:
                columns = prepared.run()
        except BaseException as error:
            if (so_far := measured_before(error)) is not None:
                self._keep(error, so_far, options, before)
            raise
        try:
            return self._record(columns, options), self._cost(before)
        except KeyboardInterrupt as error:
            self._keep(error, columns, options, before)
            raise

    def _keep(self, error: BaseException, columns: EngineColumns, options: EngineOptions, before: float) -> None:
        """Give ``error``, which stopped the run, what was measured until then as its partial result."""
        manifest = {**self._manifest(), "run": self._cost(before)}
        error.partial = partial_result(self._record(columns, options), manifest, error)  # type: ignore[attr-defined]

    def _record(self, columns: EngineColumns, options: EngineOptions) -> RunRecord:
        """What was run, and what was measured of it."""
        return RunRecord(
            trace=self.trace,
            schedule=self.schedule,
            platform=self.routed_platform,
            transport=self.transport,
            switch=switch_model(self.scenario),
            declared_bytes=self.declared_bytes,
            seed=options.seed,
            endpoint_delay_ps=options.endpoint_delay_ps,
            compute_slowdown=options.compute_slowdown,
            max_active_collectives=self.scenario.system.max_active_collectives,
            engine=self.scenario.engine,
            columns=columns,
            route_paths=route_paths,
            analytic=make_engine("analytic"),
            job_tables=self._job.tables,
            max_rows=self.scenario.results.max_rows,
        )

    def _cost(self, before: float) -> dict[str, float]:
        """What the run has cost: CPU time of its set-up, which ended at ``before``, and since; most memory."""
        return {
            "setup_cpu_s": before - self._started,
            "simulation_cpu_s": time.process_time() - before,
            "peak_rss_bytes": _peak_rss_bytes(),
        }

    def _manifest(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "digest": self.digest,
            "scenario": self.scenario.resolved(),
            "notes": list(self.notes),
            "versions": dict(versions_here()),
        }


@cache
def versions_here() -> Mapping[str, str]:
    """Versions of the package, of Python, and of what results depend on."""
    packages = ("ns3", "numpy", "pandas", "networkx", "pydantic")
    return {
        "astra_py": astra_py.__version__,
        "python": machine.python_version(),
        **{package: version(package) for package in packages},
    }


def _peak_rss_bytes() -> int:
    """Most memory that this process has had.

    ``getrusage`` has the memory of the process that started this one in it, however little this one needs.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _fault() -> str:
    fault = os.environ.get("ASTRA_PY_FAULT", "")
    if fault and fault not in FAULTS:
        raise ConfigError(f"ASTRA_PY_FAULT = {fault!r}; allowed: {', '.join(FAULTS)}, or nothing")
    return fault


@contextmanager
def _noted(note: str) -> Iterator[None]:
    """Add to an error of ours what was being done."""
    try:
        yield
    except AstraPyError as error:
        error.add_note(note)
        raise
