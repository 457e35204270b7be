# SPDX-License-Identifier: GPL-2.0-only
"""Workloads by name: the values of ``workload.kind``. The built-in ones and users' own go the same way."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from astra_py.errors import ConfigError, WorkloadError
from astra_py.plugins import Registry, calling
from astra_py.workloads.trace import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from astra_py.config import Scenario

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
    with calling(f"workload {kind!r}", maker):
        made = maker(scenario, ranks)
    job = Job(made) if isinstance(made, Trace) else made
    if not isinstance(job, Job):
        raise WorkloadError(f"workload {kind!r} returned {job!r}, and a Trace is needed")
    if job.trace.ranks != ranks:
        raise WorkloadError(f"workload {kind!r}: its Trace has {job.trace.ranks} ranks, and the platform {ranks}")
    return job
