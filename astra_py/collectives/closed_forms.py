# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of collective algorithms: bytes per rank and uncontended time, from sizes alone.

They share nothing with the builder and its algorithms, so that they can check them: what a Trace declares is computed
here, what was simulated is counted at the network's ports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.dataflow import check_dataflow
from astra_py.collectives.registry import DEFAULT_ALGORITHMS, Algorithm, algorithm_names, find_algorithm
from astra_py.collectives.schedule import Schedule, Template
from astra_py.errors import ConfigError
from astra_py.workloads.trace import Trace

__all__ = ["ClosedForm", "closed_form", "declared_rank_bytes", "register_closed_form"]

Column = NDArray[np.int64]
PS_PER_S = 10**12


@dataclass(frozen=True)
class ClosedForm:
    """Formulas of one algorithm; ``payload`` is a size in bytes, or a byte matrix for all_to_all_v.

    Attributes
    ----------
    rank_bytes : (ranks, payload) -> bytes that each rank sends and receives, both i64[ranks], exact.
    steps : ranks -> how many times the latency of a step counts.
    wire_bytes : (ranks, payload) -> numerator and denominator of the bytes that one NIC carries one after another.
    """

    rank_bytes: Callable[[int, Any], tuple[Column, Column]]
    steps: Callable[[int], int]
    wire_bytes: Callable[[int, Any], tuple[int, int]]

    def time_ps(self, ranks: int, payload: int | Column, latency_ps: int, bandwidth_bps: int) -> int:
        """Uncontended time in ps, rounded up, with ``latency_ps`` a step and ``bandwidth_bps`` a NIC."""
        if ranks == 1:
            return 0
        numerator, denominator = self.wire_bytes(ranks, payload)
        return self.steps(ranks) * latency_ps - (-8 * PS_PER_S * numerator // (denominator * bandwidth_bps))


#: Each form with the function that it is true of.
_closed_forms: dict[tuple[str, str], tuple[ClosedForm, Algorithm]] = {}


def register_closed_form(kind: str, algorithm: str, form: ClosedForm) -> None:
    """Make ``form`` the closed form of a registered algorithm, of the package or one's own.

    It is that of the function registered now: where another one takes over the name, the form is no longer used.

    Raises
    ------
    ConfigError : no such algorithm is registered.
    """
    _closed_forms[kind, algorithm] = (form, find_algorithm(kind, algorithm))


def _has_closed_form(kind: str, algorithm: str) -> bool:
    known = _closed_forms.get((kind, algorithm))
    return known is not None and algorithm in algorithm_names(kind) and known[1] is find_algorithm(kind, algorithm)


def closed_form(kind: str, algorithm: str) -> ClosedForm:
    """Return the closed form of an algorithm.

    Raises
    ------
    ConfigError : there is none.
    """
    if not _has_closed_form(kind, algorithm):
        known = ", ".join(f"{k} {a}" for k, a in _closed_forms if _has_closed_form(k, a))
        raise ConfigError(
            f"no closed form of {kind} algorithm {algorithm!r}, so the bytes it should move are unknown; known are "
            f"{known}, and register_closed_form() adds one"
        )
    return _closed_forms[kind, algorithm][0]


def declared_rank_bytes(
    trace: Trace, algorithms: Mapping[str, str] | None = None, schedule: Schedule | None = None
) -> tuple[Column, Column]:
    """Bytes that each rank has to send and to receive in a whole Trace.

    Parameters
    ----------
    trace : what is to be run.
    algorithms : algorithm by collective kind, as given to :func:`~astra_py.collectives.lower`.
    schedule : what the Trace was lowered to. A call whose algorithm has no closed form, as a user's own may, counts the
        messages of its template, and only after :func:`~astra_py.collectives.check_dataflow` has passed it.

    Returns
    -------
    sent, received : i64[ranks], payload bytes, exact, uneven segments included.

    Raises
    ------
    ConfigError : an algorithm has no closed form, and there is no schedule to go by.
    CheckError : the template of an algorithm without a closed form does not do what its collective promises.
    """
    chosen = {**DEFAULT_ALGORITHMS, **(algorithms or {})}
    sent = np.zeros(trace.ranks, dtype=np.int64)
    received = np.zeros(trace.ranks, dtype=np.int64)
    templates = _checked_templates(trace, schedule) if schedule is not None else {}
    for index, call in enumerate(trace.calls):
        algorithm = call.algorithm or chosen.get(call.kind, "")
        group = np.array(call.group)
        if len(group) == 1:
            continue
        if index in templates and not _has_closed_form(call.kind, algorithm):
            call_sent, call_received = _template_bytes(templates[index])
        else:
            call_sent, call_received = closed_form(call.kind, algorithm).rank_bytes(len(group), call.payload)
        sent[group] += call_sent
        received[group] += call_received
    return sent, received


def _checked_templates(trace: Trace, schedule: Schedule) -> dict[int, Template]:
    """Template by call, of those whose algorithm has no closed form, each checked once."""
    by_call: dict[int, Template] = {}
    checked: set[int] = set()
    for call, number in zip(schedule.instance_call.tolist(), schedule.instance_template.tolist(), strict=True):
        template = schedule.templates[number]
        if _has_closed_form(template.collective, template.algorithm):
            continue
        if number not in checked:
            check_dataflow(template, trace.calls[call].payload)
            checked.add(number)
        by_call[call] = template
    return by_call


def _template_bytes(template: Template) -> tuple[Column, Column]:
    sent = np.zeros(template.ranks, dtype=np.int64)
    received = np.zeros(template.ranks, dtype=np.int64)
    is_send = template.is_send
    np.add.at(sent, template.src[is_send], template.size_bytes[is_send])
    np.add.at(received, template.dst[is_send], template.size_bytes[is_send])
    return sent, received


def _cut(size_bytes: int, parts: int) -> Column:
    """Floor or ceil of size / parts, the first ones larger; apart from the builder's own rule on purpose."""
    return np.array([(size_bytes + parts - 1 - i) // parts for i in range(parts)], dtype=np.int64)


def _ring_all_reduce_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    # Each half passes on all segments but one: rank r never sends segment r + 1 while reducing, nor r + 2 while
    # gathering.
    segment = _cut(size_bytes, ranks)
    sent = 2 * size_bytes - np.roll(segment, -1) - np.roll(segment, -2)
    return sent, np.roll(sent, 1)


def _equal_all_to_all_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    part = _cut(size_bytes, ranks)
    return size_bytes - part, (ranks - 1) * part


def _matrix_bytes(ranks: int, matrix: Column) -> tuple[Column, Column]:
    own = np.diagonal(matrix)
    return matrix.sum(axis=1) - own, matrix.sum(axis=0) - own


def _sendrecv_bytes(ranks: int, size_bytes: int) -> tuple[Column, Column]:
    return np.array([size_bytes, 0], dtype=np.int64), np.array([0, size_bytes], dtype=np.int64)


def _largest(rank_bytes: tuple[Column, Column]) -> tuple[int, int]:
    return int(max(column.max() for column in rank_bytes)), 1


register_closed_form(
    "all_reduce",
    "ring",
    ClosedForm(
        rank_bytes=_ring_all_reduce_bytes,
        steps=lambda ranks: 2 * (ranks - 1),
        wire_bytes=lambda ranks, size_bytes: (2 * (ranks - 1) * size_bytes, ranks),
    ),
)
register_closed_form(
    "all_to_all",
    "direct",
    ClosedForm(
        rank_bytes=_equal_all_to_all_bytes,
        steps=lambda ranks: 1,
        wire_bytes=lambda ranks, size_bytes: ((ranks - 1) * size_bytes, ranks),
    ),
)
register_closed_form(
    "all_to_all_v",
    "direct",
    ClosedForm(
        rank_bytes=_matrix_bytes,
        steps=lambda ranks: 1,
        wire_bytes=lambda ranks, matrix: _largest(_matrix_bytes(ranks, matrix)),
    ),
)
register_closed_form(
    "sendrecv",
    "direct",
    ClosedForm(
        rank_bytes=_sendrecv_bytes,
        steps=lambda ranks: 1,
        wire_bytes=lambda ranks, size_bytes: (size_bytes, 1),
    ),
)
