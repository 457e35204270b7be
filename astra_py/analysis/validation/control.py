# SPDX-License-Identifier: GPL-2.0-only
"""Cases of congestion control: the queue that senders make who join a long flow, and shares of long flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from astra_py.analysis.validation.case import Case, Figures, Kind, Relation
from astra_py.analysis.validation.engines import run_work, with_keys

__all__ = ["control_cases"]

_PS_PER_MS = 10**9

#: Seven senders join one long flow's receiver: Li et al., "HPCC", SIGCOMM 2019, section 5.2.
_JOINED = {
    "platform": {
        "kind": "single_switch",
        "ranks": 10,
        "link_rate": "25Gbps",
        "link_delay": "1us",
        "switch_latency": "300ns",
    },
    "switch": {"ecn_kmin": "25Gbps=100kB", "ecn_kmax": "25Gbps=400kB", "ecn_pmax": 0.2, "ecn_mark_at": "dequeue"},
    "background": {
        "long": {"kind": "incast", "ranks": "0,1", "receiver": 0, "size": "20MB"},
        "joining": {"kind": "incast", "ranks": "0,2-8", "receiver": 0, "size": "4MB", "start": "300us"},
        "probe": {
            "kind": "incast",
            "ranks": "0,9",
            "receiver": 0,
            "size": "1B",
            "rounds": 60,
            "period": "2us",
            "start": "300us",
        },
    },
    "transport": {"preset": "dcqcn_vendor", "payload": "1000B", "window": "none", "qps_per_peer": "per_message"},
}
_ROUND_TRIPS_PS = 2 * 5_400_000
_BYTE_PS = 320


def _dcqcn_joined(bound: float) -> Callable[[], Sequence[Figures]]:
    def run() -> list[Figures]:
        result = run_work(with_keys(_JOINED, "transport", congestion_control="dcqcn"))
        return [Figures(expected=bound, packet=float(result.columns("queues")["max_queue_bytes"].max()))]

    return run


def _hpcc_joined() -> list[Figures]:
    """What waits at the receiver's port two round trips after the others joined, as a byte sent then sees it."""
    messages = run_work(with_keys(_JOINED, "transport", congestion_control="hpcc")).columns("messages")
    is_probe = messages["src"] == 9
    posted, took = messages["posted_ps"][is_probe], (messages["delivered_ps"] - messages["posted_ps"])[is_probe]
    after = posted >= 300_000_000 + _ROUND_TRIPS_PS
    return [Figures(expected=30_000, packet=float((took[after].max() - took.min()) / _BYTE_PS))]


def _queue_cases() -> list[Case]:
    source = "Li et al., HPCC, SIGCOMM 2019, section 5.2: 25 Gb/s, round trip 5.4 us, seven senders join a long flow"
    return [
        *(
            Case(
                id=f"machines.v9_dcqcn_{word}",
                title=f"V9: deepest queue of DCQCN, {word}",
                source=f"{source}; about 550 kB there",
                kind=Kind.PREDICTED,
                unit="B",
                measure=_dcqcn_joined(bound),
                relation=relation,
                is_must=False,
            )
            for word, bound, relation in (
                ("at_least", 300_000, Relation.AT_LEAST),
                ("at_most", 1_100_000, Relation.AT_MOST),
            )
        ),
        Case(
            id="machines.v9_hpcc",
            title="V9: queue of HPCC two round trips later",
            source=source,
            kind=Kind.PREDICTED,
            unit="B",
            measure=_hpcc_joined,
            relation=Relation.AT_MOST,
            is_must=False,
            note="seven windows of 16.9 kB take five round trips to leave a link of 25 Gb/s, whoever starts at line "
            "rate; from the second on, nobody sends and the queue only falls (docs/validation.md)",
        ),
    ]


_FLOWS, _ROUNDS = 4, 1600


def _shares(control: str) -> Callable[[], Sequence[Figures]]:
    """Bytes of four long flows that start a millisecond apart, over their mean, while all are under way."""

    def run() -> list[Figures]:
        tree = {
            "platform": {"kind": "single_switch", "ranks": 5, "link_rate": "25Gbps", "link_delay": "500ns"},
            "background": {
                f"flow{i}": {
                    "kind": "incast",
                    "ranks": f"0,{i + 1}",
                    "receiver": 0,
                    "size": "39063B",
                    "rounds": _ROUNDS,
                    "period": "1ps",
                    "start": f"{i}ms",
                }
                for i in range(_FLOWS)
            },
            "transport": {"congestion_control": control, "payload": "4096B", "window": "none", "qps_per_peer": 1},
        }
        messages = run_work(tree).columns("messages")
        ends = [messages["delivered_ps"][messages["src"] == src].max() for src in range(1, _FLOWS + 1)]
        last_start, first_end = (_FLOWS - 1) * _PS_PER_MS, min(ends)
        is_within = (messages["delivered_ps"] > (last_start + first_end) / 2) & (messages["delivered_ps"] <= first_end)
        got = np.bincount(messages["src"][is_within], weights=messages["size_bytes"][is_within], minlength=5)[1:]
        return [Figures(expected=1.0, packet=share, point=f"flow {i}") for i, share in enumerate(got / got.mean())]

    return run


def _fairness_cases() -> list[Case]:
    aims = {"none": 0.05, "dctcp": 0.05, "hpcc": 0.05, "swift": 0.05, "dcqcn": 0.10, "timely": None}
    return [
        Case(
            id=f"fairness.{control}",
            title=f"shares of four long flows of {control} that start one after another, 25 Gb/s",
            source="equal shares",
            kind=Kind.REPORTED if tolerance is None else Kind.PREDICTED,
            unit="of mean",
            measure=_shares(control),
            tolerance=tolerance or 0.0,
            is_must=tolerance is not None,
            is_quick=False,
            note="no unique fair point (Zhu et al., CoNEXT 2016)" if tolerance is None else "",
        )
        for control, tolerance in aims.items()
    ]


def control_cases() -> list[Case]:
    """Case V9, and the fairness of congestion controls."""
    return [*_queue_cases(), *_fairness_cases()]
