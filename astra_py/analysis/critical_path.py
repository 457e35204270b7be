# SPDX-License-Identifier: GPL-2.0-only
"""The critical path of a collective: back from its last moment through what every step waited for.

The path is walked over what the executor knows: messages, local work, pools, who joined when. What a message was held
up by on its way is :mod:`astra_py.analysis.message_path`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.analysis.stretches import MessageStep, Part, Stretch
from astra_py.collectives.schedule import FIRST_SHARED_POOL, EdgeOn, OuterKind

if TYPE_CHECKING:
    from astra_py.engines.watch import WatchLog
    from astra_py.results.record import RunRecord

__all__ = ["CriticalPath", "critical_path"]

#: What a path is made of: stretches that are explained, and messages whose stretches are still to be.
Step = Stretch | MessageStep


class CriticalPath:
    """The path of one collective, in order of time.

    Attributes
    ----------
    instance : the collective.
    start_ps, end_ps : from the first rank's join to the last rank's end, as the table of collectives has it.
    steps : contiguous, from ``start_ps`` to ``end_ps``.
    """

    def __init__(self, instance: int, start_ps: int, end_ps: int, steps: Sequence[Step]) -> None:
        self.instance = instance
        self.start_ps = start_ps
        self.end_ps = end_ps
        self.steps = tuple(steps)

    @property
    def messages(self) -> list[MessageStep]:
        """The messages on it, in order."""
        return [step for step in self.steps if isinstance(step, MessageStep)]


def critical_path(record: RunRecord, instance: int) -> CriticalPath:
    """Walk back from the end of a collective of a watched run to its start.

    Parameters
    ----------
    record : a run whose engine wrote a log (``EngineOptions.watch``).
    instance : the collective, an index of ``record.schedule``'s instances.
    """
    return _Walk(record, instance).path()


class _Walk:
    """One walk; :meth:`path` does it. Methods named after an event take its time and say what happened before it."""

    def __init__(self, record: RunRecord, instance: int) -> None:
        schedule, columns = record.schedule, record.columns
        if columns.log is None:
            raise ValueError("the run was not watched")
        self._log: WatchLog = columns.log
        self._instance = instance
        self._template = schedule.templates[schedule.instance_template[instance]]
        self._group = schedule.group(int(schedule.instance_group[instance]))
        self._first = int(record.first_row[instance])
        self._message = record.message_row[self._first : self._first + len(self._template)]
        moments = (columns.message_sent_ps, columns.message_delivered_ps, columns.message_acked_ps)
        # operations that are no message have the row -1, which has to be there
        self._moments = moments if len(moments[0]) else (np.full(1, -1, dtype=np.int64),) * 3
        self._posted = columns.message_posted_ps
        self._delay = record.endpoint_delay_ps
        parts = np.flatnonzero((schedule.kind == OuterKind.COLLECTIVE) & (schedule.instance == instance))
        self._joined = dict(zip(schedule.member[parts].tolist(), columns.op_start_ps[parts].tolist(), strict=True))
        end = columns.op_end_ps[parts]
        # as the table has it: the part that ends last, of equals that of the lowest rank
        last = int(np.lexsort((schedule.rank[parts], -end))[0])
        self._last_member, self._end = int(schedule.member[parts[last]]), int(end[last])
        self._start = min(self._joined.values())
        self._steps: list[Step] = []
        self._waits = _pool_waits(self._log, self._first, len(self._template))

    def path(self) -> CriticalPath:
        self._part_end(self._last_member, self._end)
        return CriticalPath(self._instance, self._start, self._end, self._steps[::-1])

    def _spend(self, start_ps: int, end_ps: int, part: Part, detail: str = "") -> None:
        if end_ps > start_ps:
            self._steps.append(Stretch(start_ps, end_ps, part, detail=detail))

    def _part_end(self, member: int, at: int) -> None:
        """A rank's part is over when all it sends has left, all sent to it is told of, and its local work is done."""
        template = self._template
        rows = self._message
        notified = self._moments[template.notify_on][rows] + self._delay
        sent = self._moments[EdgeOn.SENT][rows]
        is_message = rows >= 0
        for candidates, moment in (
            (is_message & (template.dst == member) & (notified == at), template.notify_on),
            (is_message & (template.src == member) & (sent == at), EdgeOn.SENT),
        ):
            if candidates.any():
                self._follow(*self._moment(int(candidates.argmax()), moment, at))
                return
        end = self._log.end_ps[self._first : self._first + len(template)]
        local = ~template.is_send & (template.src == member) & (end == at)
        if local.any():
            self._follow(*self._local_end(int(local.argmax()), at))
        else:
            self._join(member, at)

    def _follow(self, op: int, at: int) -> None:
        """From the start of operation ``op`` at ``at`` back to the start of all."""
        seen: set[int] = set()
        while True:
            ready = self._pools(op, at)
            if op in seen:
                self._spend(self._start, ready, Part.UNEXPLAINED)
                return
            seen.add(op)
            before = self._before(op, ready)
            if before is None:
                self._join(int(self._template.src[op]), ready)
                return
            op, at = before

    def _pools(self, op: int, start: int) -> int:
        """Between the time when an operation could start and its start it waited for pools; gives the former."""
        ready = int(self._log.ready_ps[self._first + op])
        end = start
        for since, pool in reversed(self._waits.get(op, [])):
            self._spend(since, end, Part.POOLS, self._pool_name(pool))
            end = since
        self._spend(ready, end, Part.UNEXPLAINED)
        return ready

    def _before(self, op: int, at: int) -> tuple[int, int] | None:
        """The operation that operation ``op`` waited for last, and when that started; None where it was a join."""
        template = self._template
        begin, end = int(template.dep_ptr[op]), int(template.dep_ptr[op + 1])
        for edge in range(begin, end):
            dep, moment = int(template.dep_op[edge]), EdgeOn(int(template.dep_on[edge]))
            if not template.is_send[dep]:
                if int(self._log.end_ps[self._first + dep]) == at:
                    return self._local_end(dep, at)
                continue
            message = int(self._message[dep])
            late = 0 if moment == EdgeOn.SENT else self._delay
            if message >= 0 and int(self._moments[moment][message]) + late == at:
                return self._moment(dep, moment, at)
        return self._picker(op, at)

    def _picker(self, op: int, at: int) -> tuple[int, int] | None:
        """The operation that made a choice at ``at``, where ``op`` waited for one that was skipped then."""
        template = self._template
        if not template.choices:
            return None
        deps = template.dep_op[template.dep_ptr[op] : template.dep_ptr[op + 1]]
        alternatives = template.alternative[deps]
        choices = set(np.searchsorted(template.choice_ptr, alternatives[alternatives >= 0], side="right") - 1)
        ready = self._log.ready_ps[self._first : self._first + len(template)]
        for other in np.flatnonzero((ready == at) & (template.alternative >= 0)).tolist():
            choice = int(np.searchsorted(template.choice_ptr, template.alternative[other], side="right") - 1)
            if choice in choices and other != op:
                before = self._before(other, at)
                if before is not None:
                    return before
        return None

    def _moment(self, op: int, moment: EdgeOn, at: int) -> tuple[int, int]:
        """A moment of a message, told of at ``at``: the endpoint's delay, its way, and what its post waited for."""
        message = int(self._message[op])
        came, posted = int(self._moments[moment][message]), int(self._posted[message])
        self._spend(came, at, Part.HOST, "endpoint delay")
        if came > posted:
            self._steps.append(MessageStep(message, moment, posted, came))
        start = int(self._log.start_ps[self._first + op])
        self._spend(start, posted, Part.HOST, "start of the flow" if self._template.is_flows else "before the post")
        return op, start

    def _local_end(self, op: int, at: int) -> tuple[int, int]:
        start = int(self._log.start_ps[self._first + op])
        self._spend(start, at, Part.HOST, "local work")
        return op, start

    def _join(self, member: int, at: int) -> None:
        """A rank that joined later than the first one kept the collective waiting."""
        joined = self._joined[member]
        begun = joined + self._delay if len(self._template) else joined
        if begun != at:
            self._spend(self._start, at, Part.UNEXPLAINED)
            return
        self._spend(joined, at, Part.HOST, "endpoint delay")
        self._spend(self._start, joined, Part.JOINING, f"rank {self._group[member]}")

    def _pool_name(self, pool: int) -> str:
        if pool <= FIRST_SHARED_POOL:
            return str(self._template.shared_pools[FIRST_SHARED_POOL - pool])
        return f"pool {pool} of the collective"


def _pool_waits(log: WatchLog, first: int, count: int) -> dict[int, list[tuple[int, int]]]:
    """By operation of one instance: since when it waited for which pool, in order."""
    mine: NDArray[np.int64] = np.flatnonzero((log.wait_row >= first) & (log.wait_row < first + count))
    waits: dict[int, list[tuple[int, int]]] = {}
    for row, pool, since in zip(
        log.wait_row[mine].tolist(), log.wait_pool[mine].tolist(), log.wait_ps[mine].tolist(), strict=True
    ):
        waits.setdefault(row - first, []).append((since, pool))
    return waits
