# SPDX-License-Identifier: GPL-2.0-only
"""The table of phases: against figures by hand, and against plain Python over the table of messages."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.results.build import build_result
from astra_py.results.result import Result
from result_cases import one_collective

ZIONEX = Path(__file__).parents[2] / "workloads" / "zionex_2x8.toml"
FLAT = ("collective.all_reduce=ring", "collective.all_to_all_v=direct", "collective.chunks=2")


@pytest.fixture(scope="module")
def result() -> Result:
    return ap.load(ZIONEX, "engine=analytic").run()


@pytest.mark.parametrize("changes", [(), FLAT], ids=["hierarchical", "flat"])
def test_every_row_is_what_its_messages_say(changes: tuple[str, ...]) -> None:
    run = ap.load(ZIONEX, "engine=analytic", "platform.nodes=3", "platform.accelerators_per_node=4", *changes).run()
    sent: dict[tuple[int, int, str], dict[int, int]] = defaultdict(lambda: dict.fromkeys(range(12), 0))
    posted, delivered = defaultdict(list), defaultdict(list)
    for message in run.messages.itertuples():
        level = "inside" if message.src // 4 == message.dst // 4 else "between"
        key = (message.collective, message.phase, level)
        sent[key][message.src] += message.size_bytes
        posted[key].append(message.posted_ps)
        delivered[key].append(message.delivered_ps)
    keys = sorted(sent, key=lambda key: (*key[:2], key[2] != "inside"))
    phases = run.phases
    assert phases[["collective", "level"]].to_numpy().tolist() == [[key[0], key[2]] for key in keys]
    for row, key in zip(phases.itertuples(), keys, strict=True):
        rank_bytes = list(sent[key].values())
        assert (row.ranks, row.messages, row.size_bytes) == (12, len(posted[key]), sum(rank_bytes))
        assert (row.bytes_per_rank_max, row.bytes_per_rank_min) == (max(rank_bytes), min(rank_bytes))
        assert (row.start_ps, row.end_ps) == (min(posted[key]), max(delivered[key]))
        assert row.time_ps == row.end_ps - row.start_ps
        assert (row.start_us, row.end_us, row.time_us) == (row.start_ps / 1e6, row.end_ps / 1e6, row.time_ps / 1e6)
        call = run.collectives.iloc[row.collective]
        assert (row.name, row.kind, row.iteration) == (call["name"], call["kind"], call["iteration"])


def test_a_hierarchical_all_reduce_sends_seven_eighths_inside_and_an_eighth_between(result: Result) -> None:
    table = result.collectives
    (largest,) = table[(table["kind"] == "all_reduce") & (table["iteration"] == 1)].nlargest(1, "size_bytes").index
    size = table["size_bytes"][largest]
    phases = result.phases[result.phases["collective"] == largest]
    columns = ["phase", "level", "bytes_per_rank_max", "bytes_per_rank_min"]
    assert phases[columns].to_numpy().tolist() == [
        ["reduce_scatter inside", "inside", 7 * size // 8, 7 * size // 8],
        ["all_reduce between", "between", size // 8, size // 8],
        ["all_gather inside", "inside", 7 * size // 8, 7 * size // 8],
    ]


def test_without_machines_all_is_between() -> None:
    record = one_collective(ranks=4, size_bytes=40_000)
    phases = build_result(record, {"digest": "0" * 64}).phases
    columns = ["phase", "level", "messages", "size_bytes", "bytes_per_rank_max", "bytes_per_rank_min"]
    assert phases[columns].to_numpy().tolist() == [
        [phase, "between", 12, 120_000, 30_000, 30_000] for phase in ("reduce_scatter", "all_gather")
    ]
    assert phases["end_ps"].max() == record.end_ps


def test_the_report_has_the_phases_of_the_last_iteration_and_the_imbalance(result: Result) -> None:
    report = result.report()
    block = report.partition("phases of iteration 1\n")[2].partition("\n\n")[0].splitlines()
    assert block[0].split() == ["collective", "phase", "level", "time", "bytes/rank", "max/min"]
    # three exchanges of two phases, seven all-reduces of three, two of which are equal
    assert len(block) == 2 + 3 * 2 + 6 * 3 + 2
    at = next(i for i, line in enumerate(block) if line.startswith("all_reduce 15.75MiB"))
    assert [line.split()[-2] for line in block[at : at + 3]] == ["14,450,688", "2,064,384", "14,450,688"]
    assert block[-1].startswith("all_to_all_v, bytes that a rank sends, max/min over ranks: ")
    ratios = re.findall(r"(?:inside|between) [\d.]+ to ([\d.]+)", block[-1])
    assert ratios == ["2.75", "2.75"]
    assert max(map(len, report.splitlines())) <= 100


def test_equal_collectives_share_their_rows_and_show_their_mean(result: Result) -> None:
    phases = result.phases
    wanted = phases[(phases["iteration"] == 1) & (phases["phase"] == "all_reduce between")]
    times = wanted[wanted["bytes_per_rank_max"] == 512 * 1024 // 8]["time_us"]
    assert len(times) == 2
    lines = result.report().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("all_reduce 512KiB x 2  reduce_scatter"))
    assert lines[at + 1].split() == ["all_reduce", "between", "between", f"{times.mean():.2f}", "65,536", "1.00"]


def test_where_ranks_send_nothing_there_is_no_ratio() -> None:
    # a ring over two machines leaves each by one rank
    report = ap.load(ZIONEX, "engine=analytic", "workload.iterations=1", *FLAT[:1]).run().report()
    row = next(line for line in report.splitlines() if re.match("all_reduce 15.75MiB +reduce_scatter", line))
    assert row.split()[3] == "inside"
    assert row.split()[-1] == "-"


def test_a_flat_run_prints_no_phases() -> None:
    run = {"setup_cpu_s": 0.0, "simulation_cpu_s": 0.0, "peak_rss_bytes": 0}
    report = build_result(one_collective(), {"title": "", "digest": "0" * 64, "notes": [], "run": run}).report()
    assert "phases of" not in report
    assert "max/min over ranks" not in report
