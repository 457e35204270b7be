# SPDX-License-Identifier: GPL-2.0-only
"""What 1 MiB of each collective puts on the wire, format by format: as its own program defines it (docs/formats.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap

MIB = 2**20
RANKS = 4

#: Bytes that each of four ranks sends for "1 MiB" of a format: its own program's ring, and direct all-to-all.
ASTRA_TEXT = {
    "ALLREDUCE": 2 * 3 * MIB // 4,
    "ALLTOALL": 3 * MIB // 4,
    "ALLGATHER": 3 * MIB,
    "REDUCESCATTER": 3 * MIB // 4,
}


def _sent(run: ap.Run) -> list[int]:
    """Payload that each rank sent."""
    messages = run.run().messages
    sent = messages.groupby("src").size_bytes.sum()
    return [int(sent[rank]) for rank in range(RANKS)]


@pytest.mark.parametrize("collective", ASTRA_TEXT)
@pytest.mark.parametrize("kind", ["DATA", "MICRO"])
def test_astra_text(tmp_path: Path, collective: str, kind: str) -> None:
    path = tmp_path / "job.txt"
    path.write_text(f"{kind}\n1\nlayer -1 0 NONE 0 0 NONE 0 0 {collective} {MIB} 0\n")
    keys = {"file": str(path), "iterations": 1}
    run = ap.load({"platform": {"ranks": RANKS}, "workload": keys})
    assert _sent(run) == [ASTRA_TEXT[collective]] * RANKS


def test_hybrid_groups_are_machines(tmp_path: Path) -> None:
    path = tmp_path / "job.txt"
    path.write_text(f"HYBRID_DATA_MODEL\n1\nlayer -1 0 ALLREDUCE {MIB} 0 NONE 0 0 ALLREDUCE {2 * MIB} 0\n")
    platform = {"kind": "zionex", "nodes": 2, "accelerators_per_node": 2}
    messages = ap.load({"platform": platform, "workload": {"file": str(path), "iterations": 1}}).run().messages
    is_inside = messages.src // 2 == messages.dst // 2
    assert messages.size_bytes[is_inside].sum() == RANKS * MIB
    assert messages.size_bytes[~is_inside].sum() == RANKS * 2 * MIB


def test_flow_lists(tmp_path: Path) -> None:
    path = tmp_path / "flow.txt"
    path.write_text(f"4\n0 1 3 100 {MIB} 0\n1 2 3 100 {MIB} 0\n2 3 3 100 {MIB} 0\n3 0 3 100 {MIB} 0\n")
    run = ap.load({"platform": {"ranks": RANKS}, "workload": {"file": str(path)}})
    assert _sent(run) == [MIB] * RANKS


def test_a_workload_that_puts_nothing_on_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "job.txt"
    path.write_text("MODEL\n1\nlayer -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 4096 0\n")
    run = ap.load({"platform": {"ranks": RANKS}, "workload": {"file": str(path)}})
    assert any("which MODEL never issues" in warning for warning in run.warnings)
    with pytest.raises(ap.SimulationError) as caught:
        run.run()
    assert (caught.value.reason, caught.value.exit_code) == ("no_work", 3)


def test_a_flow_list_without_flows_has_no_work(tmp_path: Path) -> None:
    path = tmp_path / "flow.txt"
    path.write_text("0\n")
    workload = {"file": str(path), "format": "hpcc_flows"}
    for more in ({}, {"jobs": {"a": {"ranks": "1-2"}}}):
        with pytest.raises(ap.SimulationError) as caught:
            ap.load({"platform": {"ranks": RANKS}, "workload": workload} | more).run()
        assert (caught.value.reason, caught.value.exit_code) == ("no_work", 3)
    with pytest.raises(ap.WorkloadError, match="the job has no node"):
        ap.load({"platform": {"ranks": RANKS}, "workload": workload | {"keep_iterations": "0"}}).run()
