# SPDX-License-Identifier: GPL-2.0-only
"""PyTorch execution traces: what their collectives become, what waits for what, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astra_py as ap
from astra_py.errors import WorkloadError
from astra_py.formats import PYTORCH_ET, Kind, read, recognise
from astra_py.workloads import Trace
from formats.execution_traces import comms, later, node, operator, tensor, wait, write_trace
from formats.mutations import FEW, MANY, survives

LATER = "1.1.1-chakra.0.0.4"

#: The uneven exchange of a DLRM's indices, as rank 0 of 8 sends it, in elements of 4 bytes.
SPLITS = [96, 224, 288, 1664, 592, 96, 192, 240]


def scenario(path: Path, ranks: int, **workload: Any) -> dict[str, Any]:
    return {"platform": {"ranks": ranks}, "workload": {"file": str(path), "iterations": 1, **workload}}


def trace_of(path: Path, ranks: int, **workload: Any) -> Trace:
    return ap.load(scenario(path, ranks, **workload)).trace


def write_job(folder: Path, *files: list[dict[str, Any]], schema: str = "1.0.1") -> Path:
    for rank, nodes in enumerate(files):
        write_trace(folder / f"trace_{rank}.json.gz", nodes, schema)
    return folder / "trace_"


def uneven(own: int = 96, others: int = 96) -> dict[str, Any]:
    """The uneven exchange, and what rank 0 receives."""
    receives = [own] + [others] * 7
    return comms(
        5,
        "all_to_allv",
        150,
        reads=[tensor(10, sum(SPLITS))],
        writes=[tensor(11, sum(receives))],
        splits=(SPLITS, receives),
        type="Tensor(int)",
    )


def of_rank_0(trace: Trace) -> list[tuple[str, list[str]]]:
    """Each node of rank 0 by name, and what it waits for."""
    rows = trace.to_pandas()
    names = rows["name"].tolist()
    return [
        (name, sorted(names[i] for i in after))
        for name, rank, after in zip(names, rows["rank"], rows["after"], strict=True)
        if rank == 0
    ]


def test_an_uneven_exchange_of_one_file_of_eight_runs_where_all_ranks_are_the_same(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "dlrm_0.json.gz", [uneven()])
    assert recognise(path) is PYTORCH_ET
    with pytest.raises(WorkloadError, match=r"dlrm_0.json.gz: 1 file for the platform's 8 ranks; missing is"):
        trace_of(path, 8)
    run = ap.load(scenario(path, 8, missing_ranks="same"))
    (call,) = run.trace.calls
    assert call.kind == "all_to_all_v"
    assert call.matrix is not None
    assert call.matrix.tolist() == [[4 * size for size in SPLITS]] * 8
    messages = run.run().messages
    # what a rank has for itself never travels
    assert len(messages) == 8 * 7
    sent = messages.groupby(["src", "dst"])["size_bytes"].sum()
    assert sent.max() / sent.min() == pytest.approx(1664 / 96)
    assert sent.loc[0].to_dict() == {dst: 4 * SPLITS[dst] for dst in range(1, 8)}


@pytest.mark.parametrize(("own", "others", "said"), [(97, 96, "receives 388 B from member 0"), (96, 95, "member 1")])
def test_the_same_must_not_contradict_what_the_file_receives(tmp_path: Path, own: int, others: int, said: str) -> None:
    path = write_trace(tmp_path / "dlrm_0.json", [uneven(own, others)])
    with pytest.raises(WorkloadError, match=rf"dlrm_0.json, node 5 .*{said}.* sends it 384 B"):
        trace_of(path, 8, missing_ranks="same")


def test_the_rank_is_in_the_name_of_the_file(tmp_path: Path) -> None:
    # of rank 3, everyone sends 1664 elements to it
    receives = [1664] * 8
    exchange = comms(
        5, "all_to_allv", reads=[tensor(1, sum(SPLITS))], writes=[tensor(2, 8 * 1664)], splits=(SPLITS, receives)
    )
    path = write_trace(tmp_path / "dlrm_3.json", [exchange])
    assert trace_of(path, 8, missing_ranks="same").calls[0].matrix is not None
    with pytest.raises(WorkloadError, match=r"dlrm_0.json, node 5"):
        trace_of(path.rename(tmp_path / "dlrm_0.json"), 8, missing_ranks="same")


def test_splits_of_all_ranks_must_agree(tmp_path: Path) -> None:
    def exchange(sends: list[int], receives: list[int]) -> list[dict[str, Any]]:
        sizes = [tensor(1, 2 * sum(sends))], [tensor(2, 2 * sum(receives))]
        return [comms(5, "all_to_allv", reads=sizes[0], writes=sizes[1], splits=(sends, receives))]

    path = write_job(tmp_path, exchange([1, 2], [1, 3]), exchange([3, 4], [2, 4]))
    (call,) = trace_of(path, 2).calls
    assert call.matrix is not None
    # splits count rows of a tensor; here a row has two elements of 4 bytes
    assert call.matrix.tolist() == [[8, 16], [24, 32]]
    write_job(tmp_path, exchange([1, 2], [1, 3]), exchange([3, 4], [3, 3]))
    with pytest.raises(WorkloadError, match=r"trace_1.json.gz, node 5 .* receives 24 B from member 0 .*16 B"):
        trace_of(path, 2)


MIB = 2**18  # elements of 4 bytes


@pytest.mark.parametrize(
    ("name", "elements_in", "elements_out", "kind", "sent"),
    [
        # nccl: an all-gather's input and a reduce-scatter's output are a rank's part, all else is the whole buffer
        ("_allgather_base", MIB, 4 * MIB, "all_gather", 3 << 20),
        ("all_gather", MIB, 4 * MIB, "all_gather", 3 << 20),
        ("_reduce_scatter_base", 4 * MIB, MIB, "reduce_scatter", 3 << 20),
        ("reduce_scatter", MIB, MIB // 4, "reduce_scatter", 3 << 18),
        ("all_to_all", MIB, MIB, "all_to_all", 3 << 18),
        ("allreduce", MIB, MIB, "all_reduce", 6 << 18),
    ],
)
@pytest.mark.parametrize("engine", ["packet", "analytic"])
def test_one_mebibyte_on_the_wire_is_what_the_replay_sends(
    tmp_path: Path, engine: str, name: str, elements_in: int, elements_out: int, kind: str, sent: int
) -> None:
    nodes = [comms(5, name, reads=[tensor(1, elements_in)], writes=[tensor(2, elements_out)])]
    path = write_job(tmp_path, *[nodes] * 4)
    result = ap.load(scenario(path, 4) | {"engine": engine}).run()
    assert result.collectives["kind"].tolist() == [kind]
    assert result.messages.groupby("src")["size_bytes"].sum().tolist() == [sent] * 4


def test_roots_and_messages_are_members_of_the_group(tmp_path: Path) -> None:
    groups = json.dumps([{"pg_name": "7", "ranks": [1, 3], "group_size": 2, "group_count": 2}])
    init = node(2, "## process_group:init ##", inputs=[groups])

    def file(rank: int) -> list[dict[str, Any]]:
        one = [tensor(1, 10)]
        everyone = comms(5, "broadcast", reads=one, writes=one, group=["0", "default_pg"], rank=2)
        if rank not in (1, 3):
            return [init, everyone]
        peer = comms(7, "send" if rank == 1 else "recv", reads=one, writes=one, group=["7", ""], rank=int(rank == 1))
        return [init, everyone, comms(6, "reduce", reads=one, writes=one, group=["7", ""], rank=1), peer]

    calls = trace_of(write_job(tmp_path, *map(file, range(4)), schema="1.0.3-chakra.0.0.4"), 4).calls
    assert [(call.kind, call.group, call.size_bytes) for call in calls] == [
        ("broadcast", (2, 0, 1, 3), 40),
        ("reduce", (3, 1), 40),
        ("sendrecv", (1, 3), 40),
    ]


def test_attributes_of_later_schemas_go_first(tmp_path: Path) -> None:
    def file(rank: int) -> list[dict[str, Any]]:
        received = [2, 4][rank // 2]
        said = later(
            comms(5, "something", reads=[], writes=[], group=["9", ""]),
            collective_name="all_to_allv",
            dtype="Half",
            in_msg_nelems=6,
            out_msg_nelems=2 * received,
            in_split_size="[2,4]",
            out_split_size=f"[{received},{received}]",
            pg_name="3",
            pg_size=2,
            global_rank_start=rank % 2,
            global_rank_stride=2,
        )
        return [said]

    calls = trace_of(write_job(tmp_path, *map(file, range(4)), schema=LATER), 4).calls
    assert [(call.group, call.dtype) for call in calls] == [((0, 2), "fp16"), ((1, 3), "fp16")]
    assert all(call.matrix is not None and call.matrix.tolist() == [[4, 8], [4, 8]] for call in calls)


def test_groups_by_first_rank_stride_and_size(tmp_path: Path) -> None:
    def file(rank: int) -> list[dict[str, Any]]:
        said = comms(5, "allreduce", reads=[tensor(1, 8)], writes=[tensor(1, 8)], group=["3", ""])
        attributes = {
            "pg_name": str(rank % 2 + 3),
            "pg_size": 2,
            "global_rank_start": rank % 2,
            "global_rank_stride": 2,
        }
        return [later(said, **attributes)]

    assert {call.group for call in trace_of(write_job(tmp_path, *map(file, range(4)), schema=LATER), 4).calls} == {
        (0, 2),
        (1, 3),
    }

    def by_place(rank: int) -> list[dict[str, Any]]:
        group = [str(rank % 2 + 3), ""]
        return [comms(5, "allreduce", reads=[tensor(1, 8)], writes=[], group=group, beyond=(rank % 2, 2, 2))]

    path = write_job(tmp_path, *map(by_place, range(4)), schema="1.0.4-chakra.0.0.4")
    assert {call.group for call in trace_of(path, 4).calls} == {(0, 2), (1, 3)}


def test_compute_goes_on_beside_a_collective_until_its_wait(tmp_path: Path) -> None:
    def timed(id: int, name: str, **rest: Any) -> dict[str, Any]:
        return operator(id, name, **rest) | {"exclusive_dur": 2.5, "cat": "kernel"}

    nodes = [
        timed(2, "bottom_0"),
        comms(3, "all_to_all", 1, reads=[tensor(1, 8)], writes=[tensor(2, 8)]),
        timed(4, "bottom_1"),
        wait(5, 1),
        timed(6, "interaction"),
        comms(7, "allreduce", 2, reads=[tensor(3, 8)], writes=[tensor(3, 8)]),
        timed(8, "last"),
    ]
    trace = trace_of(write_job(tmp_path, nodes, nodes), 2)
    assert of_rank_0(trace) == [
        ("bottom_0", []),
        ("all_to_all", ["bottom_0"]),
        ("bottom_1", ["bottom_0"]),
        ("interaction", ["all_to_all", "bottom_1"]),
        # one communicator has one stream
        ("allreduce", ["all_to_all", "interaction"]),
        ("last", ["interaction"]),
    ]
    assert trace.duration_ps.max() == 2_500_000
    assert set(trace.to_pandas().query("kind == 'compute'")["stream"]) == {"compute"}


def test_reading_a_result_is_waiting_for_it(tmp_path: Path) -> None:
    def nodes(*between: dict[str, Any]) -> list[dict[str, Any]]:
        reads = operator(8, reads=[[tensor(9, 4, storage=77)]]) | {"exclusive_dur": 1}
        exchange = comms(3, "all_to_all", 1, reads=[tensor(1, 8)], writes=[tensor(2, 8, storage=77)])
        return [exchange, *between, reads]

    waits = trace_of(write_job(tmp_path, *[nodes()] * 2), 2)
    assert of_rank_0(waits) == [("all_to_all", []), ("aten::mm", ["all_to_all"])]
    # other memory at the same place
    reused = operator(4, "aten::empty", writes=[tensor(5, 4, storage=77)])
    assert of_rank_0(trace_of(write_job(tmp_path, *[nodes(reused)] * 2), 2))[1] == ("aten::mm", [])


def test_a_barrier_holds_up_all_and_is_not_done_twice(tmp_path: Path) -> None:
    nodes = [
        comms(3, "barrier", 1, group=["0", "default_pg"]),
        comms(4, "allreduce", 1, reads=[tensor(1, 1)], writes=[tensor(1, 1)], group=["0", ""], parent=3),
        operator(5) | {"exclusive_dur": 1},
        comms(6, "init", 1, group=["0", ""]),
        wait(7, 12345, ["0", ""]),
    ]
    path = write_job(tmp_path, nodes, nodes, schema="1.0.3-chakra.0.0.4")
    trace = trace_of(path, 2)
    assert of_rank_0(trace) == [("barrier", []), ("aten::mm", ["barrier"])]
    assert [call.kind for call in trace.calls] == ["barrier"]
    assert sorted(read(path).ignored) == [
        "collectives within another one (2)",
        "set-ups of process groups (2)",
        "waits for what began before the trace (2)",
    ]


def test_what_has_no_time_is_said(tmp_path: Path) -> None:
    nodes = [operator(2), operator(3), comms(4, "allreduce", reads=[tensor(1, 8)], writes=[tensor(1, 8)])]
    document = read(write_job(tmp_path, nodes), kinds=(Kind.WORKLOAD,))
    assert document.summary[0].endswith("1 file, 2 operators")
    assert document.summary[1].startswith("no operator has a time")
    assert document.summary[2] == "1 node of all_reduce: 32 B"


ONE = [tensor(1, 8)]

BAD: dict[str, tuple[list[dict[str, Any]], str]] = {
    "two ids": ([node(3, "a"), node(3, "b")], r"node 3 \('b'\): has the id of another node, 'a'"),
    "a name": (
        [comms(3, "all_reduc", reads=ONE, writes=ONE)],
        r"node 3 .*: unknown collective 'all_reduc'.*'all_reduce'",
    ),
    "short": ([node(3, "record_param_comms", inputs=[1, 2])], r"node 3 .*: its inputs are \[1, 2\]"),
    "rank": ([comms(3, "broadcast", reads=ONE, writes=ONE, rank="0")], r"node 3 .*: its rank is '0'"),  # type: ignore[arg-type]
    "root": ([comms(3, "broadcast", reads=ONE, writes=ONE, rank=4)], r"node 3 .*: its root is member 4"),
    "splits": (
        [comms(3, "all_to_allv", reads=ONE, writes=ONE, splits=([3], [1]))],
        r"node 3 .*: its input has 32 B, which 3 rows of its splits do not share",
    ),
    "negative splits": (
        [comms(3, "all_to_allv", reads=ONE, writes=ONE, splits=([-1], [1]))],
        r"node 3 .*: its splits are '\[-1\]'",
    ),
    "other number of splits": (
        [comms(3, "all_to_allv", reads=ONE, writes=ONE, splits=([1, 1], [1, 1]))],
        r"node 3 .*: has splits for 2 ranks, and its group has 1",
    ),
    "in and out": (
        [comms(3, "all_to_all", reads=ONE, writes=[tensor(2, 9)])],
        r"node 3 .*: has no splits, .* 32 B go in and 36 B come out",
    ),
    "whole and part": (
        [comms(3, "all_gather", reads=ONE, writes=[tensor(2, 9)])],
        r"node 3 .*: the whole array has 36 B, and a rank's part of 1 has 32 B",
    ),
    "groups": (
        [comms(i, "allreduce", reads=ONE, writes=ONE, group=100 + i) for i in (3, 4)],
        r"node 4 .*: its group is another one than before",
    ),
    "a group": ([comms(3, "allreduce", reads=ONE, writes=ONE, group="5")], r"node 3 .*: group '5' has no ranks"),
    "a strange group": ([comms(3, "allreduce", reads=ONE, writes=ONE, group={})], r"node 3 .*: its group is {}"),
    "parent": ([node(3, "a", parent="1")], r"node 3 .*: its parent is '1'"),  # type: ignore[arg-type]
    "an id": ([node(-3, "a")], r"node -3 .*: allowed are ids of 64 bits"),
    "time": ([node(3, "a", exclusive_dur=-1)], r"node 3 .*: exclusive_dur is -1"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_understood_is_an_error_with_its_node(tmp_path: Path, name: str) -> None:
    nodes, what = BAD[name]
    with pytest.raises(WorkloadError, match=what):
        trace_of(write_job(tmp_path, nodes), 1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON: its lists are nested too deep"),
        ("[]", "it has no list of 'nodes'"),
        ('{"schema": "1.0.1", "nodes": 5}', "it has no list of 'nodes'"),
        ('{"schema": "0.9", "nodes": []}', "schema '0.9' is not read; allowed: 1.0.1, "),
        ('{"schema": "1.0.1", "nodes": [5]}', "entry 0 of 'nodes': is no node"),
        ('{"traceEvents": [{"ph": "X", "ts": 1, "pid": 2}]}', "is a Chrome trace, as PyTorch's profiler (Kineto)"),
    ],
)
def test_what_is_no_execution_trace_is_an_error(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(text)
    with pytest.raises(WorkloadError) as error:
        read(path, "pytorch_et")
    assert str(path) in str(error.value)
    assert what in str(error.value)


def test_broken_gzips_are_errors(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "trace.json.gz", [])
    whole = path.read_bytes()
    for data, what in (
        (whole[:-9], "a gzip whose end is missing"),
        (whole[:12] + b"\xff" * 20, "a broken gzip"),
        (gzip.compress(b" " * 2**24), "unpacks to more than"),
    ):
        path.write_bytes(data)
        with pytest.raises(WorkloadError, match=what):
            read(path, "pytorch_et")


@pytest.mark.skipif("ASTRA_PY_SAMPLES" not in os.environ, reason="ASTRA_PY_SAMPLES names no folder of public samples")
def test_a_real_dlrm(tmp_path: Path) -> None:
    run = ap.load(scenario(Path(os.environ["ASTRA_PY_SAMPLES"]) / "dlrm_eg_0.json.gz", 8, missing_ranks="same"))
    matrices = [call.matrix for call in run.trace.calls if call.matrix is not None]
    (indices,) = (matrix for matrix in matrices if len(set(matrix[0].tolist())) > 1)
    assert indices[0].tolist() == [4 * split for split in SPLITS]
    run.run()


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            {"dtype": "ComplexFloat", "in_msg_nelems": 8},
            "in_msg_nelems is 8 elements of dtype 'ComplexFloat'; known are",
        ),
        (
            {"dtype": "float", "out_msg_nelems": 8},
            "out_msg_nelems is 8 .* 'float'; .*did you mean 'Float'",
        ),
        ({"dtype": 7, "in_msg_nelems": 8}, "in_msg_nelems is 8 elements of dtype 7; known are"),
        ({"dtype": "Float", "in_msg_nelems": -8}, "in_msg_nelems is -8; allowed is a whole number from 0"),
        ({"dtype": "Float", "in_msg_nelems": "8"}, "in_msg_nelems is '8'; allowed is a whole number from 0"),
    ],
)
def test_sizes_that_are_not_understood_are_no_other_sizes(
    tmp_path: Path, attributes: dict[str, object], message: str
) -> None:
    plain = comms(5, "allreduce", 1, reads=[tensor(1, 8)], writes=[tensor(1, 8)])
    path = write_trace(tmp_path / "a_0.json", [later(plain, pg_name="0", **attributes)], LATER)
    with pytest.raises(WorkloadError, match=rf"a_0.json, node 5 .*: {message}"):
        read(path)


def fixtures(folder: Path) -> list[Path]:
    """One rank alone, in the first schema and in the last one."""
    exchange = comms(5, "all_to_allv", 1, reads=[tensor(1, 8)], writes=[tensor(2, 8)], splits=([8], [8]))
    nodes = [
        operator(2, reads=[tensor(1, 8)], writes=[tensor(2, 8)]) | {"exclusive_dur": 3.5},
        exchange,
        operator(6, reads=[tensor(2, 8)]) | {"exclusive_dur": 1, "cat": "kernel"},
        comms(7, "_allgather_base", 2, reads=[tensor(1, 8)], writes=[tensor(3, 8)], parent=6),
        wait(8, 1),
        comms(9, "broadcast", 3, reads=[tensor(1, 8)], writes=[tensor(1, 8)]),
    ]
    newer = [*(later(found) for found in nodes[:-1]), later(nodes[-1], pg_name="0", dtype="Float", in_msg_nelems=8)]
    return [write_trace(folder / "a_0.json", nodes), write_trace(folder / "b_0.json", newer, LATER)]


def damaged(tmp_path: Path, count: int) -> None:
    (folder := tmp_path / "damaged").mkdir()
    files = fixtures(tmp_path)
    one_rank = ap.load({"platform": {"ranks": 1}, "workload": {"kind": "file", "file": str(files[0])}}).scenario
    survives(PYTORCH_ET, files, folder, count, use=lambda content: content(one_rank, 1))  # type: ignore[operator]


def test_it_survives_damage(tmp_path: Path) -> None:
    damaged(tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_survives_much_damage(tmp_path: Path) -> None:
    damaged(tmp_path, MANY)


def test_iterations_and_scales(tmp_path: Path) -> None:
    nodes = [
        operator(2) | {"exclusive_dur": 4},
        comms(3, "all_to_allv", 1, reads=[tensor(1, 3)], writes=[tensor(2, 3)], splits=([3, 0], [3, 0])),
        comms(4, "allreduce", 2, reads=[tensor(1, 1)], writes=[tensor(1, 1)]),
    ]
    other = [nodes[0], comms(3, "all_to_allv", 1, reads=[], writes=[], splits=([0, 0], [0, 0])), nodes[2]]
    path = write_job(tmp_path, nodes, other)
    run = ap.load(scenario(path, 2, iterations=3, compute_scale=0.5, comm_scale=0.1))
    trace = run.trace
    assert trace.iterations == 3
    assert np.bincount(trace.iteration).tolist() == [6, 6, 6]
    assert sorted(set(trace.duration_ps.tolist())) == [0, 2_000_000]
    sizes = [(call.size_bytes, call.iteration) for call in trace.calls if call.matrix is None]
    assert sizes == [(1, 0), (1, 1), (1, 2)]
    assert trace.calls[0].matrix is not None
    assert trace.calls[0].matrix.tolist() == [[1, 0], [0, 0]]
    assert any("done 3 times" in note for note in run.notes)
    # a rank begins again when all that it did before is done
    for _, of_rank in run.run().operations.groupby("rank"):
        by_iteration = of_rank.groupby("iteration")
        ends, starts = by_iteration["end_ps"].max(), by_iteration["start_ps"].min()
        assert (starts.to_numpy()[1:] >= ends.to_numpy()[:-1]).all()
