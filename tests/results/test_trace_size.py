# SPDX-License-Identifier: GPL-2.0-only
"""An iteration of 128 ranks as a timeline that a viewer opens, whatever its tables keep."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.results import Result, write_trace
from perfetto_cases import read_timeline

JOB = Path(__file__).resolve().parents[2] / "workloads" / "dlrm_a_net_128.toml"


#: Of the packet engine with little to send: as many messages, and links.
ENGINES = ["flow", pytest.param("packet", marks=pytest.mark.slow)]
KEYS = ("workload.iterations=1", "results.max_rows=none")


@pytest.fixture(params=ENGINES)
def result(request: pytest.FixtureRequest) -> Result:
    engine = str(request.param)
    scale = () if engine == "flow" else ("workload.comm_scale=0.01",)
    return ap.load(JOB, f"engine={engine}", *KEYS, *scale).run()


def test_it_is_below_50_mb_and_says_what_it_leaves_out(result: Result, tmp_path: Path) -> None:
    written = write_trace(result, tmp_path / "run.json")
    assert written.bytes < 50_000_000
    timeline = read_timeline(written.path)
    assert timeline.metadata["left_out"] == list(written.left_out)
    drawn = {
        "messages": sum(each.track.startswith("NIC sends") for each in timeline.slices),
        "arrows": len(timeline.arrows),
        "operations": sum("operation" in each.args for each in timeline.slices),
        "collectives": len(timeline.of("run", "collectives")),
    }
    there = {"messages": len(result.messages), "arrows": len(result.messages)}
    there |= {"operations": len(result.operations), "collectives": len(result.collectives)}
    assert there["messages"] > 100_000
    for name, count in there.items():
        line = next((line for line in written.left_out if line.startswith(f"{name}: ")), None)
        assert (line is not None) == (drawn[name] < count), name
        assert line is None or f" {drawn[name]:,} of {count:,} " in line
    # each rank, and what all of them do, is there
    assert [name for name in timeline.processes if name.startswith("rank ")] == [f"rank {rank}" for rank in range(128)]
    assert drawn["operations"] == there["operations"]
