# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astra_py.collectives import ScheduleBuilder, SystemModel
from astra_py.collectives.schedule import EdgeOn, OuterKind
from astra_py.engines.base import EngineOptions
from astra_py.results.build import build_result
from astra_py.results.causality import message_edges
from astra_py.results.collectives import collectives_table
from astra_py.results.columns import TABLES
from astra_py.results.ideal import ideal_times
from astra_py.results.pages import page
from astra_py.results.record import RunRecord
from astra_py.results.result import Result
from result_cases import DELAY_PS, LATENCY_PS, ReferenceEngine, local_record, one_collective, with_columns

US = 10**6


@pytest.fixture(scope="module")
def record() -> RunRecord:
    return one_collective(ranks=4, size_bytes=40_000)


@pytest.fixture(scope="module")
def result(record: RunRecord) -> Result:
    return build_result(record, {"digest": "0" * 64})


@pytest.mark.parametrize("table", list(TABLES))
def test_every_table_has_the_declared_columns_and_types(result: Result, table: str) -> None:
    frame = getattr(result, table)
    assert list(frame.columns) == list(result.columns(table)) == [column.name for column in TABLES[table]]
    assert [str(dtype) for dtype in frame.dtypes] == [column.dtype for column in TABLES[table]]
    rows = {
        "iterations": 1,
        "collectives": 1,
        "phases": 2,
        "operations": 4,
        "messages": 24,
        "pairs": 4,
        "flows": 0,
        "links": 8,
    }
    rows |= {"flow_sizes": 0, "link_bins": 0, "congestion": 0}
    rows |= {"queues": 4, "pauses": 0, "host_cores": 0, "staging": 0, "sockets": 0, "plan": 0, "plan_ranks": 0}
    assert len(frame) == rows[table]


def test_an_unknown_table_is_named_with_those_there_are(result: Result) -> None:
    with pytest.raises(KeyError, match="no table 'packets'; it has iterations, collectives"):
        result.columns("packets")


def test_the_row_of_a_collective(record: RunRecord, result: Result) -> None:
    row = result.collectives.iloc[0]
    assert (row["kind"], row["algorithm"], row["ranks"], row["size_bytes"]) == ("all_reduce", "ring", 4, 40_000)
    assert row["sent_bytes"] == 60_000
    assert row["time_ps"] == record.end_ps == int(record.columns.message_delivered_ps.max())
    assert row["algbw_GBps"] == pytest.approx(40_000 / record.end_ps * 1000)
    assert row["busbw_GBps"] == pytest.approx(1.5 * row["algbw_GBps"])
    assert row["ideal_time_ps"] == 60_000 * 80
    assert row["bottleneck_link"] == "rank0 -> switch"
    # here the engine that times collectives alone is the one that ran
    assert row["analytic_time_ps"] == row["time_ps"]
    assert row["ratio"] == 1.0
    assert row["exposed_us"] == row["time_us"] == row["time_ps"] / 1e6
    assert row["skew_us"] == 0.0


def test_ideal_time_takes_the_most_loaded_link() -> None:
    record = one_collective("sendrecv", "direct", ranks=2, size_bytes=1_000_001)
    table = collectives_table(record)
    assert table["ideal_time_ps"].tolist() == [80 * 1_000_001]
    assert table["ideal_time_us"][0] <= table["time_us"][0] - (2 * DELAY_PS + LATENCY_PS) / 1e6


def test_ideal_time_is_each_collectives_own_where_queue_pairs_differ() -> None:
    # two sends, on two queue pairs; whose ways differ
    record = one_collective("sendrecv", "direct", ranks=2, qps_per_peer=2)
    schedule, columns = record.schedule, record.columns
    twice = {name: np.repeat(getattr(columns, name), 2) for name in vars(columns) if name.startswith("message_")} | {
        "message_instance": np.array([0, 1], dtype=np.int32)
    }
    two = replace(
        schedule,
        instance_template=np.zeros(2, dtype=np.int32),
        instance_group=np.zeros(2, dtype=np.int32),
        instance_priority=np.zeros(2, dtype=np.uint8),
        instance_call=np.zeros(2, dtype=np.int32),
    )

    def paths(platform: Any, seed: int, src: Any, dst: Any, qp: Any) -> Any:
        return np.arange(len(qp) + 1), np.where(qp == 0, 0, 2).astype(np.int32)

    time, channel = ideal_times(with_columns(replace(record, schedule=two, route_paths=paths), **twice))
    assert channel.tolist() == [0, 2]
    assert time.tolist() == [40_000 * 80] * 2


def test_collectives_alone_have_the_runs_endpoint_delay_and_seed() -> None:
    seen: list[EngineOptions] = []

    class Spy(ReferenceEngine):
        def run(self, *subject: Any) -> Any:
            seen.append(subject[3])
            return super().run(*subject)

    record = replace(one_collective(), seed=7, endpoint_delay_ps=12, analytic=Spy())
    slower = collectives_table(record)["analytic_time_ps"][0]
    assert [(options.seed, options.endpoint_delay_ps) for options in seen] == [(7, 12)]
    assert slower > record.end_ps


