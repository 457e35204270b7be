# SPDX-License-Identifier: GPL-2.0-only
"""Two watched runs of a scenario, and from them the critical path of each collective, explained stretch by stretch.

The first run writes down operations only, from which the paths follow; the second one the frames of the messages on
these paths while they were under way. A run is the same to the bit when repeated, and watching changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from astra_py.analysis.critical_path import CriticalPath, critical_path
from astra_py.analysis.message_path import MessagePaths
from astra_py.analysis.stretches import MessageStep, Stretch, require_contiguous
from astra_py.collectives.schedule import EdgeOn
from astra_py.engines.watch import Watch
from astra_py.errors import ConfigError, SimulationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from astra_py.api import Run
    from astra_py.engines.base import Progress
    from astra_py.results.record import RunRecord

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """A run, and what the time of each of its collectives was spent on.

    Attributes
    ----------
    record : the run.
    platform_kind : ``platform.kind`` of its scenario.
    stretches : of each collective, in order of the schedule's instances: its path, in order of time and contiguous.
    """

    record: RunRecord
    platform_kind: str
    stretches: tuple[tuple[Stretch, ...], ...]


def explain(run: Run, *, max_records: int | None = None, progress: Progress | None = None) -> Explanation:
    """Run a scenario twice with the packet engine, and explain the time of each of its collectives.

    Parameters
    ----------
    run : the scenario; its engine has to be ``packet``.
    max_records : most frames to write down; that of :class:`~astra_py.engines.watch.Watch` where None.
    progress : as :meth:`astra_py.Run.run` takes it, for each of the two runs.

    Raises
    ------
    ConfigError : the engine is another one, or the paths have more frames than may be written down.
    SimulationError : the run did not come to its end, or a repeated run was another one.
    """
    if run.scenario.engine != "packet":
        raise ConfigError(f"engine = {run.scenario.engine!r} has no frames to follow; allowed: 'packet'")
    if run.scenario.transport.kind != "roce":
        raise ConfigError(
            f"transport.kind = {run.scenario.transport.kind!r} has no record of what held each segment at its host, "
            "and no path would be whole; allowed: 'roce', or a comparison of times alone (--no-why); the column "
            "bottleneck of collectives says what bounds them"
        )
    first = run.record(watch=Watch(), progress=progress)
    paths = [critical_path(first, instance) for instance in range(len(first.schedule.instance_template))]
    limit = Watch().max_records if max_records is None else max_records
    second = run.record(watch=_watch_of(first, paths, limit), progress=progress)
    if second.columns.log is None or second.columns.log.is_full:
        raise ConfigError(
            f"the critical paths of {run.title} have more than {limit:,} frames to look at, and what is left out could "
            "be what they waited for; allowed: fewer or smaller collectives, or a comparison of times alone (--no-why)"
        )
    _require_same(first, second)
    messages = MessagePaths(second)
    return Explanation(second, run.scenario.platform.kind, tuple(_explained(path, messages) for path in paths))


def _explained(path: CriticalPath, messages: MessagePaths) -> tuple[Stretch, ...]:
    stretches: list[Stretch] = []
    for step in path.steps:
        stretches += messages.explain(step) if isinstance(step, MessageStep) else [step]
    require_contiguous(stretches, path.start_ps, path.end_ps)
    return tuple(stretches)


def _watch_of(record: RunRecord, paths: Sequence[CriticalPath], limit: int) -> Watch:
    """What to write down: the messages on the paths, and their channels, each while its message is under way."""
    steps = [step for path in paths for step in path.messages]
    channels: list[int] = []
    from_ps: list[int] = []
    until_ps: list[int] = []
    for step in steps:
        mine = _channels_of(record, step)
        channels += mine
        from_ps += [step.start_ps] * len(mine)
        until_ps += [step.end_ps] * len(mine)
    return Watch(
        messages=np.array(sorted({step.message for step in steps}), dtype=np.int64),
        channel=np.array(channels, dtype=np.int32),
        from_ps=np.array(from_ps, dtype=np.int64),
        until_ps=np.array(until_ps, dtype=np.int64),
        max_records=limit,
    )


def _channels_of(record: RunRecord, step: MessageStep) -> list[int]:
    """Channels that frames of a message can be on, and those of its acknowledgements where its path has one."""
    traffic = record.traffic
    flows = np.unique(traffic.flow[traffic.of_whole(np.array([step.message]))])
    found: set[int] = set()
    for flow in flows.tolist():
        ways = [traffic.there[traffic.there_ptr[flow] : traffic.there_ptr[flow + 1]]]
        if step.moment == EdgeOn.ACKED:
            ways.append(traffic.back[traffic.back_ptr[flow] : traffic.back_ptr[flow + 1]])
        for way in ways:
            # where packets choose their ways singly, any channel of a group may be one of them
            found.update(np.flatnonzero(np.isin(record.channel_group, record.channel_group[way])).tolist())
    return sorted(found)


def _require_same(first: RunRecord, second: RunRecord) -> None:
    names = ("op_start_ps", "op_end_ps", "message_posted_ps", "message_delivered_ps", "message_acked_ps")
    for name in names:
        if not np.array_equal(getattr(first.columns, name), getattr(second.columns, name)):
            raise SimulationError(f"a repeated run was another one: {name} differs")
