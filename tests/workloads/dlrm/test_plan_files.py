# SPDX-License-Identifier: GPL-2.0-only
"""Plans in files: written and read back the same, from TorchRec in both its forms, and refused where they are none."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from astra_py.errors import WorkloadError
from astra_py.formats import convert, inspect
from astra_py.scripts.export_torchrec_plan import export_plan, plan_to_dict
from astra_py.workloads.dlrm import DlrmModel, Exchanges, Memory, Plan, Sharding, Tier, shard
from astra_py.workloads.dlrm.memory import activation_bytes
from astra_py.workloads.dlrm.plan_files import COLUMNS, read_plan, read_plan_file, write_plan
from astra_py.workloads.dlrm.plan_summary import plan_notes, plan_table, rank_table
from dlrm_cases import SMALL, table, with_tables

CSV = """\
table,sharding,rank,row_begin,rows,dim_begin,dims,tier
a,row_wise,0,0,600,0,8,hbm
a,row_wise,2,600,400,0,8,host
b,column_wise,0,0,1000,0,12,hbm
b,column_wise,1,0,1000,12,4,hbm
c,data_parallel,all,0,1000,0,8,hbm
"""
PRINTED = """\
module: sparse.ebc

param    sharding type    compute kernel    ranks
-------  ---------------  ----------------  -------
a        row_wise         fused_uvm         [0, 2]
b        column_wise      fused             [0, 1]
c        data_parallel    dense             [0, 1, 2]

param    shard offsets    shard sizes    placement
-------  ---------------  -------------  -------------
a        [0, 0]           [600, 8]       rank:0/cuda:0
a        [600, 0]         [400, 8]       rank:2/cuda:2
b        [0, 0]           [1000, 12]     rank:0/cuda:0
b        [0, 12]          [1000, 4]      rank:1/cuda:1
"""


def same(one: Plan, other: Plan) -> bool:
    def key(plan: Plan) -> list[Any]:
        columns = zip(
            *(
                c.tolist()
                for c in (plan.table, plan.rank, plan.row_begin, plan.rows, plan.dim_begin, plan.dims, plan.tier)
            ),
            strict=True,
        )
        return [plan.ranks, plan.sharding, sorted(columns)]

    return key(one) == key(other)


def read(tmp_path: Path, text: str, ranks: int = 3, model: DlrmModel = SMALL) -> Plan:
    path = tmp_path / "plan"
    path.write_text(text, encoding="utf-8")
    return read_plan(path, model, ranks)


def test_csv_by_hand(tmp_path: Path) -> None:
    plan = read(tmp_path, CSV)
    assert plan.sharding == (Sharding.ROW_WISE, Sharding.COLUMN_WISE, Sharding.DATA_PARALLEL)
    assert plan.rank.tolist() == [0, 2, 0, 1, 0, 1, 2]
    assert plan.rows.tolist() == [600, 400, 1000, 1000, 1000, 1000, 1000]
    assert plan.tier_is(Tier.HOST).tolist() == [False, True] + [False] * 5


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tables=st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 300)), min_size=1, max_size=8),
    ranks=st.integers(1, 9),
    sharding=st.sampled_from(list(Sharding)),
    sharder=st.sampled_from(["greedy", "karmarkar_karp"]),
    suffix=st.sampled_from([".csv", ".json"]),
    is_tight=st.booleans(),
)
def test_what_is_written_is_read_back(
    tmp_path: Path,
    tables: list[tuple[int, int]],
    ranks: int,
    sharding: Sharding,
    sharder: str,
    suffix: str,
    is_tight: bool,
) -> None:
    model = with_tables(*(table(f"t, {i}", rows=rows, dim=dim) for i, (rows, dim) in enumerate(tables)))
    size = sum(t.memory_bytes for t in model.tables)
    memory = Memory(
        hbm_bytes=2 * model.dense_weights_bytes
        + activation_bytes(model)
        + (size // ranks + 1 if is_tight else 3 * size),
        machines=np.arange(ranks, dtype=np.int32) // 3,
        host_bytes=6 * size,
    )
    plan = shard(model, memory, sharder=sharder, sharding=sharding, min_shard_dim=16)
    path = tmp_path / f"plan{suffix}"
    write_plan(plan, path)
    assert same(read_plan(path, model, ranks), plan)
    more = read_plan_file(path, model, ranks + 1)
    assert f"of the job's {ranks + 1} ranks" in more.notes[0]


@dataclass
class Shard:
    shard_offsets: list[int]
    shard_sizes: list[int]
    placement: object


@dataclass
class Specification:
    shards: list[Shard]


@dataclass
class Parameter:
    sharding_type: str
    compute_kernel: str
    ranks: list[int] | None
    sharding_spec: Specification | None


class Device:
    """As torch's ``_remote_device``: prints as "rank:2/cuda:2" and has the rank as a method."""

    def rank(self) -> int:
        return 2


