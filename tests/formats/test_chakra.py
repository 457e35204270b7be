# SPDX-License-Identifier: GPL-2.0-only
"""Chakra files: what their nodes become, and what is refused, with file and node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chakra.schema.protobuf import et_def_pb2 as et

import astra_py as ap
from astra_py.errors import WorkloadError
from astra_py.formats import CHAKRA, Kind, read, recognise
from astra_py.formats.protobuf import varint_bytes
from astra_py.workloads import NodeKind, Trace
from formats.chakra_files import COLL, COMP, RECV, SEND, node, write_et
from formats.mutations import FEW, MANY, survives

ALL_TO_ALL, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, BARRIER = 6, 0, 2, 7, 5, 9


def scenario(path: Path, ranks: int, **workload: Any) -> dict[str, Any]:
    return {"platform": {"ranks": ranks}, "workload": {"file": str(path), "iterations": 1, **workload}}


def trace_of(path: Path, ranks: int, **workload: Any) -> Trace:
    return ap.load(scenario(path, ranks, **workload)).trace


def write_job(folder: Path, *files: list[Any]) -> Path:
    for rank, nodes in enumerate(files):
        write_et(folder / f"job.{rank}.et", nodes)
    return folder / "job"


def of_rank(trace: Trace, rank: int) -> Any:
    table = trace.to_pandas()
    return table[table["rank"] == rank]


def group_node(id: int, groups: dict[str, list[int]]) -> Any:
    """Process groups as converters of PyTorch's traces write them."""
    values = json.dumps([{"pg_name": name, "ranks": ranks} for name, ranks in groups.items()])
    made = et.Node(id=id, name="process_group:init", type=et.METADATA_NODE)
    made.inputs.values = f"['{values}']"
    return made


def test_nodes_become_what_they_are(tmp_path: Path) -> None:
    nodes = [
        node(0, us=5, name="embedding", is_cpu_op=False),
        node(1, us=2, is_cpu_op=True),
        node(2, et.MEM_LOAD_NODE, us=3),
        node(3, COLL, after=[0, 1], name="a2a", comm_type=ALL_TO_ALL, comm_size=1 << 20, comm_priority=3),
        node(4, after=[3, 2]),
    ]
    path = write_job(tmp_path, nodes, nodes)
    assert recognise(path) is CHAKRA
    trace = trace_of(path, 2)
    first = of_rank(trace, 0)
    assert first["name"].tolist() == ["embedding", "node_1", "node_2", "a2a", "node_4"]
    assert first["kind"].tolist() == ["compute", "compute", "memory", "collective", "compute"]
    assert first["duration_ps"].tolist() == [5_000_000, 2_000_000, 3_000_000, 0, 0]
    assert first["stream"].tolist() == ["compute", "cpu", "", "", "compute"]
    names = dict(enumerate(trace.to_pandas()["name"]))
    assert [{names[i] for i in after} for after in first["after"]][3:] == [{"embedding", "node_1"}, {"a2a", "node_2"}]
    (call,) = trace.calls
    assert (call.kind, call.group, call.size_bytes, call.priority) == ("all_to_all", (0, 1), 1 << 20, 3)


@pytest.mark.parametrize("value", ["int32_val", "int64_val", "uint32_val", "uint64_val", "fixed64_val", "sint64_val"])
def test_sizes_may_be_of_any_integer_type(tmp_path: Path, value: str) -> None:
    size = et.AttributeProto(name="comm_size", **{value: 4096})
    nodes = [node(0, COLL, comm_type=ALL_REDUCE, comm_size=size)]
    assert trace_of(write_job(tmp_path, nodes, nodes), 2).calls[0].size_bytes == 4096


