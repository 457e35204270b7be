# SPDX-License-Identifier: GPL-2.0-only
"""Workloads by name: the values of ``workload.kind``. The built-in ones and users' own go the same way."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from astra_py.errors import ConfigError, WorkloadError
from astra_py.plugins import Registry, calling
from astra_py.workloads.scaling import scaled, weakly_scaled
from astra_py.workloads.trace import Trace
from astra_py.workloads.trimming import repeated, trimmed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from astra_py.config import Scenario, WorkloadConfig

__all__ = ["Job", "JobTables", "build_job", "workload"]


#: What makes the columns of a table, by the table's name.
JobTables = Mapping[str, Callable[[], Mapping[str, "NDArray[Any]"]]]


@dataclass(frozen=True)
class Job:
    """What the ranks are to do.

    Attributes
    ----------
    trace : what every rank does.
    notes : what was taken from input files and what was not, a sentence each, for the report.
    warnings : those of them that one may not expect; ``--strict`` takes them for errors.
    tables : what makes further tables of results, such as a DLRM's sharding plan, by name.
    """

    trace: Trace
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tables: JobTables = field(default_factory=dict)


#: Kinds whose makers take workload.compute_scale and comm_scale into account, as where sizes decide who holds what.
_SCALE_THEMSELVES = ("file", "dlrm")

Maker = Callable[["Scenario", int], Trace | Job]
MakerT = TypeVar("MakerT", bound=Maker)

_makers: Registry[Maker] = Registry("astra_py.workloads", "workload")


def workload(name: str) -> Callable[[MakerT], MakerT]:
    """Register a function as the maker of ``workload.kind = name``.

    Parameters
    ----------
    name : what ``workload.kind`` in a scenario calls it.

    Returns
    -------
    A decorator for ``function(scenario, ranks)``, where ``scenario`` is the :class:`~astra_py.config.Scenario` and
    ``ranks`` how many the platform has. It returns a :class:`~astra_py.workloads.Trace`, most easily from a
    :class:`~astra_py.workloads.TraceBuilder`, or a :class:`Job`.

    Raises
    ------
    ConfigError : a name that cannot be one, or is taken, or a function that does not take two arguments.

    Examples
    --------
    >>> from astra_py.workloads import CollectiveCall, TraceBuilder
    >>> @workload("one_all_reduce")
    ... def one_all_reduce(scenario, ranks):
    ...     build = TraceBuilder(ranks)
    ...     build.collective(CollectiveCall("gradients", "all_reduce", tuple(range(ranks)), size_bytes=2**20))
    ...     return build.build()
    """

    def register(function: MakerT) -> MakerT:
        try:
            inspect.signature(function).bind(None, None)
        except TypeError:
            raise ConfigError(f"workload {name!r}: a function of (scenario, ranks) is needed") from None
        _makers.add(name, function)
        return function

    return register


def build_job(scenario: Scenario, ranks: int) -> Job:
    """Make the job of a scenario's ``[workload]`` for ``ranks`` ranks.

    Raises
    ------
    ConfigError : the scenario has no workload, its kind is not registered, a plug-in or file is broken.
    PluginError : a workload of one's own raised an exception.
    WorkloadError : a workload file is not understood, or what was made is no Trace of these ranks.
    """
    kind = scenario.require_workload().kind
    maker = _makers.find(kind)
    config = scenario.require_workload()
    made_for = config.weak_scaling_from or ranks
    with calling(f"workload {kind!r}", maker):
        made = maker(scenario, made_for)
    job = Job(made) if isinstance(made, Trace) else made
    if not isinstance(job, Job):
        raise WorkloadError(f"workload {kind!r} returned {job!r}, and a Trace is needed")
    if job.trace.ranks != made_for:
        raise WorkloadError(f"workload {kind!r}: its Trace has {job.trace.ranks} ranks, and the platform {made_for}")
    return _shaped(job, config, ranks)


def _shaped(job: Job, config: WorkloadConfig, ranks: int) -> Job:
    """The job of as many ranks, parts and repetitions as its keys say."""
    trace, notes = job.trace, list(job.notes)
    if trace.ranks != ranks:
        notes.append(f"weak scaling: made for {trace.ranks} ranks, and each of {ranks} does what one of them does")
        trace = weakly_scaled(trace, ranks)
    if config.kind not in _SCALE_THEMSELVES:
        trace = scaled(trace, compute=config.compute_scale, comm=config.comm_scale)
    if config.keep_iterations is not None or config.keep_phases is not None:
        trace, cut = trimmed(trace, iterations=config.keep_iterations, phases=config.keep_phases)
        notes += cut
    if config.repeat > 1:
        notes.append(f"all of it is done {config.repeat} times")
        trace = repeated(trace, config.repeat)
    return replace(job, trace=trace, notes=tuple(notes))
