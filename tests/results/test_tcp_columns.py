# SPDX-License-Identifier: GPL-2.0-only
"""Tables and checks of sockets, cores and copies: on figures given by hand, and each check on a wrong one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.results.build import build_result
from astra_py.results.checks import run_checks
from astra_py.results.record import RunRecord
from astra_py.results.report import report
from astra_py.results.rows import run_row
from result_cases import with_columns

RANKS, CORES = 4, 2
#: Each rank sends as much to each other one, in so many segments.
PART, SEGMENTS = 100_000, 12
US = 10**6


@pytest.fixture(scope="module")
def record() -> RunRecord:
    keys = ["transport.kind=tcp", f"platform.ranks={RANKS}", f"host.cores={CORES}", "host.staging=always"]
    return with_hosts(one_collective(load_scenario({}, keys), "all_to_all", RANKS * PART).record())


def with_hosts(record: RunRecord) -> RunRecord:
    """The record with the figures that hosts of two cores would have, the first of which does all the work."""
    src, dst = np.nonzero(~np.eye(RANKS, dtype=bool))
    pairs, cores, ranks = len(src), RANKS * CORES, np.arange(RANKS, dtype=np.int32)
    busy = np.tile(np.array([10 * US, 0]), RANKS)
    return with_columns(
        record,
        socket_src=src.astype(np.int32),
        socket_dst=dst.astype(np.int32),
        socket_priority=np.zeros(pairs, dtype=np.uint8),
        socket_index=np.zeros(pairs, dtype=np.int32),
        socket_segments=np.full(pairs, SEGMENTS),
        socket_acks=np.full(pairs, SEGMENTS // 2),
        socket_retransmitted_segments=np.zeros(pairs, dtype=np.int64),
        socket_timeouts=np.zeros(pairs, dtype=np.int64),
        socket_late_acks=np.zeros(pairs, dtype=np.int64),
        socket_bytes=np.full(pairs, PART),
        socket_srtt_ps=np.where(np.arange(pairs) == 0, 0, 20 * US),
        socket_cwnd_bytes=np.full(pairs, 10 * PART),
        core_machine=np.repeat(ranks, CORES),
        core_core=np.tile(np.arange(CORES, dtype=np.int32), RANKS),
        core_busy_ps=busy,
        core_message_ps=busy // 10,
        core_segment_ps=busy // 5,
        core_packet_ps=busy // 5,
        core_copy_ps=busy // 2,
        core_units=np.full(cores, 7),
        staging_rank=ranks,
        staging_out_bytes=np.full(RANKS, (RANKS - 1) * PART),
        staging_in_bytes=np.full(RANKS, (RANKS - 1) * PART),
        staging_out_busy_ps=np.full(RANKS, 5 * US),
        staging_in_busy_ps=np.full(RANKS, 5 * US),
    )


def failed(record: RunRecord) -> set[str]:
    return {check.name for check in run_checks(record) if not check.passed}


def one_more(column: NDArray[Any]) -> NDArray[Any]:
    changed = column.copy()
    changed[0] += 1
    return changed


@pytest.mark.parametrize(
    ("column", "check"),
    [
        ("socket_bytes", "socket_bytes"),
        ("socket_segments", "socket_segments"),
        ("socket_retransmitted_segments", "socket_repeats"),
        ("core_core", "cores"),
        ("core_copy_ps", "core_kinds"),
        ("staging_out_bytes", "staged_out"),
        ("staging_in_bytes", "staged_in"),
        ("channel_line_bytes", "link_line_bytes"),
        ("channel_payload_bytes", "link_payload_bytes"),
        ("channel_marked_frames", "marks"),
    ],
)
def test_a_check_fails_where_a_column_is_wrong(record: RunRecord, column: str, check: str) -> None:
    assert failed(record) == set()
    assert check in failed(with_columns(record, **{column: one_more(getattr(record.columns, column))}))


def test_no_core_works_longer_than_there_is_time(record: RunRecord) -> None:
    more = np.full_like(record.columns.core_busy_ps, int(record.columns.message_acked_ps.max()))
    kinds = {name: getattr(record.columns, name) + more for name in ("core_busy_ps", "core_copy_ps")}
    assert failed(with_columns(record, **kinds)) == {"core_busy"}


def test_a_message_is_acknowledged_after_it_was_sent(record: RunRecord) -> None:
    early = record.columns.message_sent_ps - 1
    assert "moments" in failed(with_columns(record, message_acked_ps=early))


def test_tables(record: RunRecord) -> None:
    result = build_result(record, {"digest": "0" * 64})
    cores = result.host_cores
    assert cores[["machine", "core"]].to_numpy().tolist() == [[rank, core] for rank in range(RANKS) for core in (0, 1)]
    assert cores["utilisation_percent"][0] == pytest.approx(100 * 10 * US / record.end_ps)
    assert (cores["busy_us"] == cores[["message_us", "segment_us", "packet_us", "copy_us"]].sum(axis=1)).all()
    sockets = result.sockets
    assert (len(sockets), sockets["size_bytes"].sum()) == (12, 12 * PART)
    assert np.isnan(sockets["round_trip_us"][0])
    assert (sockets["round_trip_us"][1:] == 20).all()
    assert result.staging["out_us"].tolist() == [5.0] * RANKS


def test_report_and_row(record: RunRecord) -> None:
    run = {"setup_cpu_s": 0.0, "simulation_cpu_s": 0.0, "peak_rss_bytes": 1}
    scenario = {"transport": {"kind": "tcp", "congestion_control": "dctcp"}}
    manifest = {"digest": "0" * 64, "title": "a test", "notes": [], "run": run, "scenario": scenario}
    result = build_result(record, manifest)
    lines = report(result).splitlines()
    assert max(map(len, lines)) <= 100
    use = 100 * 10 * US / record.end_ps
    assert f"host cores: 4 of 8 worked; busy for {use / 2:.1f} % of the run on average, at most {use:.1f} %:" in lines
    assert "  core 0 of machine 0, of that copies 50 %, packets 20 %, segments 20 %, messages 10 %" in lines
    assert "sockets: 12 sent 144 segments, of these 0 again, and had 0 timeouts" in lines
    assert "  round trips at the end: 20.0 us on average, at most 20.0 us" in lines
    assert "congestion control had no reason to act: dctcp; 0 frames marked, 0 sent again" in lines
    assert run_row(result)["max_core_utilisation_percent"] == pytest.approx(use)
