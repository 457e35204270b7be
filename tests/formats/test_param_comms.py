# SPDX-License-Identifier: GPL-2.0-only
"""PARAM's traces of collectives: elements become bytes, waits become order, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import astra_py as ap
from astra_py.errors import WorkloadError
from astra_py.formats import PARAM_COMMS, read, recognise
from astra_py.workloads import Trace
from formats.mutations import FEW, MANY, survives


def scenario(path: Path, ranks: int, **workload: Any) -> dict[str, Any]:
    return {"platform": {"ranks": ranks}, "workload": {"file": str(path), "iterations": 1, **workload}}


def trace_of(path: Path, ranks: int, **workload: Any) -> Trace:
    return ap.load(scenario(path, ranks, **workload)).trace


def write_job(folder: Path, *files: list[Any]) -> Path:
    for rank, entries in enumerate(files):
        (folder / f"rank{rank}.json").write_text(json.dumps(entries, indent=1))
    return folder / "rank"


def comms(name: str, elements_in: int, elements_out: int | None = None, **rest: Any) -> dict[str, Any]:
    out = elements_in if elements_out is None else elements_out
    return {"comms": name, "in_msg_size": elements_in, "out_msg_size": out, "dtype": "Float", **rest}


MIB = 2**18  # elements of 4 bytes


@pytest.mark.parametrize(
    ("name", "elements_in", "elements_out", "kind", "sent"),
    [
        # PARAM's sizes are those of the tensors that go in and come out
        ("all_gather", MIB, 4 * MIB, "all_gather", 3 << 20),
        ("reduce_scatter", 4 * MIB, MIB, "reduce_scatter", 3 << 20),
        ("all_to_all", MIB, MIB, "all_to_all", 3 << 18),
        ("all_reduce", MIB, MIB, "all_reduce", 6 << 18),
    ],
)
@pytest.mark.parametrize("engine", ["packet", "analytic"])
def test_one_mebibyte_on_the_wire_is_what_the_replay_sends(
    tmp_path: Path, engine: str, name: str, elements_in: int, elements_out: int, kind: str, sent: int
) -> None:
    path = write_job(tmp_path, *[[comms(name, elements_in, elements_out)]] * 4)
    assert recognise(path) is PARAM_COMMS
    result = ap.load(scenario(path, 4) | {"engine": engine}).run()
    assert result.collectives["kind"].tolist() == [kind]
    assert result.messages.groupby("src")["size_bytes"].sum().tolist() == [sent] * 4


def test_splits_groups_roots_and_messages(tmp_path: Path) -> None:
    def entries(rank: int) -> list[Any]:
        pair = [rank % 2, rank % 2 + 2]
        sends, receives = ([1, 2], [1, 3]) if rank < 2 else ([3, 4], [2, 4])
        made = [
            {"comms": "init", "pg_id": 5 + rank % 2, "global_ranks": pair},
            comms("all_to_allv", sum(sends), sum(receives), in_split=sends, out_split=receives, pg_id=5 + rank % 2),
            comms("broadcast", 7, root=pair[1], pg_id=5 + rank % 2),
        ]
        if rank == 0:
            made.append(comms("send", 9, src_rank=0, dst_rank=3, use_batch=False))
        if rank == 3:
            made.append(comms("recv", 9, src_rank=0, dst_rank=3, use_batch=False))
        return made

    calls = trace_of(write_job(tmp_path, *map(entries, range(4))), 4).calls
    found = {(call.kind, call.group, call.size_bytes) for call in calls}
    assert found == {
        ("all_to_all_v", (0, 2), None),
        ("all_to_all_v", (1, 3), None),
        ("broadcast", (2, 0), 28),
        ("broadcast", (3, 1), 28),
        ("sendrecv", (0, 3), 36),
    }
    assert calls[0].matrix is not None
    assert calls[0].matrix.tolist() == [[4, 8], [12, 16]]


def test_compute_is_rated_and_waits_for_what_it_says(tmp_path: Path) -> None:
    entries = [
        {"compute": "gemm", "mm_dim": 1000, "dtype": "Float16", "count": 312},
        comms("all_reduce", 4, req=7),
        {"compute": "emb_lookup", "batch_size": 5, "num_emb_tables": 311, "bag_size": 1000, "emb_dim": 250},
        {"comms": "wait", "req": 7},
        {"compute": "emb_lookup", "direction": "backward", "batch_size": 5, "num_emb_tables": 311}
        | {"bag_size": 1000, "emb_dim": 250},
        {"comms": "wait", "req": 8},
    ]
    tree = scenario(write_job(tmp_path, entries), 1, flops_efficiency=1.0, memory_efficiency=1.0)
    tree["platform"]["accelerator"] = "A100-40"
    trace = ap.load(tree).trace
    # 312 x 2 x 1000^3 operations at 312 TFLOP/s, 1.555 GB at 1.555 TB/s, and twice that
    assert trace.duration_ps.tolist() == [2 * 10**9, 0, 10**9, 2 * 10**9]
    assert trace.to_pandas()["after"].tolist() == [(), (0,), (0,), (1, 2)]
    assert read(tmp_path / "rank").ignored == ("waits for what is not in the file (1)",)


def test_missing_ranks_may_be_the_same(tmp_path: Path) -> None:
    path = write_job(tmp_path, [comms("all_to_allv", 6, 4, in_split=[2, 4], out_split=[2, 2])])
    (call,) = trace_of(path, 2, missing_ranks="same").calls
    assert call.matrix is not None
    assert call.matrix.tolist() == [[8, 16], [8, 16]]


BAD: dict[str, tuple[Any, str]] = {
    "no object": (5, r"entry 0: is 5"),
    "neither": ({"markers": []}, r"entry 0: compute is None"),
    "a name": (comms("all_reduc", 1), r"entry 0 \('all_reduc'\): unknown collective; .*mean 'allreduce'"),
    "a type": (comms("all_reduce", 1, dtype="quad"), r"unknown dtype 'quad'"),
    "a size": (comms("all_reduce", -1), r"in_msg_size is -1"),
    "splits": (comms("all_to_allv", 6, in_split=[2, 3], out_split=[3, 3]), r"in_split has 20 B together, and .* 24 B"),
    "no splits": (comms("all_to_allv", 6), r"in_split is None"),
    "a group": (comms("all_reduce", 1, pg_id=3), r"pg_id 3 has no ranks"),
    "a root": (comms("broadcast", 1, pg_id=3, global_ranks=[0], root=2), r"root is rank 2, and the group is of"),
    "a whole": (comms("all_gather", 2, 3), r"the whole array has 12 B, and a rank's part of 1 has 8 B"),
    "a sender": (comms("send", 1, src_rank=1, dst_rank=0), r"src_rank is 1, and the file is of rank 0"),
    "a kernel": ({"compute": "conv"}, r"entry 0 \('conv'\): unknown compute; known are gemm, emb_lookup"),
    "a direction": (
        {"compute": "emb_lookup", "direction": "up"}
        | dict.fromkeys(("batch_size", "num_emb_tables", "bag_size", "emb_dim"), 1),
        r"direction is 'up'",
    ),
    "an integer product": ({"compute": "gemm", "mm_dim": 5, "dtype": "long"}, r"a gemm of int64"),
    "far too long": ({"compute": "gemm", "mm_dim": 2**50, "dtype": "float"}, r"entry|node 0 .* more than 2\^63 ps"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_understood_is_an_error_with_its_entry(tmp_path: Path, name: str) -> None:
    entry, what = BAD[name]
    with pytest.raises(WorkloadError, match=r"rank0\.json.*") as error:
        read(write_job(tmp_path, [entry]), "param_comms").content(
            ap.load(scenario(tmp_path / "rank", 1, format="param_comms")).scenario, 1
        )
    error.match(what)


@pytest.mark.parametrize(("text", "what"), [("", "is no JSON"), ("{}", "is no list of entries"), ("[" * 10**5, "deep")])
def test_what_is_no_list_is_an_error(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "rank0.json").write_text(text)
    with pytest.raises(WorkloadError, match=what):
        read(tmp_path / "rank0.json", "param_comms")


def damaged(tmp_path: Path, count: int) -> None:
    (folder := tmp_path / "damaged").mkdir()
    entries = [
        {"comms": "init", "pg_id": 5, "global_ranks": [0]},
        {"compute": "gemm", "mm_dim": 1000, "dtype": "float", "count": 3},
        comms("all_to_allv", 6, in_split=[6], out_split=[6], req=1),
        comms("all_gather", 6, 6, pg_id=5, req=2),
        {"comms": "wait", "req": 1},
        comms("broadcast", 3, root=0),
        {"compute": "emb_lookup", "batch_size": 5, "num_emb_tables": 3, "bag_size": 10, "emb_dim": 25},
    ]
    path = write_job(tmp_path, entries)
    one_rank = ap.load(scenario(path, 1)).scenario
    survives(PARAM_COMMS, [tmp_path / "rank0.json"], folder, count, use=lambda content: content(one_rank, 1))  # type: ignore[operator]


def test_it_survives_damage(tmp_path: Path) -> None:
    damaged(tmp_path, FEW)


@pytest.mark.slow
def test_it_survives_much_damage(tmp_path: Path) -> None:
    damaged(tmp_path, MANY)
