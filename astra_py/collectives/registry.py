# SPDX-License-Identifier: GPL-2.0-only
"""Collective algorithms by name. The built-in ones and users' own go the same way: a decorated function."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.auto import AUTO, fastest
from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.partition import chunk_payloads, equal_matrix
from astra_py.collectives.schedule import Template
from astra_py.collectives.system import SystemModel
from astra_py.errors import ConfigError, did_you_mean
from astra_py.plugins import Registry, calling, file_of
from astra_py.workloads.calls import COLLECTIVE_KINDS

__all__ = [
    "DEFAULT_ALGORITHMS",
    "MATRIX_KINDS",
    "WHOLE_KINDS",
    "Group",
    "algorithm_names",
    "build_template",
    "collective",
    "find_algorithm",
    "in_order_of_appearance",
    "require_algorithm",
]

#: Kinds whose algorithms get a byte matrix; the others get a size.
MATRIX_KINDS = ("all_to_all", "all_to_all_v")

#: What a kind uses where nothing is chosen.
DEFAULT_ALGORITHMS = {
    "all_reduce": "ring",
    "reduce_scatter": "ring",
    "all_gather": "ring",
    "all_to_all": "direct",
    "all_to_all_v": "direct",
    "broadcast": "tree",
    "reduce": "tree",
    "gather": "direct",
    "scatter": "direct",
    "barrier": "dissemination",
    "sendrecv": "direct",
}

#: Kinds that are never cut into chunks.
WHOLE_KINDS = ("sendrecv", "barrier")

Algorithm = Callable[[ScheduleBuilder, "Group", Any], None]
AlgorithmT = TypeVar("AlgorithmT", bound=Algorithm)

_algorithms: dict[str, Registry[Algorithm]] = {
    kind: Registry("astra_py.collectives", f"{kind} algorithm", is_replaceable=True) for kind in COLLECTIVE_KINDS
}
#: Algorithms whose chunks all begin at once.
_at_once: set[Algorithm] = set()


class Group:
    """The ranks that take part in a collective, as an algorithm sees them.

    Attributes
    ----------
    size : number of members; an algorithm works in group coordinates 0 to size - 1.

    Parameters
    ----------
    ranks : the job's ranks in group order.
    machine : i32[size], the machine of each member, by any number; a machine each where None.
    """

    def __init__(self, ranks: tuple[int, ...], machine: NDArray[np.int32] | None = None) -> None:
        self.size = len(ranks)
        self.is_ranks_used = False
        self.is_machines_used = False
        self._ranks = ranks
        self._machines = np.arange(self.size, dtype=np.int32) if machine is None else in_order_of_appearance(machine)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The job's ranks in group order. An algorithm that looks at them is built anew for each group, else shared."""
        self.is_ranks_used = True
        return self._ranks

    @property
    def machines(self) -> NDArray[np.int32]:
        """i32[size], the machine of each member, numbered from 0 in order of first appearance.

        An algorithm that looks at them is built once for all groups of this shape.
        """
        self.is_machines_used = True
        return self._machines


