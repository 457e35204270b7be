# SPDX-License-Identifier: GPL-2.0-only
"""The analytic time of each collective on its own: all ranks join at once and nothing else is on the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import OuterKind, Schedule
from astra_py.engines.base import EngineOptions

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Template
    from astra_py.engines.base import Engine, TransportModel
    from astra_py.platforms.platform import Platform
    from astra_py.results.record import RunRecord

__all__ = ["AloneTimes", "schedule_of_one", "time_alone_ps"]


def schedule_of_one(
    template: Template, group: NDArray[np.int32], ranks: int, capacity: Mapping[str, int] | None = None
) -> Schedule:
    """One collective alone: each rank of ``group`` joins an instance of ``template`` at once and does nothing else.

    Parameters
    ----------
    template : the collective.
    group : i32[template.ranks], the ranks in group order.
    ranks : ranks of the platform.
    capacity : of each rank's pools, by the names in ``template.shared_pools``.
    """
    size = len(group)
    none, zeros = np.zeros(0, dtype=np.int64), np.zeros(size, dtype=np.int32)
    rows = np.zeros(size + 1, dtype=np.int64)
    one = np.zeros(1, dtype=np.int32)
    shared = len(template.shared_pools)
    units = np.array([(capacity or {})[name] for name in template.shared_pools], dtype=np.int32)
    return Schedule(
        ranks=ranks,
        templates=(template,),
        group_ptr=np.array([0, size], dtype=np.int64),
        group_rank=group.astype(np.int32),
        instance_template=one,
        instance_group=one,
        instance_priority=one.astype(np.uint8),
        instance_call=one,
        kind=np.full(size, OuterKind.COLLECTIVE, dtype=np.uint8),
        rank=group.astype(np.int32),
        duration_ps=np.zeros(size, dtype=np.int64),
        instance=zeros,
        member=np.arange(size, dtype=np.int32),
        priority=zeros.astype(np.uint8),
        dep_ptr=rows,
        dep_op=none.astype(np.int32),
        pool_owner=np.tile(np.arange(ranks, dtype=np.int32), shared),
        pool_capacity=np.repeat(units, ranks),
        pool_order=np.zeros(shared * ranks, dtype=np.uint8),
        use_ptr=rows,
        use_pool=none.astype(np.int32),
        name=zeros,
        names=(template.collective,),
        iteration=zeros,
        phase=zeros,
        phases=("",),
        shared_pools=template.shared_pools,
        shared_first=np.arange(0, shared * ranks, ranks, dtype=np.int32),
    )


class AloneTimes:
    """The analytic engine's time of collectives of a run, each shape and group worked out once."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._options = EngineOptions(seed=record.seed, endpoint_delay_ps=record.endpoint_delay_ps)

    def per_instance(self) -> NDArray[np.int64]:
        """Time of each instance of the schedule in ps; i64[instances]."""
        schedule = self._record.schedule
        key = np.stack([schedule.instance_template, schedule.instance_group], axis=1)
        distinct, of_instance = np.unique(key, axis=0, return_inverse=True)
        times = [self._time(int(template), int(group)) for template, group in distinct]
        return np.array(times, dtype=np.int64)[of_instance.ravel()]

    def _time(self, template: int, group: int) -> int:
        record = self._record
        schedule = record.schedule
        capacity = {
            name: int(schedule.pool_capacity[first])
            for name, first in zip(schedule.shared_pools, schedule.shared_first, strict=True)
        }
        return time_alone_ps(
            record.analytic,
            schedule.templates[template],
            schedule.group(group),
            record.platform,
            record.transport,
            self._options,
            capacity,
        )


def time_alone_ps(
    engine: Engine,
    template: Template,
    group: NDArray[np.int32],
    platform: Platform,
    transport: TransportModel,
    options: EngineOptions,
    capacity: Mapping[str, int] | None = None,
) -> int:
    """How long ``engine`` lets one collective take with nothing else on the network, in ps.

    ``capacity`` is that of each rank's pools, by the names in ``template.shared_pools``.
    """
    alone = schedule_of_one(template, group, platform.ranks, capacity)
    return int(engine.run(alone, platform, transport, options).op_end_ps.max())