def test_exposed_time_is_that_of_the_lowest_rank_among_equals() -> None:
    rows = [
        (1, OuterKind.COLLECTIVE, 0, 0, 12 * US),
        (0, OuterKind.COMPUTE, 0, 0, 9 * US),
        (0, OuterKind.COLLECTIVE, 0, 0, 12 * US),
    ]
    assert collectives_table(local_record(rows, ranks=2))["exposed_us"].tolist() == [3.0]


def test_exposed_time_of_a_collective_is_that_of_the_rank_that_ends_last() -> None:
    rows = [
        (0, OuterKind.COMPUTE, 0, 0, 9 * US),
        (0, OuterKind.COLLECTIVE, 0, 0, 12 * US),
        (1, OuterKind.COMPUTE, 0, 5 * US, 8 * US),
        (1, OuterKind.COLLECTIVE, 0, 2 * US, 14 * US),
    ]
    table = collectives_table(local_record(rows, ranks=2))
    assert table["exposed_us"].tolist() == [9.0]
    assert table["start_us"].tolist() == [0.0]
    assert table["time_us"].tolist() == [14.0]
    assert table["skew_us"].tolist() == [2.0]


def test_messages_keep_every_picosecond(record: RunRecord, result: Result) -> None:
    messages = result.messages
    for moment in ("posted", "sent", "delivered", "acked"):
        exact = getattr(record.columns, f"message_{moment}_ps")
        assert messages[f"{moment}_ps"].tolist() == exact.tolist()
        assert np.rint(messages[f"{moment}_us"] * 1e6).astype(int).tolist() == exact.tolist()
    assert sorted(messages["phase"].unique()) == list(range(len(messages["phase"].unique())))


def test_pairs_add_up_to_the_messages(result: Result) -> None:
    pairs, messages = result.pairs, result.messages
    assert pairs[["src", "dst"]].to_numpy().tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]
    assert pairs["messages"].tolist() == [6] * 4
    assert pairs["size_bytes"].sum() == messages["size_bytes"].sum() == 240_000
    assert pairs["packets"].tolist() == [60] * 4
    took = (messages["delivered_ps"] - messages["posted_ps"])[messages["src"] == 2]
    assert pairs["max_message_us"][2] == took.max() / 1e6
    assert pairs["mean_message_us"][2] == pytest.approx(took.mean() / 1e6)
    assert pairs["last_delivered_us"].max() == messages["delivered_us"].max()


def test_links_are_named_by_their_ends(record: RunRecord, result: Result) -> None:
    links = result.links
    assert links[["from", "to"]].to_numpy().tolist()[:2] == [["rank0", "switch"], ["switch", "rank0"]]
    assert links["line_bytes"].sum() == record.columns.channel_line_bytes.sum()
    np.testing.assert_allclose(links["utilisation_percent"], 100 * links["line_bytes"] * 80 / record.end_ps)


def test_edges_between_messages_take_local_work_as_time() -> None:
    record = one_collective(ranks=3)
    (template,) = record.schedule.templates
    after, before, on, delay = message_edges(template)
    assert template.is_send[after].all()
    assert template.is_send[before].all()
    # each message but the first of each rank follows the one that its sender got before
    assert len(after) == 3 * (2 * 2 - 1)
    assert (template.dst[before] == template.src[after]).all()
    assert set(on.tolist()) == {EdgeOn.DELIVERED}
    assert set(delay.tolist()) == {0}


def test_local_work_between_two_messages_is_time_between_them() -> None:
    system = SystemModel(local_memory_bandwidth_bps=8 * 10**12)
    build = ScheduleBuilder("all_reduce", "two_steps", ranks=2, system=system)
    first = build.send(0, 1, 1000)
    summed = build.reduce(1, 1000, first)
    again = build.reduce(1, 2000, summed)
    build.send(1, 0, 1000, again)
    after, before, on, delay = (column.tolist() for column in message_edges(build.build()))
    assert (after, before, on, delay) == ([3], [0], [EdgeOn.DELIVERED], [3 * 1000 + 3 * 2000])


def test_the_documentation_has_every_table_and_column() -> None:
    docs = Path(__file__).parents[2] / "docs"
    overview = (docs / "results.md").read_text()
    checks = set(re.findall(r"`(\w+)`", overview.split("## Checks")[1].split("**Losses.**")[0]))
    for table in TABLES:
        text = (docs / "tables" / f"{table}.md").read_text()
        assert text == page(table), f"{table}: astra_py.results.pages.write_pages('docs/tables') writes it anew"
        assert f"(tables/{table}.md)" in overview, table
        held_by = text.split("## Held by")[1]
        assert set(re.findall(r"`(\w+)`", held_by)) - {"flows_slowed"} <= checks, table
