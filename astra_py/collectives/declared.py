# SPDX-License-Identifier: GPL-2.0-only
"""The bytes that a whole Trace declares, per rank, inside and between machines.

They come from closed forms, so that what was simulated and counted at the network's ports can be held against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.auto import plain_name
from astra_py.collectives.closed_forms import Column, Pairs, closed_form, has_closed_form, pair_totals
from astra_py.collectives.dataflow import check_dataflow
from astra_py.collectives.flows import flow_pairs
from astra_py.collectives.level_forms import has_level_form, level_form
from astra_py.collectives.partition import chunk_payloads
from astra_py.collectives.registry import DEFAULT_ALGORITHMS, WHOLE_KINDS, in_order_of_appearance
from astra_py.collectives.schedule import Schedule, Template
from astra_py.collectives.system import SystemModel
from astra_py.errors import ConfigError
from astra_py.workloads.calls import CollectiveCall
from astra_py.workloads.flows import FlowList
from astra_py.workloads.trace import Trace

__all__ = ["LevelBytes", "declared_level_bytes", "declared_rank_bytes"]


@dataclass(frozen=True, eq=False)
class LevelBytes:
    """Payload bytes of each rank's messages by where the other rank is; each column is i64[ranks]."""

    sent_inside: Column
    received_inside: Column
    sent_between: Column
    received_between: Column


def declared_rank_bytes(
    trace: Trace,
    algorithms: Mapping[str, str] | None = None,
    schedule: Schedule | None = None,
    *,
    system: SystemModel | None = None,
    rank_machine: NDArray[np.int32] | None = None,
) -> tuple[Column, Column]:
    """Bytes that each rank has to send and to receive in a whole Trace.

    Parameters
    ----------
    trace : what is to be run.
    algorithms, system, rank_machine : as given to :func:`~astra_py.collectives.lower`.
    schedule : what the Trace was lowered to; control bytes of its messages count, too. A call whose algorithm has no
        closed form, as a user's own may, counts the messages of its template, and only after
        :func:`~astra_py.collectives.check_dataflow` has passed it.

    Returns
    -------
    sent, received : i64[ranks], payload bytes, exact, uneven segments included.

    Raises
    ------
    ConfigError : an algorithm has no closed form, and there is no schedule to go by.
    CheckError : the template of an algorithm without a closed form does not do what its collective promises.
    """
    calls = _Calls(trace, algorithms, schedule, system, rank_machine)
    sent, received = np.zeros(trace.ranks, dtype=np.int64), np.zeros(trace.ranks, dtype=np.int64)
    for call in trace.calls:
        group = np.array(call.group)
        if len(group) > 1:
            call_sent, call_received = calls.rank_bytes(call)
            sent[group] += call_sent
            received[group] += call_received
    if schedule is not None:
        control_sent, control_received = _control_totals(schedule)
        sent, received = sent + control_sent, received + control_received
    return sent, received


def declared_level_bytes(
    trace: Trace,
    rank_machine: NDArray[np.int32],
    algorithms: Mapping[str, str] | None = None,
    schedule: Schedule | None = None,
    *,
    system: SystemModel | None = None,
) -> LevelBytes:
    """The bytes of :func:`declared_rank_bytes`, parted into those that stay inside machines and those that do not.

    Parameters and errors are the same; ``rank_machine`` is i32[ranks]. A closed form of one's own without
    ``pair_bytes`` cannot be parted and is a ConfigError.
    """
    calls = _Calls(trace, algorithms, schedule, system, rank_machine)
    columns = [np.zeros(trace.ranks, dtype=np.int64) for _ in range(4)]
    for call in trace.calls:
        group = np.array(call.group)
        if len(group) == 1:
            continue
        src, dst, size_bytes = calls.pairs(call)
        is_inside = rank_machine[group[src]] == rank_machine[group[dst]]
        for first, is_counted in ((0, is_inside), (2, ~is_inside)):
            np.add.at(columns[first], group[src[is_counted]], size_bytes[is_counted])
            np.add.at(columns[first + 1], group[dst[is_counted]], size_bytes[is_counted])
    return LevelBytes(*columns)


