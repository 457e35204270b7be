# SPDX-License-Identifier: GPL-2.0-only
"""Traces written as Chakra files: read by MLCommons' own tools, and by us to an equal Trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chakra.schema.protobuf import et_def_pb2 as et
from hypothesis import given
from hypothesis import strategies as st

import astra_py as ap
from astra_py.errors import ConfigError, WorkloadError
from astra_py.formats import convert
from astra_py.formats.chakra_writer import write_chakra
from astra_py.workloads import CollectiveCall, FlowList, Trace, TraceBuilder
from formats.chakra_files import read_et

KINDS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather", "scatter")


def read_back(path: Path, ranks: int) -> Trace:
    workload = {"file": str(path), "format": "chakra", "iterations": 1}
    return ap.load({"platform": {"ranks": ranks}, "workload": workload}).trace


def content(trace: Trace) -> tuple[Any, ...]:
    """Everything of a Trace but where its calls were declared, and the numbers of its labels."""
    rows = trace.to_pandas()
    rows["after"] = [tuple(sorted(after)) for after in rows["after"]]
    same = ("name", "kind", "group", "size_bytes", "dtype", "priority", "algorithm", "iteration")
    calls = [[getattr(call, name) for name in same] for call in trace.calls]
    matrices = [None if call.matrix is None else call.matrix.tolist() for call in trace.calls]
    return trace.ranks, rows.to_dict("list"), calls, matrices


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    ranks = draw(st.integers(1, 5))
    build = TraceBuilder(ranks)
    last = np.full(ranks, -1)
    everyone = list(range(ranks))
    for _ in range(draw(st.integers(1, 12))):
        members = draw(st.permutations(everyone))[: draw(st.integers(1, ranks))]
        iteration, phase = draw(st.integers(0, 2)), draw(st.sampled_from(["", "forward"]))
        after = last[members] if draw(st.booleans()) else None
        what = draw(st.sampled_from(["compute", "memory", *KINDS, "barrier", "all_to_all_v", "sendrecv"]))
        if what in ("compute", "memory"):
            times = draw(st.lists(st.integers(0, 10**13), min_size=len(members), max_size=len(members)))
            add: Any = build.compute if what == "compute" else build.memory
            stream = {"stream": draw(st.sampled_from(["compute", "lookups"]))} if what == "compute" else {}
            last[members] = add(members, times, name=what, after=after, iteration=iteration, phase=phase, **stream)
            continue
        if what == "sendrecv":
            if ranks == 1:
                continue
            members = draw(st.permutations(everyone))[:2]
            after = last[members]
        n, size, matrix = len(members), draw(st.integers(0, 10**6)), None
        if what == "all_to_all_v":
            cells = draw(st.lists(st.integers(0, 10**6), min_size=n * n, max_size=n * n))
            matrix = np.array(cells, dtype=np.int64).reshape(n, n)
        call = CollectiveCall(
            name=f"a {what}",
            kind=what,
            group=tuple(members),
            size_bytes=None if what == "all_to_all_v" else 0 if what == "barrier" else size,
            matrix=matrix,
            dtype=draw(st.sampled_from(["", "fp16"])),
            priority=draw(st.integers(0, 6)),
            algorithm=draw(st.sampled_from([None, "ring"])) if what == "all_reduce" else None,
            iteration=iteration,
        )
        stream_of_call = draw(st.sampled_from([None, "comm"]))
        last[members] = build.collective(call, after=after, phase=phase, stream=stream_of_call)
    return build.build()


@given(traces())
def test_a_trace_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> None:
    path = tmp_path_factory.mktemp("job") / "job"
    write_chakra(trace, path)
    assert content(read_back(path, trace.ranks)) == content(trace)


def small() -> Trace:
    build = TraceBuilder(4)
    forward = build.compute(range(4), [5_000_000, 5_500_000, 0, 1], name="forward")
    matrix = np.arange(16).reshape(4, 4)
    call = CollectiveCall(name="pooled", kind="all_to_all_v", group=(0, 1, 2, 3), matrix=matrix, priority=6)
    done = build.collective(call, after=forward)
    build.collective(CollectiveCall(name="row", kind="all_gather", group=(3, 1), size_bytes=1000), after=done[[3, 1]])
    build.collective(CollectiveCall(name="odd", kind="all_gather", group=(3, 1), size_bytes=1001))
    build.collective(CollectiveCall(name="next", kind="sendrecv", group=(2, 0), size_bytes=77))
    build.memory([0], 3_000_000, name="copy", after=done[[0]])
    return build.build()


def test_mlcommons_tools_read_what_is_written(tmp_path: Path) -> None:
    said = write_chakra(small(), tmp_path / "job.et")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"job.{rank}.et" for rank in range(4)]
    assert f"{len(small())} nodes of 4 ranks" in said[0]
    assert any("only astra-py reads uneven all-to-alls, which others take for even ones (4 nodes)" in s for s in said)
    metadata, nodes = read_et(tmp_path / "job.3.et")
    assert metadata.version == "0.0.4"
    assert [(n.id, n.name, n.type, list(n.ctrl_deps), n.duration_micros) for n in nodes] == [
        (len(small()), "groups", et.METADATA_NODE, [], 0),
        (3, "forward", et.COMP_NODE, [], 0),
        (7, "pooled", et.COMM_COLL_NODE, [3], 0),
        (8, "row", et.COMM_COLL_NODE, [7], 0),
        (10, "odd", et.COMM_COLL_NODE, [], 0),
    ]
    assert nodes[0].inputs.values == """['[{"pg_name": "1", "ranks": [3, 1]}]']"""
    row = {a.name: a for a in nodes[3].attr}
    assert (row["comm_type"].int64_val, row["comm_size"].int64_val, row["pg_name"].string_val) == (2, 500, "1")
    assert row["is_cpu_op"].WhichOneof("value") == "bool_val"
    pooled = {a.name: a for a in nodes[2].attr}
    assert pooled["comm_size"].int64_val == 12 + 13 + 14 + 15
    assert list(pooled["astra_py.send_bytes"].int64_list.values) == [12, 13, 14, 15]
    sent = {a.name: a.int64_val for a in read_et(tmp_path / "job.2.et")[1][-1].attr}
    assert (sent["comm_src"], sent["comm_dst"], sent["comm_size"]) == (2, 0, 77)


def test_what_a_file_cannot_say_is_an_error(tmp_path: Path) -> None:
    build = TraceBuilder(2)
    flows = FlowList(src=np.array([0]), dst=np.array([1]), size_bytes=np.array([5]), start_ps=np.array([0]))
    build.collective(CollectiveCall(name="incast", kind="flows", group=(0, 1), flows=flows))
    with pytest.raises(WorkloadError, match="collective 'incast': a Chakra file has no node for flows"):
        write_chakra(build.build(), tmp_path / "job")
    with pytest.raises(WorkloadError, match="cannot be written"):
        write_chakra(small(), tmp_path / "nowhere" / "job")


def test_files_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "job.2.et").write_bytes(b"precious")
    with pytest.raises(ConfigError, match=r"job.2.et: is there already; allowed: another name, or --overwrite"):
        write_chakra(small(), tmp_path / "job")
    assert [path.name for path in tmp_path.iterdir()] == ["job.2.et"]
    write_chakra(small(), tmp_path / "job", is_overwriting=True)
    assert content(read_back(tmp_path / "job", 4)) == content(small())


def test_one_order_a_group_is_needed(tmp_path: Path) -> None:
    trace = small()
    build = TraceBuilder(2)
    for name in ("a", "b"):
        build.collective(CollectiveCall(name=name, kind="barrier", group=(0, 1)))
    trace = build.build()
    swapped = trace.call.copy()
    swapped[[1, 3]] = swapped[[3, 1]]
    object.__setattr__(trace, "call", swapped)
    with pytest.raises(WorkloadError, match="in different orders"):
        write_chakra(trace, tmp_path / "job")


def test_a_job_of_another_format_is_converted(tmp_path: Path) -> None:
    text = tmp_path / "job.txt"
    text.write_text(
        "HYBRID_DLRM 0\n2\n"
        "embedding -1 300 ALLTOALL 4096 300 ALLTOALL 4096 1 NONE 0 1\n"
        "top -1 6 NONE 0 6 NONE 0 7 ALLREDUCE 8192 1\n"
    )
    said = convert(text, tmp_path / "out.et", ranks=4)
    assert any("nodes of 4 ranks" in line for line in said)
    assert convert(tmp_path / "out", tmp_path / "again", "chakra")  # complete files say how many ranks there are
    assert (tmp_path / "again.3.et").read_bytes() == (tmp_path / "out.3.et").read_bytes()
    workload = {"file": str(text), "iterations": 1}
    assert content(read_back(tmp_path / "out", 4)) == content(
        ap.load({"platform": {"ranks": 4}, "workload": workload}).trace
    )


def test_a_conversion_is_of_the_scenario_that_is_said(tmp_path: Path) -> None:
    text = tmp_path / "job.txt"
    text.write_text("HYBRID_DATA_MODEL\n1\nlayer -1 3 ALLREDUCE 4096 1 NONE 0 2 ALLREDUCE 8192 0\n")
    keys = {"compute_unit": "1us", "comm_scale": 0.5, "iterations": 2, "keep_iterations": "1"}
    platform = {"kind": "zionex", "nodes": 2, "accelerators_per_node": 2}
    overrides = [
        f"{table}.{key}={value}"
        for table, of in (("workload", keys), ("platform", platform))
        for key, value in of.items()
    ]
    said = convert(text, tmp_path / "out.et", overrides=overrides)
    assert any("times in units of 1000 ns" in line for line in said)
    assert not any("times in units of 1 ns" in line for line in said)
    trace = ap.load({"platform": platform, "workload": keys | {"file": str(text)}}).trace
    assert {call.group for call in trace.calls} == {(0, 1), (2, 3), (0, 2), (1, 3)}
    assert content(read_back(tmp_path / "out", 4)) == content(trace)


def test_one_ranks_file_is_converted_where_the_others_are_the_same(tmp_path: Path) -> None:
    build = TraceBuilder(4)
    build.collective(CollectiveCall(name="pooled", kind="all_to_all", group=(0, 1, 2, 3), size_bytes=4096))
    trace = build.build()
    write_chakra(trace, tmp_path / "job")
    for rank in (1, 2, 3):
        (tmp_path / f"job.{rank}.et").unlink()
    one = tmp_path / "job.0.et"
    with pytest.raises(WorkloadError, match=r"missing is that of rank 1; .* workload.missing_ranks = 'same'"):
        convert(one, tmp_path / "out.et", ranks=4)
    for ranks, more in ((4, []), (None, ["platform.ranks=4"])):
        overrides = ["workload.missing_ranks=same", *more]
        said = convert(one, tmp_path / "out.et", ranks=ranks, overrides=overrides, is_overwriting=True)
        assert any("3 ranks have no file and do the same as rank 0" in line for line in said)
        assert content(read_back(tmp_path / "out", 4)) == content(trace)
    before = one.read_bytes()
    with pytest.raises(ConfigError, match=r"job.0.et: is the source itself; allowed: another name"):
        convert(one, tmp_path / "job.et", overrides=["workload.missing_ranks=same"], ranks=4, is_overwriting=True)
    assert one.read_bytes() == before


@pytest.mark.parametrize(
    ("ranks", "overrides", "message"),
    [
        (None, [], r"job.txt: fits any number of ranks; allowed: --ranks"),
        (4, ["transport.kind=tcp"], "transport.kind=tcp: not taken by a conversion; allowed: keys of"),
        (4, ["workload.file=other.txt"], "workload.file=other.txt: not taken by a conversion; allowed: keys of"),
        (4, ["workload.mising_ranks=same"], "did you mean 'workload.missing_ranks'"),
        (4, ["platform.ranks=5"], "4 ranks are wanted, and the platform has 5"),
    ],
)
def test_what_a_conversion_does_not_take_is_an_error(
    tmp_path: Path, ranks: int | None, overrides: list[str], message: str
) -> None:
    text = tmp_path / "job.txt"
    text.write_text("DATA\n1\nlayer -1 3 NONE 0 1 NONE 0 2 ALLREDUCE 8192 0\n")
    with pytest.raises(ConfigError, match=message):
        convert(text, tmp_path / "out.et", ranks=ranks, overrides=overrides)
    assert [path.name for path in tmp_path.iterdir()] == ["job.txt"]


def test_warnings_of_the_job_are_errors_where_that_is_asked_for(tmp_path: Path) -> None:
    text = tmp_path / "job.txt"
    text.write_text("DATA\n1\nlayer -1 3 ALLREDUCE 8 1 NONE 0 2 ALLREDUCE 8192 0\n")
    assert any("never issues" in line for line in convert(text, tmp_path / "out.et", ranks=2))
    with pytest.raises(WorkloadError, match=r"never issues.*\(strict: an error\)"):
        convert(text, tmp_path / "strict.et", ranks=2, is_strict=True)
