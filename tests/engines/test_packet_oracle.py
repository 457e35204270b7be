# SPDX-License-Identifier: GPL-2.0-only
"""The packet engine against the oracle: every moment of every message to the picosecond, every channel to the byte."""

from __future__ import annotations

import numpy as np
import pytest

from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.engines.routes import route_paths
from engine_cases import platform_of, run_packet
from oracle_cases import Case, random_case
from reference_sim import Simulator

CASES = 300


def simulate(case: Case, seed: int) -> Simulator:
    """Run the oracle over the ways that the engine's switches choose under ``seed``."""
    platform = platform_of(case)

    def route(src: int, dst: int, qp: int) -> list[int]:
        _, channels = route_paths(platform, seed, np.array([src]), np.array([dst]), np.array([qp]))
        return [int(channel) for channel in channels]

    return case.simulate(route)


def message_rows(columns: EngineColumns) -> dict[int, tuple[int, int, int, int]]:
    """The engine's posted, sent, delivered and acked, by operation."""
    moments = (
        columns.message_posted_ps,
        columns.message_sent_ps,
        columns.message_delivered_ps,
        columns.message_acked_ps,
    )
    rows = zip(*(moment.tolist() for moment in moments), strict=True)
    return dict(zip(columns.message_op.tolist(), rows, strict=True))


@pytest.mark.parametrize("seed", range(CASES))
def test_random_case(seed: int) -> None:
    case = random_case(seed)
    oracle = simulate(case, seed)
    columns = run_packet(case, seed=seed)
    assert columns.exit_reason == ExitReason.COMPLETED, case.name

    moments = zip(oracle.posted, oracle.sent, oracle.delivered, oracle.acked, strict=True)
    expected = {i: row for i, row in enumerate(moments) if case.ops[i].dst is not None}
    assert message_rows(columns) == expected, case.name
    assert columns.channel_frames.tolist() == [port.frames for port in oracle.ports], case.name
    assert columns.channel_line_bytes.tolist() == [port.line_bytes for port in oracle.ports], case.name
    assert columns.op_end_ps[1::2].tolist() == [oracle.end_ps[rank] for rank in case.group], case.name
    sent, received = [0] * len(case.group), [0] * len(case.group)
    for op in case.ops:
        if op.dst is not None:
            sent[op.owner] += op.size
            received[op.dst] += op.size
    assert columns.rank_sent_payload_bytes.tolist() == sent, case.name
    assert columns.rank_received_payload_bytes.tolist() == received, case.name
    assert columns.message_delivered_bytes.tolist() == columns.message_size_bytes.tolist(), case.name
    assert columns.channel_delivered_payload_bytes.tolist() == columns.channel_payload_bytes.tolist(), case.name
    assert columns.message_retransmitted_packets.sum() == 0, case.name
    assert columns.counters["timeouts"] == 0, case.name