def in_order_of_appearance(machine: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the machines of a group's members, numbered from 0 in order of first appearance."""
    _, first, number = np.unique(machine, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int32)[number.ravel()]


def collective(kind: str, *, name: str, do_chunks_wait: bool = True) -> Callable[[AlgorithmT], AlgorithmT]:
    """Register a function as an algorithm of a collective.

    Parameters
    ----------
    kind : the collective, one of :data:`~astra_py.workloads.COLLECTIVE_KINDS`.
    name : what ``collective.<kind>`` in a scenario calls it; registering a name again replaces it, but for a plug-in.
    do_chunks_wait : whether chunks follow one another as :class:`ScheduleBuilder` says, or all begin at once.

    Returns
    -------
    A decorator for ``function(build, group, size_bytes)``, where ``build`` is a :class:`ScheduleBuilder`, ``group`` a
    :class:`Group` and ``size_bytes`` the buffer of each rank (the whole array for all_gather and reduce_scatter). For
    all_to_all and all_to_all_v the third argument is the byte matrix, i64[n, n] with row = sender, whose diagonal stays
    where it is. Of a collective in chunks it is called for each chunk, with the chunk's size or matrix. It is not
    called for a group of one rank, which has nothing to do.

    Raises
    ------
    ConfigError : an unknown kind, or a function that does not take three arguments.

    Examples
    --------
    >>> @collective("sendrecv", name="in_two_halves")
    ... def in_two_halves(build, group, size_bytes):
    ...     build.send(0, 1, [size_bytes // 2, size_bytes - size_bytes // 2])
    """
    if kind not in _algorithms:
        raise ConfigError(_unknown("collective", kind, COLLECTIVE_KINDS))
    if name == AUTO:
        raise ConfigError(f"{kind} algorithm {name!r}: that name chooses among all others; allowed: any other one")

    def register(function: AlgorithmT) -> AlgorithmT:
        try:
            inspect.signature(function).bind(None, None, None)
        except TypeError:
            third = "matrix" if kind in MATRIX_KINDS else "size_bytes"
            raise ConfigError(f"{kind} algorithm {name!r}: a function of (build, group, {third}) is needed") from None
        _algorithms[kind].add(name, function)
        if not do_chunks_wait:
            _at_once.add(function)
        return function

    return register


def algorithm_names(kind: str) -> tuple[str, ...]:
    """Return the registered algorithms of ``kind``, in order of registration; empty where there is none.

    Raises
    ------
    ConfigError : an unknown kind, or a broken plug-in.
    """
    if kind not in _algorithms:
        raise ConfigError(_unknown("collective", kind, _runnable_kinds()))
    return _algorithms[kind].names()


def require_runnable(kind: str) -> None:
    """Refuse a collective that nothing could run.

    Raises
    ------
    ConfigError : an unknown kind, or one without a registered algorithm.
    """
    if not algorithm_names(kind):
        raise ConfigError(f"{kind}: no algorithm of it is registered; those with one: {', '.join(_runnable_kinds())}")


def _runnable_kinds() -> tuple[str, ...]:
    return tuple(kind for kind, algorithms in _algorithms.items() if algorithms.names())


def find_algorithm(kind: str, name: str) -> Algorithm:
    """Return the function registered as ``name`` for ``kind``.

    ``file:PATH.py`` and ``file:PATH.py:NAME`` are what a file of one's own registers, ``file:PATH.xml`` is an algorithm
    of MSCCL (:mod:`astra_py.collectives.msccl`).

    Raises
    ------
    ConfigError : no such kind or name; the message has the nearest one and all that are allowed. Or a file or plug-in
        is broken.
    """
    if kind not in _algorithms:
        raise ConfigError(_unknown("collective", kind, _runnable_kinds()))
    path = file_of(name)
    if path is not None and path.suffix == ".xml":
        from astra_py.collectives.msccl import msccl_algorithm

        return msccl_algorithm(kind, path)
    # Plug-ins are loaded when a name is not known, so not while the package registers what it finds here itself.
    if path is None and name not in _algorithms[kind]:
        require_runnable(kind)
        if name not in (allowed := algorithm_names(kind)):
            raise ConfigError(_unknown(f"{kind} algorithm", name, (*allowed, AUTO)))
    return _algorithms[kind].find(name)


def is_of_script(kind: str, name: str) -> bool:
    """Whether a script registered the algorithm ``name`` of ``kind``, so that no other process knows it."""
    return _algorithms[kind].is_of_script(name)


def require_algorithm(kind: str, name: str) -> None:
    """Refuse what is neither a registered algorithm of ``kind`` nor ``"auto"``.

    Raises
    ------
    ConfigError : as :func:`find_algorithm`.
    """
    if name == AUTO:
        require_runnable(kind)
    else:
        find_algorithm(kind, name)


def build_template(
    kind: str,
    name: str,
    group: Group | int,
    payload: int | NDArray[np.int64],
    system: SystemModel | None = None,
) -> Template:
    """Run one algorithm, chunk after chunk.

    Parameters
    ----------
    kind, name : collective and algorithm; ``"auto"`` takes the fastest one, see :mod:`astra_py.collectives.auto`.
    group : the members, or how many there are.
    payload : the size in bytes; a byte matrix for all_to_all_v, and allowed for all_to_all.
    system : the endpoint's figures and the number of chunks; a sendrecv and a barrier are never cut. By default there
        is one chunk, and reductions take no time.

    Raises
    ------
    ConfigError : unknown names, or what the algorithm builds is not allowed.
    PluginError : an algorithm of one's own raised an exception.
    """
    if isinstance(group, int):
        group = Group(tuple(range(group)))
    if name == AUTO:
        among, known = group, system if system is not None else SystemModel()
        return fastest(
            kind, algorithm_names(kind), group, known, lambda each: build_template(kind, each, among, payload, known)
        )
    function = find_algorithm(kind, name)
    build = ScheduleBuilder(kind, name, group.size, system)
    if group.size > 1:
        chunks = 1 if kind in WHOLE_KINDS else build.system.chunks
        for chunk, part in enumerate(chunk_payloads(_as_argument(kind, group.size, payload), chunks, group.size)):
            if chunk:
                build.begin_chunk(is_waiting=function not in _at_once)
            with calling(f"{kind} algorithm {name!r}, a group of {group.size} ranks", function):
                function(build, group, part)
    return replace(build.build(), payload=payload)


def _as_argument(kind: str, ranks: int, payload: int | NDArray[np.int64]) -> int | NDArray[np.int64]:
    """The third argument of an algorithm of ``kind``."""
    if isinstance(payload, np.ndarray) and payload.ndim:
        if kind not in MATRIX_KINDS or payload.shape != (ranks, ranks):
            allowed = f"a byte matrix of shape ({ranks}, {ranks})" if kind in MATRIX_KINDS else "a size"
            raise ConfigError(f"{kind} of {ranks} ranks takes {allowed}, not an array of shape {payload.shape}")
        if int(payload.min()) < 0:
            raise ConfigError(f"{kind}: the byte matrix has a negative entry, {int(payload.min())}")
        return payload
    if kind == "all_to_all_v":
        raise ConfigError(f"{kind} of {ranks} ranks takes a byte matrix of shape ({ranks}, {ranks}), not {payload}")
    try:
        size_bytes = operator.index(payload)
    except TypeError:
        raise ConfigError(f"{kind}: a size is a whole number of bytes, not {payload!r}") from None
    if size_bytes < 0:
        raise ConfigError(f"{kind}: a size is 0 bytes or more, not {size_bytes}")
    return equal_matrix(size_bytes, ranks) if kind in MATRIX_KINDS else size_bytes


def _unknown(what: str, name: str, allowed: tuple[str, ...]) -> str:
    return f"unknown {what} {name!r}; allowed: {', '.join(allowed)}{did_you_mean(name, allowed)}"
