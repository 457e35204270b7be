# SPDX-License-Identifier: GPL-2.0-only
"""What every run is held to: declared = simulated = delivered, for operations and for bytes.

The declared side comes from the Trace (operations, and bytes per rank by the collectives' closed forms) or from the
Schedule's templates and the routes; the measured side from the engine's moments and from the ports' own counters. A run
that fails one of them raises: there is no result to look at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import OuterKind
from astra_py.engines.base import ExitReason
from astra_py.errors import CheckError, DeadlockError, SimulationError
from astra_py.results.balance import check_links, check_ports, check_switches
from astra_py.results.causality import check_dependencies, check_moments, check_speed
from astra_py.results.check import Check, compare
from astra_py.results.durations import check_durations
from astra_py.results.flow_check import check_data_flow, check_message_ends
from astra_py.results.flows import check_flow_starts
from astra_py.results.link_bins import check_link_bins
from astra_py.results.link_bytes import check_link_bytes
from astra_py.results.pools import check_limits, check_priorities
from astra_py.results.switching import check_switching
from astra_py.results.tcp_checks import check_hosts, check_sockets

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.results.record import RunRecord
    from astra_py.workloads.trace import Trace

__all__ = ["Check", "require_completed", "require_passed", "require_work", "run_checks"]


def require_work(trace: Trace, schedule: Schedule) -> None:
    """Refuse a run in which nothing would happen.

    Raises
    ------
    SimulationError : ``no_work``: no operation at all, collectives without any message, or none and no operation that
        takes time.
    """
    if not len(schedule):
        raise SimulationError("the workload has no operation: nothing would be simulated", reason="no_work")
    if len(trace.calls) and not schedule.message_count:
        most = max(len(call.group) for call in trace.calls)
        raise SimulationError(
            f"the workload's {len(trace.calls)} collectives put no byte on any link: they have no message "
            f"(largest group: {most} rank{'' if most == 1 else 's'})",
            reason="no_work",
        )
    if not (schedule.message_count or schedule.duration_ps.any()):
        raise SimulationError(
            f"the workload's {len(schedule)} operations take no time, and it has no collective: nothing would be "
            "simulated",
            reason="no_work",
        )


def require_completed(record: RunRecord) -> None:
    """Refuse a run that did not come to its end.

    Raises
    ------
    DeadlockError : operations are unfinished and nothing is left to happen, or ports hold each other in a circle of
        pauses; lists what waits for what.
    SimulationError : a limit on events or time was reached, or the simulator was stopped from outside.
    """
    columns = record.columns
    if columns.exit_reason == ExitReason.COMPLETED:
        return
    done = int((columns.op_end_ps >= 0).sum())
    state = f"{done} of {len(columns.op_end_ps)} operations done at {columns.end_ps / 1e6:.6f} us"
    waiting = "".join(f"\n  {line}" for line in columns.waiting)
    if columns.deadlocked_channels:
        circle = "; ".join(record.channel_name(channel) for channel in columns.deadlocked_channels)
        raise DeadlockError(f"PFC deadlock: these ports hold each other by pauses: {circle}; {state}{waiting}")
    if columns.exit_reason == ExitReason.DEADLOCK:
        raise DeadlockError(f"deadlock: nothing is left to happen, {state}{waiting}")
    reason = str(columns.exit_reason)
    if columns.exit_reason == ExitReason.STOPPED:
        what = "ns-3's simulator was stopped from outside (Simulator::Stop) before the run's end"
    else:
        what = f"{reason.replace('_', ' ')} reached"
    raise SimulationError(f"{what}: {state}{waiting}", reason=reason)


def require_passed(checks: tuple[Check, ...]) -> None:
    """Refuse a run whose measurements are not what was declared.

    Raises
    ------
    CheckError : names each check that failed, with both sides and the first place where they differ.
    """
    failed = [check for check in checks if not check.passed]
    if failed:
        lines = "".join(f"\n  {check}" for check in failed)
        raise CheckError(f"{len(failed)} of {len(checks)} checks failed: the run is not what was declared{lines}")


def run_checks(record: RunRecord) -> tuple[Check, ...]:
    """All checks of a completed run, in order; each is worked out from the run alone.

    Where messages are not those declared, what is derived from them (bytes on links, causality) cannot be: these checks
    are left out then, as the run has already failed. What an engine without ports says of links is computed, not
    counted, and is not checked.
    """
    checks = [_operations(record), _participations(record), check_durations(record), check_limits(record)]
    checks += [check_priorities(record), check_data_flow(record)]
    messages = [_messages(record), _message_bytes(record)]
    checks += messages + _rank_bytes(record)
    if all(check.passed for check in messages):
        checks.append(check_message_ends(record))
        if any(template.is_flows for template in record.schedule.templates):
            checks.append(check_flow_starts(record))
        if record.has_ports:
            checks += [*check_link_bytes(record), *check_links(record), *check_switches(record), *check_ports(record)]
            checks += [*check_switching(record), *check_link_bins(record)]
            if record.transport.tcp is not None:
                checks += [*check_sockets(record), *check_hosts(record)]
        checks += [check_dependencies(record), check_moments(record), check_speed(record)]
    return (*checks, _nothing_left(record))


def _operations(record: RunRecord) -> Check:
    trace, schedule, columns = record.trace, record.schedule, record.columns
    kinds = len(OuterKind)
    finished = (columns.op_start_ps >= 0) & (columns.op_end_ps >= columns.op_start_ps)
    key = schedule.rank.astype(np.int64) * kinds + schedule.kind
    return compare(
        "operations",
        "of each rank and kind, started and ended",
        np.bincount(trace.rank.astype(np.int64) * kinds + trace.kind, minlength=schedule.ranks * kinds),
        np.bincount(key[finished], minlength=schedule.ranks * kinds),
        lambda i: f"{OuterKind(i % kinds).name.lower()} on rank {i // kinds}",
    )


def _participations(record: RunRecord) -> Check:
    calls, schedule = record.trace.calls, record.schedule
    parts = (schedule.kind == OuterKind.COLLECTIVE) & (record.columns.op_end_ps >= 0)
    call = schedule.instance_call[schedule.instance[parts]].astype(np.int64)
    ranks = schedule.ranks
    declared = np.array([rank + i * ranks for i, call in enumerate(calls) for rank in call.group], dtype=np.int64)
    keys, counts = np.unique(call * ranks + schedule.rank[parts], return_counts=True)
    union = np.union1d(declared, keys).astype(np.int64)
    return compare(
        "participations",
        "each collective once on each member of its group",
        np.isin(union, declared).astype(np.int64),
        _spread(union, keys, counts),
        lambda i: f"{calls[union[i] // ranks].name} on rank {union[i] % ranks}",
    )


def _messages(record: RunRecord) -> Check:
    schedule, columns, first = record.schedule, record.columns, record.first_row
    declared = [
        (schedule.templates[number].is_send & is_picked).astype(np.int64)
        for number, is_picked in zip(schedule.instance_template, record.is_picked, strict=True)
    ]
    done = (columns.message_posted_ps >= 0) & (columns.message_delivered_ps >= 0)
    key = first[columns.message_instance[done]] + columns.message_op[done]

    def place(row: int) -> str:
        instance = int(np.searchsorted(first, row, side="right")) - 1
        template = schedule.templates[schedule.instance_template[instance]]
        group, op = schedule.group(int(schedule.instance_group[instance])), row - int(first[instance])
        name = record.trace.calls[schedule.instance_call[instance]].name
        return f"{name}: operation {op}, rank {group[template.src[op]]} to rank {group[template.dst[op]]}"

    return compare(
        "messages",
        "messages of each collective, each posted and delivered once",
        np.concatenate(declared) if declared else np.zeros(0, dtype=np.int64),
        np.bincount(key, minlength=first[-1]),
        place,
    )


def _message_bytes(record: RunRecord) -> Check:
    columns = record.columns
    declared = record.declared_message_bytes
    wrong = np.where(
        columns.message_size_bytes != declared, columns.message_size_bytes, columns.message_delivered_bytes
    )
    return compare(
        "message_bytes",
        "payload of each message, delivered",
        declared,
        wrong,
        lambda i: f"message {i}, rank {columns.message_src[i]} to rank {columns.message_dst[i]}",
    )


def _rank_bytes(record: RunRecord) -> list[Check]:
    sent, received = record.declared_rank_bytes
    return [
        compare(
            f"{way}_bytes",
            f"payload {way} per rank: closed forms, and NICs' count",
            declared,
            measured,
            lambda rank: f"rank {rank}",
        )
        for way, declared, measured in (
            ("sent", sent, record.columns.rank_sent_payload_bytes),
            ("received", received, record.columns.rank_received_payload_bytes),
        )
    ]


def _nothing_left(record: RunRecord) -> Check:
    counters = record.columns.counters
    # what an engine does not report is not nothing, but for buffers, which it need not have
    left = {name: counters.get(name, -1) for name in ("frames_in_flight", "events_left")}
    left["buffer_bytes_left"] = counters.get("buffer_bytes_left", 0)
    return compare(
        "nothing_left",
        "frames under way, events to come or bytes in buffers at the end",
        np.zeros(len(left), dtype=np.int64),
        np.array(list(left.values()), dtype=np.int64),
        lambda i: list(left)[i],
    )


def _spread(all_keys: NDArray[np.int64], keys: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """``counts`` of ``keys``, placed among ``all_keys`` (sorted), 0 elsewhere."""
    spread = np.zeros(len(all_keys), dtype=np.int64)
    spread[np.searchsorted(all_keys, keys)] = counts
    return spread