@pytest.mark.parametrize(
    ("number", "kind", "sent"),
    [
        # comm_size of an all-gather is a rank's input, of all others the whole buffer (ASTRA-sim: Ring.cc, AllToAll)
        (ALL_GATHER, "all_gather", 3 << 20),
        (REDUCE_SCATTER, "reduce_scatter", 3 << 18),
        (ALL_TO_ALL, "all_to_all", 3 << 18),
        (ALL_REDUCE, "all_reduce", 6 << 18),
    ],
)
@pytest.mark.parametrize("engine", ["packet", "analytic"])
def test_one_mebibyte_on_the_wire_is_what_astra_sim_sends(
    tmp_path: Path, engine: str, number: int, kind: str, sent: int
) -> None:
    nodes = [node(0, COLL, comm_type=number, comm_size=1 << 20)]
    path = write_job(tmp_path, *[nodes] * 4)
    result = ap.load(scenario(path, 4) | {"engine": engine}).run()
    messages = result.messages
    assert result.collectives["kind"].tolist() == [kind]
    assert messages.groupby("src")["size_bytes"].sum().tolist() == [sent] * 4


def test_groups_come_from_metadata_or_from_a_file(tmp_path: Path) -> None:
    def nodes(rank: int) -> list[Any]:
        collective = node(1, COLL, comm_type=ALL_REDUCE, comm_size=8, pg_name=str(1 + rank // 2))
        return [group_node(0, {"1": [0, 1], "2": [2, 3], "0": []}), collective]

    path = write_job(tmp_path, *map(nodes, range(4)))
    assert {call.group for call in trace_of(path, 4).calls} == {(0, 1), (2, 3)}
    assert len(trace_of(path, 4)) == 4  # the METADATA node is none of the Trace

    bare = write_job(tmp_path, *(nodes(rank)[1:] for rank in range(4)))
    with pytest.raises(WorkloadError, match=r"job.0.et, node 1 .*group '1' has no ranks.*workload.comm_groups"):
        trace_of(bare, 4)
    groups = tmp_path / "groups.json"
    groups.write_text('{"1": [0, 1], "2": [3, 2]}')
    assert {call.group for call in trace_of(bare, 4, comm_groups=str(groups)).calls} == {(0, 1), (3, 2)}
    before = ap.load(scenario(bare, 4, comm_groups=str(groups))).digest
    groups.write_text('{"1": [1, 0], "2": [3, 2]}')
    assert ap.load(scenario(bare, 4, comm_groups=str(groups))).digest != before


@pytest.mark.parametrize("text", ["{", "[]", '{"1": 5}', '{"1": []}', '{"1": [0, "a"]}', '{"0": [1, 0]}'])
def test_bad_files_of_groups_are_named(tmp_path: Path, text: str) -> None:
    nodes = [node(1, COLL, comm_type=ALL_REDUCE, comm_size=8)]
    path = write_job(tmp_path, nodes, nodes)
    groups = tmp_path / "groups.json"
    groups.write_text(text)
    with pytest.raises(WorkloadError, match=r"groups\.json"):
        trace_of(path, 2, comm_groups=str(groups))


def test_messages_meet_by_source_destination_and_tag_in_order(tmp_path: Path) -> None:
    sends, receives = [(10, 1), (20, 2), (30, 1)], [(20, 2), (10, 1), (30, 1)]
    path = write_job(
        tmp_path,
        [node(i, SEND, comm_dst=1, comm_size=size, comm_tag=tag) for i, (size, tag) in enumerate(sends)],
        [node(i, RECV, comm_src=0, comm_size=size, comm_tag=tag) for i, (size, tag) in enumerate(receives)],
    )
    trace = trace_of(path, 2)
    assert [(call.kind, call.group, call.size_bytes) for call in trace.calls] == [
        ("sendrecv", (0, 1), size) for size in (10, 20, 30)
    ]
    assert ap.load(scenario(path, 2)).run().messages["size_bytes"].sum() == 60


def test_nodes_may_stand_before_what_they_wait_for(tmp_path: Path) -> None:
    collectives = {"comm_type": ALL_REDUCE, "pg_name": ""}
    nodes = [
        node(7, COLL, after=[9], name="second", comm_size=2, **collectives),
        node(9, COLL, name="first", comm_size=1, **collectives),
    ]
    trace = trace_of(write_job(tmp_path, nodes, nodes), 2)
    assert of_rank(trace, 0)["name"].tolist() == ["first", "second"]
    assert [call.size_bytes for call in trace.calls] == [1, 2]


def test_operations_and_bytes_become_a_time_by_the_roofline(tmp_path: Path) -> None:
    nodes = [
        node(0, num_ops=156 * 10**9, tensor_size=1),  # 1 ms of an A100's TF32 peak
        node(1, num_ops=1, tensor_size=1_555 * 10**6),  # 1 ms of its memory
        node(2, us=7, num_ops=10**15, tensor_size=1),  # a time goes first
        node(3, et.MEM_STORE_NODE, tensor_size=1_555 * 10**6),
        node(4, is_cpu_op=True, num_ops=10**15, tensor_size=1),
        node(5, COLL, comm_type=BARRIER),
    ]
    path = write_job(tmp_path, nodes)
    ideal = {"flops_efficiency": 1.0, "memory_efficiency": 1.0}
    tree = scenario(path, 1, **ideal)
    tree["platform"]["accelerator"] = "A100-40"
    trace = ap.load(tree).trace
    assert trace.duration_ps.tolist() == [10**9, 10**9, 7 * 10**6, 10**9, 0, 0]
    tree["workload"]["compute_dtype"] = "fp16"
    assert ap.load(tree).trace.duration_ps.tolist()[:2] == [5 * 10**8, 10**9]
    document = read(path)
    assert "3 nodes with num_ops and tensor_size and no time" in "\n".join(document.summary)


def test_iterations_of_many_nodes_at_once_are_joined_by_few(tmp_path: Path) -> None:
    path = write_job(tmp_path, [node(i, us=i + 1) for i in range(50)])
    run = ap.load(scenario(path, 1, iterations=3))
    assert len(run.trace) == 3 * 51  # a node before all
    assert len(run.trace.dep_node) == 3 * 50 + 2 * 50
    assert run.trace.compute_ps().tolist() == [3 * 1275 * 10**6]
    times = run.run().operations.groupby("iteration")
    assert (times["end_ps"].max() - times["start_ps"].min()).tolist() == [1275 * 10**6] * 3


def test_missing_ranks_are_an_error_or_the_same(tmp_path: Path) -> None:
    nodes = [node(0, us=1), node(1, COLL, after=[0], comm_type=ALL_TO_ALL, comm_size=4096)]
    write_et(tmp_path / "job.0.et", nodes)
    with pytest.raises(WorkloadError, match=r"missing is that of rank 1; .* workload.missing_ranks = 'same'"):
        trace_of(tmp_path / "job", 4)
    for path in (tmp_path / "job", tmp_path / "job.0.et"):
        run = ap.load(scenario(path, 4, missing_ranks="same"))
        assert run.trace.calls[0].group == (0, 1, 2, 3)
        assert np.bincount(run.trace.rank).tolist() == [2] * 4
        assert any("3 ranks have no file and do the same as rank 0" in note for note in run.notes)
    write_et(tmp_path / "job.9.et", nodes)
    with pytest.raises(WorkloadError, match=r"job.9.et: is of rank 9, and the platform has ranks 0 to 3"):
        trace_of(tmp_path / "job", 4)


def test_the_same_is_refused_where_it_says_nothing(tmp_path: Path) -> None:
    grouped = [group_node(0, {"1": [0, 1]}), node(1, COLL, comm_type=ALL_REDUCE, comm_size=8, pg_name="1")]
    for nodes in (grouped, [node(1, SEND, comm_dst=1, comm_size=5)]):
        path = write_job(tmp_path, nodes)
        with pytest.raises(WorkloadError, match=r"job.0.et, node 1 .*cannot be the same"):
            trace_of(path, 4, missing_ranks="same")


COLLECTIVE = {"comm_type": ALL_REDUCE, "comm_size": 8}

BAD: dict[str, tuple[list[list[Any]], str]] = {
    "two ids": ([[node(3), node(3)]], r"two nodes have the id 3"),
    "unknown dependency": ([[node(3, after=[4])]], r"node 3: waits for node 4, which does not exist"),
    "circle": ([[node(3, after=[4]), node(4, after=[3])]], r"node 3 .*: waits for itself: 3 -> 4 -> 3"),
    "itself": ([[node(3, after=[3])]], r"node 3 .*: waits for itself: 3 -> 3"),
    "no size": ([[node(3, COLL, comm_type=0)]], r"node 3 .*: has no attribute 'comm_size'"),
    "no type": ([[node(3, COLL, comm_size=0)]], r"node 3 .*: has no attribute 'comm_type'"),
    "a text": ([[node(3, COLL, comm_type=0, comm_size="8")]], r"node 3 .*: comm_size is '8'"),
    "negative": ([[node(3, COLL, comm_type=0, comm_size=-8)]], r"node 3 .*: comm_size is -8; allowed is"),
    "too large": ([[node(3, COLL, comm_type=0, comm_size=2**51)]], r"node 3 .*size_bytes = .* outside"),
    "block": ([[node(3, COLL, comm_type=8, comm_size=8)]], r"comm_type 8 is not read; allowed: 0 \(ALL_REDUCE\)"),
    "on the CPU": ([[node(3, COLL, is_cpu_op=True, **COLLECTIVE)]], r"node 3 .*: communicates, and is_cpu_op"),
    "dimensions": (
        [
            [
                node(
                    3,
                    COLL,
                    involved_dim=et.AttributeProto(name="involved_dim", bool_list={"values": [1, 0]}),
                    **COLLECTIVE,
                )
            ]
        ],
        r"node 3 .*: involved_dim leaves out a dimension",
    ),
    "too long": ([[node(3, us=2**60)]], r"node 3 .*: lasts \d+ us, more than 64 bits"),
    "priority": ([[node(3, COLL, comm_priority=9, **COLLECTIVE)]], r"node 3 .*priority 9"),
    "kinds": (
        [[node(3, COLL, **COLLECTIVE)], [node(5, COLL, comm_type=6, comm_size=8)]],
        r"job.1.et, node 5 .*: is the part of rank 1 in the collective of .*job.0.et, node 3 .*kind is 'all_to_all'",
    ),
    "sizes": (
        [[node(3, COLL, **COLLECTIVE)], [node(5, COLL, comm_type=0, comm_size=9)]],
        r"job.1.et, node 5 .*job.0.et, node 3 .*size in bytes is 9, not 8",
    ),
    "counts": (
        [[node(3, COLL, **COLLECTIVE)], []],
        r"job.0.et, node 3 .*: is collective 1 of its group '' on rank 0, and rank 1 has 0 of them",
    ),
    "no receive": (
        [[node(3, SEND, comm_dst=1, comm_size=5)], []],
        r"job.0.et, node 3 .*: rank 1 has nothing that receives",
    ),
    "no send": ([[node(3, RECV, comm_src=1, comm_size=5)], []], r"job.0.et, node 3 .*: rank 1 has nothing that sends"),
    "one tag more": (
        [[node(i, SEND, comm_dst=1, comm_size=5) for i in (1, 2)], [node(7, RECV, comm_src=0, comm_size=5)]],
        r"job.0.et, node 2 .*nothing that receives it \(tag 0\); the last one there is .*job.1.et, node 7",
    ),
    "two sizes": (
        [[node(3, SEND, comm_dst=1, comm_size=5)], [node(4, RECV, comm_src=0, comm_size=6)]],
        r"job.0.et, node 3 .*: sends 5 B, and its counterpart .*job.1.et, node 4 .* receives 6 B",
    ),
    "to itself": ([[node(3, SEND, comm_dst=0, comm_size=5)]], r"node 3 .*: sends to itself"),
    "to nobody": (
        [[node(3, SEND, comm_dst=9, comm_size=5)]],
        r"node 3 .*: sends to rank 9, and the job has ranks 0 to 0",
    ),
    "of another": ([[node(3, SEND, comm_src=1, comm_dst=0, comm_size=5)]], r"node 3 .*: comm_src is 1, and the file"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_contradicts_is_an_error_with_its_nodes(tmp_path: Path, name: str) -> None:
    files, what = BAD[name]
    with pytest.raises(WorkloadError, match=what):
        trace_of(write_job(tmp_path, *files), len(files))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "byte 0: the file is empty"),
        (varint_bytes(2**60), f"byte 0: a message of {2**60} bytes, and 0 are left"),
        (b"\x02\x08\x01", "byte 1: the first message is no GlobalMetadata"),
        (b"\x00\x02\x18\x09", "node 0 has type 9; known are 0 to 7"),
        (b"\x00\x02\x0a\x00", "field 1 of a node has wire type 2"),
        (b"\x00\x03\x08\x01", "byte 1: a message of 3 bytes, and 2 are left"),
        (b"\x00\x02\x52\x05", "ends after its message"),
    ],
)
def test_what_is_no_stream_of_messages_is_an_error(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "job.0.et"
    path.write_bytes(data)
    with pytest.raises(WorkloadError) as error:
        read(path, "chakra")
    assert str(path) in str(error.value)
    assert what in str(error.value)


def test_what_is_not_taken_is_said(tmp_path: Path) -> None:
    nodes = [node(0, us=1, color="red", rf_id=5), node(1, us=1, rf_id=6, comm_size=1)]
    nodes[0].start_time_micros = 5
    document = read(write_job(tmp_path, nodes), kinds=(Kind.WORKLOAD,))
    assert sorted(document.ignored) == [
        "attribute 'color' of COMP nodes (1)",
        "attribute 'comm_size' of COMP nodes (1)",
        "attribute 'rf_id' of COMP nodes (2)",
        "start_time_micros of nodes (1)",
    ]
    assert document.warnings == ()
    newer = read(write_et(tmp_path / "newer.0.et", nodes, version="9.9"))
    assert newer.warnings == (f"{tmp_path}/newer.0.et: is of schema '9.9', and read as 0.0.4",)


def fixtures(folder: Path) -> list[Path]:
    """One file with all sorts of nodes, whose job fits one rank."""
    nodes = [
        group_node(0, {"1": [0], "0": []}),
        node(1, COMP, us=5, name="embedding", is_cpu_op=False, num_ops=10**9, tensor_size=10**6),
        node(2, COMP, after=[1], num_ops=10**9, tensor_size=10**6),
        *(
            node(3 + number, COLL, after=[1, 2], comm_type=number, comm_size=1 << 20, pg_name=str(number % 2))
            for number in (0, 2, 5, 6, 7, 9)
        ),
        node(20, et.MEM_LOAD_NODE, after=[3], tensor_size=4096),
    ]
    return [write_et(folder / "job.0.et", nodes)]


def damaged(tmp_path: Path, count: int) -> None:
    (folder := tmp_path / "damaged").mkdir()
    one_rank = ap.load({"platform": {"ranks": 1}, "workload": {"kind": "file", "file": str(fixtures(tmp_path)[0])}})

    def use(content: Any) -> None:
        job = content(one_rank.scenario, 1)
        assert (job.trace.kind <= max(NodeKind)).all()

    survives(CHAKRA, fixtures(tmp_path), folder, count, use=use)


def test_it_survives_damage(tmp_path: Path) -> None:
    damaged(tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_survives_much_damage(tmp_path: Path) -> None:
    damaged(tmp_path, MANY)
