# SPDX-License-Identifier: GPL-2.0-only
"""Why a collective takes as long as it does: its time beside that of other engines, and its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.analysis.knobs import MEANINGS, knob_of
from astra_py.analysis.stretches import Part, sum_by_part
from astra_py.collectives.bandwidth import algorithm_bytes
from astra_py.results.text import figure

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.analysis.explain import Explanation

__all__ = ["legend", "sentence", "stacked_bar", "stretch_rows", "to_frame", "why_rows"]

#: Width of a stacked bar in characters, and what each part is drawn with.
_BAR = 60
_INK = dict(zip(Part, "#h>sqeowp%r.?", strict=True))


def why_rows(explanation: Explanation, others: Mapping[str, NDArray[np.int64]]) -> list[dict[str, Any]]:
    """One row a collective: what it is, its packet time, that of other engines and the difference, and the parts in us.

    Parameters
    ----------
    explanation : of the packet run.
    others : name of another engine to its time of each collective in ps; i64[collectives], -1 where it has none.
    """
    record = explanation.record
    rows = []
    for instance, stretches in enumerate(explanation.stretches):
        call = record.trace.calls[int(record.schedule.instance_call[instance])]
        template = record.schedule.templates[int(record.schedule.instance_template[instance])]
        parts = sum_by_part(stretches)
        time_ps = sum(parts.values())
        row: dict[str, Any] = {
            "collective": instance,
            "name": call.name,
            "kind": call.kind,
            "algorithm": template.algorithm,
            "job": str(record.job_names[record.job_of_instance[instance]]),
            "iteration": call.iteration,
            "ranks": len(call.group),
            "size_bytes": algorithm_bytes(call.kind, call.payload),
            "packet_us": time_ps / 1e6,
        }
        for name, times in others.items():
            other = int(times[instance])
            row[f"{name}_us"] = other / 1e6 if other >= 0 else float("nan")
            row[f"{name}_difference_us"] = (time_ps - other) / 1e6 if other >= 0 else float("nan")
        row |= {f"{part}_us": time / 1e6 for part, time in parts.items()}
        largest = max(parts, key=lambda part: parts[part])
        link, on_link = _longest_queue(explanation, instance)
        row |= {
            "largest_part": str(largest) if time_ps else "",
            "knob": knob_of(largest, stretches, record, explanation.platform_kind),
            "longest_queue": link,
            "longest_queue_us": on_link / 1e6,
            "last_to_join": next((each.detail for each in stretches if each.part == Part.JOINING), ""),
            "time_ps": time_ps,
            "unexplained_ps": parts[Part.UNEXPLAINED],
        }
        rows.append(row)
    return rows


def _longest_queue(explanation: Explanation, instance: int) -> tuple[str, int]:
    """The link at which most of a path's queueing was, and how much, in ps."""
    time: dict[int, int] = {}
    for each in explanation.stretches[instance]:
        if each.part == Part.QUEUEING:
            time[each.channel] = time.get(each.channel, 0) + each.length_ps
    if not time:
        return "", 0
    channel = max(time, key=lambda each: time[each])
    return explanation.record.channel_name(channel), time[channel]


def stretch_rows(explanation: Explanation) -> list[dict[str, Any]]:
    """One row a stretch of a path: collective, start, end, part, link, what else is known."""
    record = explanation.record
    return [
        {
            "collective": instance,
            "start_ps": each.start_ps,
            "end_ps": each.end_ps,
            "part": str(each.part),
            "link": record.channel_name(each.channel) if each.channel >= 0 else "",
            "detail": each.detail,
        }
        for instance, stretches in enumerate(explanation.stretches)
        for each in stretches
    ]


def sentence(row: Mapping[str, Any]) -> str:
    """What most of a collective's time is, and what moves it."""
    who = f"{row['name']}, {row['size_bytes']:,} B, iteration {row['iteration']} ({row['algorithm']})"
    if not row["time_ps"]:
        return f"{who} takes no time."
    part = Part(row["largest_part"])
    time = row[f"{part}_us"]
    share = 100 * time / row["packet_us"]
    where = f", the longest at {row['longest_queue']}" if part == Part.QUEUEING else ""
    if part == Part.JOINING:
        where = f": what {row['last_to_join']} did before it joined decides"
    knob = f"; {row['knob']} moves it" if row["knob"] else ""
    return f"{who}: {share:.0f} % of {figure(row['packet_us'])} us is {MEANINGS[part]}{where}{knob}."


def stacked_bar(row: Mapping[str, Any]) -> str:
    """The parts of a collective side by side, each as wide as its share."""
    if not row["time_ps"]:
        return ""
    bounds = np.cumsum([0.0, *(row[f"{part}_us"] for part in Part)]) / row["packet_us"]
    places = np.rint(bounds * _BAR).astype(int)
    return "".join(_INK[part] * int(width) for part, width in zip(Part, np.diff(places), strict=True))


def legend(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the characters of stacked bars mean: those of parts that occur."""
    used = [part for part in Part if any(row[f"{part}_us"] for row in rows)]
    return "  ".join(f"{_INK[part]} {part.replace('_', ' ')}" for part in used)


def to_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a DataFrame."""
    import pandas as pd

    return pd.DataFrame(list(rows))
