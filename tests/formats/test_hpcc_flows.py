# SPDX-License-Identifier: GPL-2.0-only
"""HPCC's flow lists: exact starts, node ids, counts, refusals, and flows that are run on a platform from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.errors import WorkloadError
from astra_py.formats import HPCC_FLOWS, Options, read, recognise
from formats.mutations import FEW, MANY, survives

FLOWS = """\
3
2 3 3 100 1000000 2.000000001
0 3 3 100 4000 2
3 0 3 101 0 0.000000000001
"""
TOPOLOGY = "4 1 3\n1\n0 1 100Gbps 1us 0\n2 1 100Gbps 1us 0\n3 1 100Gbps 1us 0\n"


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    path = tmp_path / "flow.txt"
    path.write_text(FLOWS)
    return path


def test_starts_are_kept_exactly(flows: Path) -> None:
    assert recognise(flows) is HPCC_FLOWS
    content = read(flows).content
    assert content.start_ps.tolist() == [2 * 10**12 + 1000, 2 * 10**12, 1]
    assert (content.src.tolist(), content.dst.tolist()) == ([2, 0, 3], [3, 3, 0])
    assert content.size_bytes.tolist() == [1_000_000, 4000, 0]


def test_more_lines_than_declared_are_counted(flows: Path) -> None:
    flows.write_text(FLOWS + "0 2 3 100 5 1\n" * 4)
    document = read(flows)
    assert len(document.content) == 3
    assert document.warnings == (f"{flows}, line 1: 3 flows are declared and run, and 4 more lines are not",)
    with pytest.raises(WorkloadError, match="4 more lines are not"):
        read(flows, options=Options(is_strict=True))


BAD = [
    ("3\n", "4\n", "line 1: 4 flows are declared and 3 follow"),
    ("3\n2", "3 1\n2", "line 1: 2 fields, and 1 are needed: flows"),
    ("2 3 3 100", "2 2 3 100", "line 2: the flow goes from node 2 to itself"),
    ("2 3 3 100", "2 3 8 100", "line 2: field 3, pg, is '8'; allowed: a whole number from 0 to 7"),
    ("1000000 2.0", "-1 2.0", "line 2: field 5, bytes, is '-1'"),
    ("4000 2", "4000 -2", "line 3: field 6, start, is -2 s; allowed: whole picoseconds from 0"),
    ("0.000000000001", "0.0000000000015", "line 4: field 6, start, is 0.0000000000015 s"),
    ("4000 2\n", "4000\n", "line 3: 5 fields, and 6 are needed: src dst pg dport bytes start"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_wrong_is_said_with_its_line(flows: Path, old: str, new: str, message: str) -> None:
    flows.write_text(FLOWS.replace(old, new, 1))
    with pytest.raises(WorkloadError, match=message):
        read(flows, "hpcc_flows")


def _run(tmp_path: Path, flows: Path) -> ap.Run:
    topology = tmp_path / "topology.txt"
    topology.write_text(TOPOLOGY)
    workload = {"file": str(flows)}
    return ap.load({"platform": {"kind": "file", "file": str(topology)}, "workload": workload})


def test_flows_name_nodes_of_a_platform_from_a_file(tmp_path: Path, flows: Path) -> None:
    run = _run(tmp_path, flows)
    messages = run.run().messages.sort_values("posted_ps")
    # hosts 0, 2 and 3 are ranks 0, 1 and 2
    assert messages[["src", "dst"]].to_numpy().tolist() == [[2, 0], [0, 2], [1, 2]]
    assert messages.posted_ps.tolist() == [1, 2 * 10**12, 2 * 10**12 + 1000]
    assert any("node ids of the platform" in note for note in run.notes)


def test_a_flow_of_a_switch_is_refused(tmp_path: Path, flows: Path) -> None:
    flows.write_text(FLOWS.replace("0 3 3 100", "0 1 3 100"))
    with pytest.raises(WorkloadError, match=r"flow 1, 0 to 1: node 1 is no host of the platform; allowed: its 3 hosts"):
        _run(tmp_path, flows).run()


def test_what_is_left_over_is_a_warning_of_the_run(tmp_path: Path, flows: Path) -> None:
    flows.write_text(FLOWS + "0 2 3 100 5 1\n")
    assert any("1 more lines are not" in warning for warning in _run(tmp_path, flows).warnings)


def test_scales_and_iterations(flows: Path) -> None:
    def run(**keys: object) -> ap.Run:
        return ap.load({"platform": {"ranks": 4}, "workload": {"file": str(flows), **keys}})

    assert [call.flows.total_bytes for call in run(comm_scale=0.5).trace.calls] == [502_000]
    with pytest.raises(WorkloadError, match=r"a size of 1000000, scaled by 1e\+15, is above"):
        _ = run(comm_scale=1e15).trace
    assert not any("run once" in warning for warning in run().warnings)
    assert any("a flow list is run once" in warning for warning in run(iterations=3).warnings)


def _damaged(tmp_path: Path, flows: Path, count: int) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    survives(HPCC_FLOWS, [flows], folder, count)


def test_it_survives_damage(tmp_path: Path, flows: Path) -> None:
    _damaged(tmp_path, flows, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_survives_much_damage(tmp_path: Path, flows: Path) -> None:
    _damaged(tmp_path, flows, MANY)
