# SPDX-License-Identifier: GPL-2.0-only
"""The analytic time of each collective on its own: all ranks join at once and nothing else is on the network."""

from __future__ import annotations

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


def schedule_of_one(template: Template, group: NDArray[np.int32], ranks: int) -> Schedule:
    """One collective alone: each rank of ``group`` joins an instance of ``template`` at once and does nothing else.

    Parameters
    ----------
    template : the collective.
    group : i32[template.ranks], the ranks in group order.
    ranks : ranks of the platform.
    """
    size = len(group)
    none, zeros = np.zeros(0, dtype=np.int64), np.zeros(size, dtype=np.int32)
    rows = np.zeros(size + 1, dtype=np.int64)
    one = np.zeros(1, dtype=np.int32)
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
        pool_owner=none.astype(np.int32),
        pool_capacity=none.astype(np.int32),
        pool_order=none.astype(np.uint8),
        use_ptr=rows,
        use_pool=none.astype(np.int32),
        name=zeros,
        names=(template.collective,),
        iteration=zeros,
        phase=zeros,
        phases=("",),
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
        return time_alone_ps(
            record.analytic,
            record.schedule.templates[template],
            record.schedule.group(group),
            record.platform,
            record.transport,
            self._options,
        )


def time_alone_ps(
    engine: Engine,
    template: Template,
    group: NDArray[np.int32],
    platform: Platform,
    transport: TransportModel,
    options: EngineOptions,
) -> int:
    """How long ``engine`` lets one collective take with nothing else on the network, in ps."""
    alone = schedule_of_one(template, group, platform.ranks)
    return int(engine.run(alone, platform, transport, options).op_end_ps.max())
