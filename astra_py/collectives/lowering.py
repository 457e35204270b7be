# SPDX-License-Identifier: GPL-2.0-only
"""Lowers a Trace to a Schedule: chooses an algorithm for each collective and makes streams and limits into pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.admission import ADMISSION, admitted
from astra_py.collectives.flows import flow_template
from astra_py.collectives.protocols import CHANNELS, on_channels, with_protocol
from astra_py.collectives.registry import (
    DEFAULT_ALGORITHMS,
    Group,
    algorithm_names,
    build_template,
    in_order_of_appearance,
)
from astra_py.collectives.schedule import PoolOrder, RankPool, Schedule, Template
from astra_py.collectives.system import SystemModel
from astra_py.errors import AstraPyError, ConfigError
from astra_py.workloads.calls import CollectiveCall
from astra_py.workloads.flows import FlowList
from astra_py.workloads.trace import NodeKind, Trace

__all__ = ["at_endpoints", "lower", "pools_of"]


def lower(
    trace: Trace,
    algorithms: Mapping[str, str] | None = None,
    system: SystemModel | None = None,
    *,
    max_active_collectives: int | None = None,
    scheduling: PoolOrder = PoolOrder.FIFO,
    rank_machine: NDArray[np.int32] | None = None,
    rank_pools: Sequence[RankPool] = (),
) -> Schedule:
    """Return the Schedule of a Trace: operation ``i`` of the one is node ``i`` of the other.

    Parameters
    ----------
    trace : what every rank does.
    algorithms : algorithm by collective kind; kinds not named use ``DEFAULT_ALGORITHMS``, and a call's own choice goes
        first.
    system : the endpoint's figures; by default reductions take no time.
    max_active_collectives : how many collectives a rank takes part in at the same time, or None for no limit; flows
        are not among them.
    scheduling : in which order those that wait for that limit are let in; PRIORITY is that of the calls.
    rank_machine : i32[ranks], the machine that each rank is in; a machine each where None.
    rank_pools : the pools of each rank that algorithms of one's own take units of, by
        :meth:`~astra_py.collectives.ScheduleBuilder.shared_pool`; those of ``system`` come by themselves.

    Raises
    ------
    WorkloadError : no algorithm is known for a collective; the message has the file and line it comes from.
    ConfigError : an unknown algorithm, a limit below 1, or a pool of a name that is there already.
    """
    if max_active_collectives is not None and max_active_collectives < 1:
        raise ConfigError(
            f"system.max_active_collectives = {max_active_collectives}: allowed is a number above 0, or none"
        )
    for kind in algorithms or {}:
        algorithm_names(kind)
    system = system if system is not None else SystemModel()
    shared = [*pools_of(system), *rank_pools]
    templates = _Templates(
        {**DEFAULT_ALGORITHMS, **(algorithms or {})},
        system,
        np.arange(trace.ranks, dtype=np.int32) if rank_machine is None else rank_machine,
    )
    groups: dict[tuple[int, ...], int] = {}
    instance_template = [templates.of(call) for call in trace.calls]
    instance_group = [groups.setdefault(call.group, len(groups)) for call in trace.calls]
    priority = np.array([call.priority for call in trace.calls], dtype=np.uint8)
    pools = _Pools(trace, max_active_collectives, scheduling, shared)
    is_collective = trace.kind == NodeKind.COLLECTIVE
    return Schedule(
        ranks=trace.ranks,
        templates=tuple(templates.templates),
        group_ptr=np.cumsum([0, *map(len, groups)], dtype=np.int64),
        group_rank=np.array([rank for group in groups for rank in group], dtype=np.int32),
        instance_template=np.array(instance_template, dtype=np.int32),
        instance_group=np.array(instance_group, dtype=np.int32),
        instance_priority=priority,
        instance_call=np.arange(len(trace.calls), dtype=np.int32),
        kind=trace.kind,
        rank=trace.rank,
        duration_ps=trace.duration_ps,
        instance=trace.call,
        member=_members(trace),
        priority=np.where(is_collective, priority[trace.call], 0).astype(np.uint8) if len(priority) else trace.kind * 0,
        dep_ptr=trace.dep_ptr,
        dep_op=trace.dep_node.astype(np.int32),
        pool_owner=pools.owner,
        pool_capacity=pools.capacity,
        pool_order=pools.order,
        use_ptr=pools.use_ptr,
        use_pool=pools.use_pool,
        name=trace.name,
        names=trace.names,
        iteration=trace.iteration,
        phase=trace.phase,
        phases=trace.phases,
        shared_pools=tuple(pool.name for pool in shared),
        shared_first=pools.shared_first,
    )


def at_endpoints(template: Template, machine: NDArray[np.int32], system: SystemModel) -> Template:
    """Return what an algorithm built with all that the endpoints add to it.

    Parameters
    ----------
    template : of the algorithm alone.
    machine : i32[template.ranks], the machine of each member.
    system : the endpoints.
    """
    if system.protocol is not None:
        template = with_protocol(template, machine[template.src] != machine[template.dst], system)
    if system.channels is not None:
        template = on_channels(template)
    if system.admission is not None:
        template = admitted(template, machine[template.src] != machine[template.dst])
    return template


def pools_of(system: SystemModel) -> list[RankPool]:
    """Return the pools of each rank that :func:`at_endpoints` lets operations take units of."""
    limits = ((ADMISSION, system.admission), (CHANNELS, system.channels))
    return [RankPool(name, most) for name, most in limits if most is not None]


class _Templates:
    """Templates by what makes them equal, each built once."""

    def __init__(self, algorithms: Mapping[str, str], system: SystemModel, rank_machine: NDArray[np.int32]) -> None:
        self.algorithms = algorithms
        self.system = system
        self.rank_machine = rank_machine
        self.templates: list[Template] = []
        self._index: dict[tuple[object, ...], int] = {}

    def of(self, call: CollectiveCall) -> int:
        """Index of the call's template."""
        payload = call.payload
        if isinstance(payload, FlowList):
            return self._of_flows(len(call.group), payload)
        algorithm = call.algorithm or self.algorithms.get(call.kind)
        if not algorithm_names(call.kind):
            runnable = [kind for kind in DEFAULT_ALGORITHMS if algorithm_names(kind)]
            raise call.error(f"no algorithm is known for {call.kind}; there are some for {', '.join(runnable)}")
        if algorithm is None:
            raise call.error(
                f"no algorithm is chosen for {call.kind}; known are {', '.join(algorithm_names(call.kind))}"
            )
        shape = payload if isinstance(payload, int) else payload.tobytes()
        shared = (call.kind, algorithm, len(call.group), shape)
        is_by_level = self.system.protocol is not None or self.system.admission is not None
        machine = self.rank_machine[list(call.group)]
        by_machines = (*shared, in_order_of_appearance(machine).tobytes())
        by_ranks = (*shared, call.group)
        for key in (shared, by_machines, by_ranks):
            if key in self._index:
                return self._index[key]
        group = Group(call.group, machine)
        try:
            template = build_template(call.kind, algorithm, group, payload, self.system)
            self.templates.append(at_endpoints(template, machine, self.system))
        except AstraPyError as error:
            error.add_note(f"while building collective {call.name!r}{' of ' + call.source if call.source else ''}")
            raise
        key = by_ranks if group.is_ranks_used else by_machines if group.is_machines_used or is_by_level else shared
        self._index[key] = len(self.templates) - 1
        return self._index[key]

    def _of_flows(self, ranks: int, flows: FlowList) -> int:
        key = (ranks, flows.tobytes())
        if key not in self._index:
            self._index[key] = len(self.templates)
            self.templates.append(flow_template(ranks, flows, self.system))
        return self._index[key]