class Planned:
    """As TorchRec's ``ShardingPlan``."""

    def __init__(self, **modules: dict[str, Parameter]) -> None:
        self.plan = modules


def torchrec_plan() -> Planned:
    a = Specification([Shard([0, 0], [600, 8], "rank:0/cuda:0"), Shard([600, 0], [400, 8], Device())])
    b = Specification([Shard([0, 0], [1000, 12], "rank:0/cuda:0"), Shard([0, 12], [1000, 4], "rank:1/cuda:1")])
    return Planned(
        ebc={
            "a": Parameter("row_wise", "fused_uvm", [0, 2], a),
            "b": Parameter("column_wise", "fused", [0, 1], b),
        },
        other={"c": Parameter("data_parallel", "dense", [0, 1, 2], None)},
    )


def test_without_the_model_a_plan_is_checked_and_written_in_another_form(tmp_path: Path) -> None:
    source, target = tmp_path / "plan.csv", tmp_path / "plan.json"
    source.write_text(CSV)
    document = inspect(source)
    assert document.format == "sharding_plan"
    assert "7 shards of 3 tables on 3 of the job's 3 ranks" in document.summary[0]
    said = convert(source, target)
    assert "7 shards of 3 tables" in said[-1]
    assert same(read_plan(target, SMALL, 3), read(tmp_path, CSV))
    source.write_text(CSV.replace("600,400", "601,399"))
    with pytest.raises(WorkloadError, match=r"plan.csv: table 'a': no shard has rows 600"):
        inspect(source)
    (tmp_path / "printed.txt").write_text(PRINTED)
    with pytest.raises(WorkloadError, match=r"printed.txt:7: table 'c' is data parallel, and its size is not in the"):
        inspect(tmp_path / "printed.txt")