class _Calls:
    """What each call of a Trace moves, chunk by chunk; calls of equal shape are worked out once."""

    def __init__(
        self,
        trace: Trace,
        algorithms: Mapping[str, str] | None,
        schedule: Schedule | None,
        system: SystemModel | None,
        rank_machine: NDArray[np.int32] | None,
    ) -> None:
        self._algorithms = {**DEFAULT_ALGORITHMS, **(algorithms or {})}
        self._system = system if system is not None else SystemModel()
        self._rank_machine = np.arange(trace.ranks, dtype=np.int32) if rank_machine is None else rank_machine
        self._templates = {} if schedule is None else _checked_templates(trace, schedule)
        # what the word auto came to stands in the templates
        self._chosen = {} if schedule is None else _chosen(trace, schedule)
        self._rank_bytes: dict[tuple[object, ...], tuple[Column, Column]] = {}
        self._pairs: dict[tuple[object, ...], Pairs] = {}

    def rank_bytes(self, call: CollectiveCall) -> tuple[Column, Column]:
        """Bytes that each member sends and receives."""
        key = self._key(call)
        if key not in self._rank_bytes:
            kind, algorithm, ranks = call.kind, self._algorithm(call), len(call.group)
            if call.flows is not None or id(call) in self._templates or self._is_by_level(kind, algorithm):
                self._rank_bytes[key] = pair_totals(ranks, self.pairs(call))
            else:
                form = closed_form(kind, algorithm)
                each = [form.rank_bytes(ranks, part) for part in self._chunks(call)]
                sent, received = (np.sum(columns, axis=0) for columns in zip(*each, strict=True))
                self._rank_bytes[key] = (sent, received)
        return self._rank_bytes[key]

    def pairs(self, call: CollectiveCall) -> Pairs:
        """Bytes of each pair of members."""
        key = self._key(call)
        if key not in self._pairs:
            self._pairs[key] = self._new_pairs(call)
        return self._pairs[key]

    def _new_pairs(self, call: CollectiveCall) -> Pairs:
        if call.flows is not None:
            return flow_pairs(call.flows)
        kind, algorithm = call.kind, self._algorithm(call)
        if (template := self._templates.get(id(call))) is not None:
            return _template_pairs(template)
        if self._is_by_level(kind, algorithm):
            by_level = level_form(kind, algorithm)
            return _joined(
                [by_level.pair_bytes(self._machines(call), part, self._system) for part in self._chunks(call)]
            )
        form = closed_form(kind, algorithm)
        if form.pair_bytes is None:
            raise ConfigError(
                f"the closed form of {kind} algorithm {algorithm!r} has no pair_bytes, so that its bytes inside and "
                "between machines are unknown"
            )
        return _joined([form.pair_bytes(len(call.group), part) for part in self._chunks(call)])

    def _chunks(self, call: CollectiveCall) -> list[Any]:
        """Sizes or byte matrices of a call's chunks."""
        chunks, payload = 1 if call.kind in WHOLE_KINDS else self._system.chunks, call.payload
        assert not isinstance(payload, FlowList)
        return [*chunk_payloads(payload, chunks, len(call.group))] if chunks > 1 else [payload]

    def _is_by_level(self, kind: str, algorithm: str) -> bool:
        """Whether the form of machines and system counts; closed forms are those of one ring."""
        is_of_one_ring = self._system.rings == 1
        return has_level_form(kind, algorithm) and not (is_of_one_ring and has_closed_form(kind, algorithm))

    def _algorithm(self, call: CollectiveCall) -> str:
        return self._chosen.get(id(call)) or call.algorithm or self._algorithms.get(call.kind, "")

    def _machines(self, call: CollectiveCall) -> NDArray[np.int32]:
        return in_order_of_appearance(self._rank_machine[list(call.group)])

    def _key(self, call: CollectiveCall) -> tuple[object, ...]:
        payload = call.payload
        shape = payload if isinstance(payload, int) else payload.tobytes()
        template = id(self._templates.get(id(call)))
        return call.kind, self._algorithm(call), self._machines(call).tobytes(), shape, template


def _chosen(trace: Trace, schedule: Schedule) -> dict[int, str]:
    """The algorithm of each call."""
    return {
        id(trace.calls[index]): plain_name(schedule.templates[number].algorithm)
        for index, number in zip(schedule.instance_call.tolist(), schedule.instance_template.tolist(), strict=True)
    }


def _checked_templates(trace: Trace, schedule: Schedule) -> dict[int, Template]:
    """Template by call, of those whose algorithm has no closed form, each checked once."""
    by_call: dict[int, Template] = {}
    checked: set[int] = set()
    for index, number in zip(schedule.instance_call.tolist(), schedule.instance_template.tolist(), strict=True):
        template, call = schedule.templates[number], trace.calls[index]
        if call.flows is not None:
            continue
        names = (template.collective, plain_name(template.algorithm))
        if has_closed_form(*names) or has_level_form(*names):
            continue
        if number not in checked:
            check_dataflow(template, call.payload)
            checked.add(number)
        by_call[id(call)] = template
    return by_call


def _template_pairs(template: Template) -> Pairs:
    is_send = template.is_send & template.is_counted
    src, dst = (column[is_send].astype(np.int64) for column in (template.src, template.dst))
    return src, dst, template.data_bytes[is_send]


def _control_totals(schedule: Schedule) -> tuple[Column, Column]:
    """Control bytes that each rank sends and receives in all instances; i64[ranks] twice."""
    sent, received = np.zeros(schedule.ranks, dtype=np.int64), np.zeros(schedule.ranks, dtype=np.int64)
    key = np.stack([schedule.instance_template, schedule.instance_group], axis=1)
    for (number, index), times in zip(*np.unique(key, axis=0, return_counts=True), strict=True):
        template, group = schedule.templates[number], schedule.group(int(index))
        if len(template.control_bytes):
            control = np.where(template.is_counted, template.control_bytes, 0) * times
            np.add.at(sent, group[template.src], control)
            np.add.at(received, group[template.dst], control)
    return sent, received


def _joined(pairs: list[Pairs]) -> Pairs:
    src, dst, size_bytes = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return src, dst, size_bytes