class _Pools:
    """A pool for each stream of each rank, one for its active collectives where they are limited, and the shared ones.

    ``shared_first`` is i32[shared], the pool of rank 0 of each name; those of the other ranks follow.
    """

    def __init__(
        self, trace: Trace, max_active_collectives: int | None, scheduling: PoolOrder, shared: Sequence[RankPool]
    ) -> None:
        stream_key = trace.rank.astype(np.int64) * max(len(trace.streams), 1) + trace.stream
        in_stream = trace.stream >= 0
        keys, stream_pool = np.unique(stream_key[in_stream], return_inverse=True)
        owners = [keys // max(len(trace.streams), 1)]
        capacities = [np.ones(len(keys), dtype=np.int64)]
        orders = [np.full(len(keys), PoolOrder.FIFO, dtype=np.int64)]
        used = np.full((len(trace), 2), -1, dtype=np.int64)
        used[in_stream, 0] = stream_pool
        if max_active_collectives is not None:
            # flows neither wait for the collectives of their rank nor hold them up
            is_collective = trace.is_collective
            used[is_collective, 1] = len(keys) + trace.rank[is_collective]
            owners.append(np.arange(trace.ranks))
            capacities.append(np.full(trace.ranks, max_active_collectives, dtype=np.int64))
            orders.append(np.full(trace.ranks, scheduling, dtype=np.int64))
        first = sum(map(len, owners))
        self.shared_first = np.arange(first, first + len(shared) * trace.ranks, trace.ranks, dtype=np.int32)
        for i, pool in enumerate(shared):
            if pool.name in (other.name for other in shared[:i]):
                raise ConfigError(f"each rank has two pools called {pool.name!r}; a name is allowed once")
            if pool.capacity < 1:
                raise ConfigError(f"pool {pool.name!r} of each rank: a capacity of {pool.capacity}; allowed: from 1")
            owners.append(np.arange(trace.ranks))
            capacities.append(np.full(trace.ranks, pool.capacity, dtype=np.int64))
            orders.append(np.full(trace.ranks, pool.order, dtype=np.int64))
        self.owner = np.concatenate(owners).astype(np.int32)
        self.capacity = np.concatenate(capacities).astype(np.int32)
        self.order = np.concatenate(orders).astype(np.uint8)
        self.use_ptr = np.concatenate([[0], np.cumsum((used >= 0).sum(axis=1))]).astype(np.int64)
        self.use_pool = used[used >= 0].astype(np.int32)


def _members(trace: Trace) -> NDArray[np.int32]:
    """Group coordinate of each participation, -1 for other nodes."""
    member = np.full(len(trace), -1, dtype=np.int32)
    nodes = np.flatnonzero(trace.call >= 0)
    nodes = nodes[np.argsort(trace.call[nodes], kind="stable")]
    bounds = np.searchsorted(trace.call[nodes], np.arange(len(trace.calls) + 1))
    coordinate = np.empty(trace.ranks, dtype=np.int32)
    for index, call in enumerate(trace.calls):
        coordinate[list(call.group)] = np.arange(len(call.group), dtype=np.int32)
        part = nodes[bounds[index] : bounds[index + 1]]
        member[part] = coordinate[trace.rank[part]]
    return member