def test_a_plan_of_torchrec_through_the_exporter(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    export_plan(torchrec_plan(), str(path))
    exported = read_plan_file(path, SMALL, 3)
    assert exported.form == "json"
    assert len(exported.notes) == 1
    assert read_plan_file(path, SMALL, 4).notes[1].startswith("table 'c' is data parallel on ranks 0, 1, 2 in the file")
    assert same(exported.plan, read(tmp_path, PRINTED))
    assert same(exported.plan, read(tmp_path, CSV.replace("600,0,8,hbm", "600,0,8,host")))
    assert plan_to_dict(torchrec_plan().plan["ebc"]).keys() == {"a", "b"}


def test_torchrec_lists_ranks_without_rows(tmp_path: Path) -> None:
    # three rows on four ranks, in blocks of one
    a = with_tables(table("a", rows=3))
    shards = [Shard([min(rank, 3), 0], [int(rank < 3), 8], f"rank:{rank}/cuda:{rank}") for rank in range(4)]
    path = tmp_path / "plan.json"
    export_plan({"a": Parameter("row_wise", "fused", [0, 1, 2, 3], Specification(shards))}, str(path))
    assert read_plan(path, a, 4).rank.tolist() == [0, 1, 2]


def test_the_exporter_refuses_what_it_cannot_name() -> None:
    with pytest.raises(ValueError, match="module 'other': there is a table 'a' in another module"):
        plan_to_dict(Planned(ebc=torchrec_plan().plan["ebc"], other=torchrec_plan().plan["ebc"]))
    nowhere = Specification([Shard([0, 0], [1, 1], "cuda:0")])
    with pytest.raises(ValueError, match="table 'a': a shard's placement is 'cuda:0'"):
        plan_to_dict({"a": Parameter("table_wise", "fused", [0], nowhere)})


def test_a_printed_plan_says_how_many_ranks_hold_shards(tmp_path: Path) -> None:
    path = tmp_path / "printed.txt"
    path.write_text(PRINTED.replace("fused_uvm", "fused_uvm_caching"))
    found = read_plan_file(path, SMALL, 5)
    assert found.form == "printed"
    assert "7 shards" not in found.notes[0]
    assert (
        "9 shards of 3 tables on 5 of the job's 5 ranks (1 row_wise, 1 column_wise, 1 data_parallel)" in found.notes[0]
    )
    assert "ignored: their cache" in found.notes[1]
    wise = "\n".join(
        f"{name},table_wise,{rank},0,1000,0,{dim},hbm" for name, rank, dim in [("a", 0, 8), ("b", 1, 16), ("c", 0, 8)]
    )
    assert found.notes[2] == "table 'c' is data parallel on ranks 0, 1, 2 in the file, and on all here"
    path.write_text(f"{','.join(COLUMNS)}\n{wise}\n")
    assert "3 shards of 3 tables on 2 of the job's 8 ranks (3 table_wise)" in read_plan_file(path, SMALL, 8).notes[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a,row_wise,2", "aa,row_wise,2", r"plan:3: the model has no table 'aa'; .*allowed: its tables, a, b, c"),
        ("a,row_wise,2", "a,row_wise,3", r"plan:3: table 'a' has a shard on rank 3; allowed: 0 to 2"),
        ("a,row_wise,2", "a,table_wise,2", r"plan:3: table 'a' is table_wise here and row_wise at :2"),
        ("a,row_wise", "a,rowwise", r"plan:2: table 'a': there is no sharding 'rowwise'; did you mean 'row_wise'"),
        ("8,host", "8,hots", r"plan:3: there is no tier 'hots'; did you mean 'host'"),
        ("600,400", "600,4e2", r"plan:3: table 'a': rows = '4e2' is not allowed; allowed: a whole number"),
        ("600,400", "600,-400", r"plan:3: .*rows = '-400'"),
        (
            "600,400",
            "500,400",
            r"plan: table 'a': two shards have rows 500 to 599, columns 0 to 7 \(at line 2 and line 3\)",
        ),
        ("600,400", "601,399", r"plan: table 'a': no shard has rows 600, columns 0 to 7 \(at line 3\)"),
        (
            "600,400",
            "600,500",
            r"plan: table 'a' has a shard of rows 600 to 1099.* within its 1000 rows .*\(at line 3\)",
        ),
        ("12,4,hbm", "12,3,hbm", r"plan: table 'b': no shard has rows 0 to 999, columns 15 \(at line 5\)"),
        ("12,4,hbm", "12,4", r"plan:5: 7 cells; allowed: 8"),
        ("c,data_parallel,all,0,1000,0,8,hbm\n", "", r"plan: table 'c' has no shard; allowed: each"),
        (
            "c,data_parallel,all",
            "c,data_parallel,1",
            r"'c' is data_parallel and not on rank 0; allowed.* \(at line 6\)",
        ),
        ("c,data", CSV.splitlines()[5] + "\nc,data", r"plan:7: table 'c' is on all ranks at :6 already"),
        ("dims,tier", "dims", r"plan:1: columns are .*allowed: table,sharding"),
        (CSV, "", r"plan:1: columns are ''"),
    ],
)
def test_csv_that_is_no_plan(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CSV
    with pytest.raises(WorkloadError, match=message):
        read(tmp_path, CSV.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rank:2/cuda:2", "rank:3/cuda:3", r"plan:12: table 'a' has a shard on rank 3; allowed: 0 to 2"),
        ("rank:2/cuda:2", "cuda:2", r"plan:12: placement 'cuda:2'; allowed: rank:N/device"),
        ("[600, 0]", "[600]", r"plan:12: table.*|plan:12: offsets \[600\]; allowed: two numbers"),
        ("fused_uvm", "fused_umv", r"plan:5: there is no compute kernel 'fused_umv'; did you mean 'fused_uvm'"),
        ("row_wise ", "grid_shard", r"plan:5: table 'a': TorchRec's grid_shard .* not read; allowed: .*table_column"),
        ("[0, 1]", "[0, 2]", r"plan:6: table 'b' is on ranks 0, 2 here, and its shards are on 0, 1; allowed: the"),
        ("b        [0, 12]", "d        [0, 12]", r"plan:14: a shard of 'd', which is in no table"),
        ("[0, 12]          [1000, 4]", "[0, 12]          [1000", r"plan:14: 'b .*' is not a line of a printed plan"),
        ("c        data", "b        data", r"plan:7: table 'b' is there twice"),
    ],
)
def test_a_printed_plan_that_is_none(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in PRINTED
    with pytest.raises(WorkloadError, match=message):
        read(tmp_path, PRINTED.replace(old, new, 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": 3}, r"plan: a: int; allowed: an object"),
        ({"a": {"compute_kernel": "fused"}}, r"plan: a: sharding_type is missing"),
        ({"a": {"sharding_type": "row_wise", "shard": []}}, r"a: unknown key 'shard'; did you mean 'shards'"),
        ({"a": {"sharding_type": "row_wise", "shards": {}}}, r"table 'a': no shard|a.shards: dict; allowed: a list"),
        ({"a": {"sharding_type": "row_wise", "shards": [{"rank": 0}]}}, r"a.shards\[0\]: offsets is missing"),
        (
            {"a": {"sharding_type": "table_wise", "shards": [{"rank": True, "offsets": [0, 0], "sizes": [1000, 8]}]}},
            r"a.shards\[0\]: table 'a': rank = True is not allowed",
        ),
        (
            {"a": {"sharding_type": "table_wise", "shards": [{"rank": 0, "offsets": [0], "sizes": [1000, 8]}]}},
            r"a.shards\[0\].offsets: allowed: a list of two",
        ),
    ],
)
def test_json_that_is_no_plan(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    tree = plan_to_dict(torchrec_plan())
    with pytest.raises(WorkloadError, match=message):
        read(tmp_path, json.dumps({**tree, **change}))


def test_other_files_are_refused(tmp_path: Path) -> None:
    for text, message in (
        ("{", ":1: not JSON"),
        ("{}", "an object of tables is needed"),
        ('{"a": 1, "a": 2}', "key 'a' is there twice"),
        ("[" * 10 + "\n", "columns are"),
        ('{"a":' * 100_000, "not a plan in JSON|not JSON"),
    ):
        with pytest.raises(WorkloadError, match=message):
            read(tmp_path, text)
    with pytest.raises(WorkloadError, match="cannot be read"):
        read_plan(tmp_path / "none", SMALL, 3)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(WorkloadError, match="byte 0 is not"):
        read_plan(tmp_path / "bytes", SMALL, 3)
    with pytest.raises(WorkloadError, match=r"ends in .csv or .json, not in '.txt'"):
        write_plan(read(tmp_path, CSV), tmp_path / "plan.txt")


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "text", [CSV, PRINTED, json.dumps(plan_to_dict(torchrec_plan()))], ids=["csv", "printed", "json"]
)
def test_mutated_files_raise_nothing_else(tmp_path: Path, text: str, count: int) -> None:
    draw = random.Random(1)
    path = tmp_path / "plan"
    for _ in range(count):
        content = bytearray(text.encode())
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(content))
            content[at : at + draw.randint(0, 3)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
        path.write_bytes(content)
        try:
            read_plan(path, SMALL, 3)
        except WorkloadError as error:
            assert str(path) in str(error)  # noqa: PT017  (either outcome is right)


def test_figures_of_ranks_by_hand(tmp_path: Path) -> None:
    # a: rows on ranks 0 and 2 (n = 2 of 3); b: columns of 12 and 4 on ranks 0 and 1; c: on all ranks. 10 samples each.
    plan = read(tmp_path, CSV)
    memory = Memory.of_ranks(3, 2**40)
    figures = rank_table(Exchanges(plan), memory)
    assert figures["memory_bytes"].tolist() == [9_600 + 24_000 + 32_000, 8_000 + 32_000, 6_400 + 32_000]
    assert figures["host_bytes"].tolist() == [0, 0, 6_400]
    # lengths of 4 B for 10 samples, indices of 8 B: 18 and 12 of a, 10 and 10 of b
    held = [18 * 8 + 40 + 10 * 8 + 40, 10 * 8 + 40, 12 * 8 + 40]
    assert figures["index_in_bytes"].tolist() == [2 * each for each in held]
    assert figures["index_out_bytes"].tolist() == [sum(held) - each for each in held]
    # a: half of 3 x 10 x 8 elements sent and received, and half of rank 1's 10 x 8 passed on by each
    a_sums, a_on = 3 * 10 * 8 // 2, 10 * 8 // 2
    out = [a_sums + a_on + 2 * 10 * 12, 2 * 10 * 4, a_sums + a_on]
    into = [a_sums + 10 * 4, 10 * 12 + 2 * a_on, a_sums + 10 * 16]
    assert sum(out) == sum(into)
    assert figures["forward_out_bytes"].tolist() == [2 * each for each in out]
    assert figures["forward_in_bytes"].tolist() == [2 * each for each in into]
    assert figures["backward_out_bytes"].tolist() == [2 * each for each in into]
    assert figures["replica_bytes"].tolist() == [16_000] * 3
    assert plan_table(plan)["memory_bytes"].tolist() == plan.memory_bytes.tolist()
    notes = " ".join(plan_notes(Exchanges(plan), memory))
    assert "1 row_wise in 2 shards, 1 column_wise in 2 shards, 1 data_parallel in 3 shards" in notes
    assert "max/mean" in notes


def test_figures_of_ranks_are_those_of_their_own_samples(tmp_path: Path) -> None:
    """Ranks of 4, 4 and 3 samples: what rank 2 asks for, gets and is asked for is less, and scales with the bytes."""
    plan = read(tmp_path, CSV)
    batch = np.array([4, 4, 3])
    figures = rank_table(Exchanges(plan, batch=batch), Memory.of_ranks(3, 2**40))
    # of 4 samples ranks 0 and 2 look up 7 and 5 of a's 12, all 4 of b's; of 3 samples 5 and 4 of 9, 3
    a, b, c = 8 * 2, 16 * 2, 8 * 2
    assert figures["looked_up_bytes"].tolist() == [
        (7 + 7 + 5) * a + 11 * b * 12 // 16 + 20 * c,
        11 * b * 4 // 16 + 20 * c,
        (5 + 5 + 4) * a + 15 * c,
    ]
    # to ranks 0 and 1: indices of 5 lookups of a and of 3 of b to each of its shards, and lengths of 3 samples of each
    assert figures["index_out_bytes"][2] == (5 + 3 + 3) * 8 + 3 * 3 * 4
    sums = 3 * 4 * 8 // 2 * 2
    assert figures["forward_in_bytes"][2] == 3 * 16 * 2 + sums
    halved = rank_table(Exchanges(plan, 0.5, batch), Memory.of_ranks(3, 2**40))
    assert halved["index_out_bytes"][2] == figures["index_out_bytes"][2] / 2
    assert halved["looked_up_bytes"].tolist() == figures["looked_up_bytes"].tolist()
