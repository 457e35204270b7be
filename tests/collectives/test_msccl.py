# SPDX-License-Identifier: GPL-2.0-only
"""MSCCL's XML: the same messages and times as the built-in algorithms, and what is wrong is named by its line."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from astra_py.api import one_collective
from astra_py.cli.app import command
from astra_py.collectives import SystemModel, Template, build_template, check_dataflow
from astra_py.config import load_scenario
from astra_py.errors import CheckError, ConfigError

FOLDER = Path(__file__).parent / "msccl"
RANKS = 4
TIMED = SystemModel(local_memory_bandwidth_bps=800 * 10**9)


def name_of(file: str) -> str:
    return f"file:{FOLDER / file}.xml"


def messages(template: Template) -> list[tuple[int, int, int]]:
    """Source, destination and size of each message, without an order."""
    is_send = template.is_send
    columns = (template.src[is_send], template.dst[is_send], template.size_bytes[is_send])
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


SAME = [
    ("ring_all_reduce", "all_reduce", "ring"),
    ("all_pairs_all_reduce", "all_reduce", "direct"),
    ("all_gather", "all_gather", "direct"),
    ("all_to_all", "all_to_all", "direct"),
]
OTHERS = [
    ("two_level_all_to_all", "all_to_all"),
    ("ring_reduce_scatter", "reduce_scatter"),
    ("one_step_all_reduce", "all_reduce"),
]


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize(("file", "kind", "built_in"), SAME)
@pytest.mark.parametrize("size_bytes", [65536, 1_000_003])
def test_the_same_messages_take_the_same_time(
    engine: str, file: str, kind: str, built_in: str, size_bytes: int
) -> None:
    # the file adds up when all has come, the built-in one as it comes: equal where that takes no time
    memory = "none" if file == "all_pairs_all_reduce" else "100GB/s"
    times, tables = [], []
    for algorithm in (name_of(file), built_in):
        overrides = [f"collective.{kind}={algorithm}", f"engine={engine}", f"system.local_memory_bandwidth={memory}"]
        run = one_collective(load_scenario({"platform": {"ranks": RANKS}}, overrides), kind, size_bytes)
        times.append(run.run().collectives["time_ps"].iloc[0])
        tables.append(messages(run.schedule.templates[0]))
    assert tables[0] == tables[1]
    if (engine, file) != ("analytic", "all_pairs_all_reduce"):
        # whole messages of one instant are served one after another, and these are ready in another order
        assert times[0] == times[1] > 0


@pytest.mark.parametrize(("file", "kind"), [(file, kind) for file, kind, _ in SAME] + OTHERS)
@pytest.mark.parametrize("system", [SystemModel(), TIMED], ids=["free", "timed"])
@pytest.mark.parametrize("chunks", [1, 3])
def test_it_does_what_it_promises(file: str, kind: str, system: SystemModel, chunks: int) -> None:
    size_bytes = 8 * 3 * 1000
    model = SystemModel(local_memory_bandwidth_bps=system.local_memory_bandwidth_bps, chunks=chunks)
    template = build_template(kind, name_of(file), RANKS, size_bytes, model)
    check_dataflow(template, size_bytes)
    assert template.size_bytes[template.is_send].sum() > 0


@pytest.mark.parametrize(("file", "kind"), OTHERS)
def test_it_runs_packet_by_packet(file: str, kind: str) -> None:
    scenario = load_scenario({"platform": {"ranks": RANKS}}, [f"collective.{kind}={name_of(file)}"])
    (row,) = one_collective(scenario, kind, 80_000).run().collectives.itertuples()
    assert row.time_ps > 0


def test_an_uneven_matrix_of_bytes_goes_where_a_pair_is_one_chunk() -> None:
    matrix = np.arange(16, dtype=np.int64).reshape(4, 4) * 10
    template = build_template("all_to_all_v", name_of("all_to_all"), RANKS, matrix)
    check_dataflow(template, matrix)
    direct = build_template("all_to_all_v", "direct", RANKS, matrix)
    assert messages(template) == messages(direct)
    check_dataflow(build_template("all_to_all_v", name_of("two_level_all_to_all"), RANKS, matrix), matrix)


def test_nothing_is_sent_where_there_are_fewer_bytes_than_chunks() -> None:
    template = build_template("all_reduce", name_of("ring_all_reduce"), RANKS, 2)
    check_dataflow(template, 2)
    assert len(template) == 2 * 6


def changed(folder: Path, file: str, *changes: tuple[str, str], kind: str = "all_reduce") -> Template:
    """Build from a copy of a file in which the first match of each pattern is replaced."""
    text = (FOLDER / f"{file}.xml").read_text()
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text, count=1)
        assert count == 1, pattern
    (folder / "changed.xml").write_text(text)
    return build_template(kind, f"file:{folder / 'changed.xml'}", RANKS, 4096)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('coll="allreduce"', 'coll="allreduc"'),
            r":3: <algo>: coll='allreduc'; allowed: allreduce, .*mean 'allreduce'",
        ),
        (
            ('coll="allreduce"', 'coll="allgather"'),
            r":17: step of type 's': chunk 1 of the input of gpu 1, of which there are 1",
        ),
        (('proto="Simple"', 'proto="LL64"'), r":3: <algo>: proto='LL64'; allowed: Simple, LL, LL128"),
        (('ngpus="4"', 'ngpus="5"'), r":3: <algo>: ngpus=5, and there are 4 <gpu>"),
        (('ngpus="4"', ""), r":3: <algo>: ngpus is missing"),
        (('<gpu id="1"', '<gpu id="0"'), r":15: <gpu>: id=0 is there already, in line 4"),
        (('<gpu id="3"', '<gpu id="4"'), r":3: <algo>: its <gpu> are numbered 0 to 3, and 3 is missing"),
        (('send="1"', 'send="7"'), r":5: <tb>: send=7; allowed: -1 to 3"),
        (('send="1"', 'send="0"'), r":5: <tb>: send=0 is the gpu itself"),
        (('send="1"', 'send="-1"'), r":6: <step>: type='s' in a threadblock with send=-1, that sends nothing"),
        (('type="rrcs"', 'type="rrsc"'), r":7: <step>: type='rrsc'; allowed: s, r, rcs.*did you mean"),
        (('srcbuf="i"', 'srcbuf="x"'), r":6: <step>: srcbuf='x'; allowed: i, o, s"),
        (('srcoff="0"', 'srcoff="zero"'), r":6: <step>: srcoff='zero'; allowed: a whole number"),
        (('cnt="1"', 'cnt="0"'), r":6: <step>: cnt=0; allowed: 1 or more"),
        (('srcoff="0"', 'srcoff="4"'), r":6: step of type 's': chunk 4 of the input of gpu 0, of which there are 4"),
        (('depid="-1"', 'depid="1"'), r":6: <step>: depid=1; allowed: -1 to 0"),
        (('depid="-1" deps="-1"', 'depid="0" deps="6"'), r":6: <step>: depid=0 deps=6 is no step before this one"),
        (("<gpu id", "<cpu id"), r":\d+: (not XML|<cpu>: it is inside <algo>, where only <gpu> may be)"),
        (("</algo>", ""), r":49: not XML: no element found"),
        ((r'inplace="1"', 'inplace="1" minBytes="8192"'), r"it is for 8,192 B or more .* not for 4,096 B"),
        ((r'inplace="1"', 'inplace="1" maxBytes="1024"'), r"it is for 0 to 1,024 B .* not for 4,096 B"),
        (('srcbuf="i"', 'srcbuf="s"'), r":6: step of type 's': chunk 0 of the scratch of gpu 0, of which there are 0"),
    ],
)
def test_what_a_line_may_not_have_is_named(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        changed(tmp_path, "ring_all_reduce", change)


def test_a_send_that_nobody_receives_and_a_receive_that_nobody_sends(tmp_path: Path) -> None:
    last = r'      <step s="6" type="r".*\n'
    with pytest.raises(ConfigError, match=r"changed\.xml:\d+: gpu 3 sends to gpu 0 on chan=0, and no step receives it"):
        changed(tmp_path, "ring_all_reduce", (last, ""))
    with pytest.raises(ConfigError, match=r"xml:\d+: step of type 'r': gpu \d waits here for a send of gpu \d"):
        changed(
            tmp_path,
            "all_gather",
            ('type="s"', 'type="nop"'),
            ('(?s)type="s"(.*)$', r'type="nop"\1'),
            kind="all_gather",
        )


def test_counts_at_both_ends_are_the_same(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r":\d+: step of type 'rrcs': cnt=1, and gpu 0 sends it 2 in line 6"):
        changed(tmp_path, "ring_all_reduce", ('cnt="1"', 'cnt="2"'))


def test_a_circle_of_dependencies_is_named(tmp_path: Path) -> None:
    first = 'type="s"(.*?)depid="-1" deps="-1"'
    with pytest.raises(ConfigError, match=r"waits here for step 1 of threadblock 1, which is never taken"):
        changed(
            tmp_path,
            "all_gather",
            (first, r'type="s"\1depid="1" deps="1"'),
            ('(?s)(<tb id="1".*?)depid="-1" deps="-1"', r'\1depid="0" deps="1"'),
            kind="all_gather",
        )


def test_what_is_lacking_at_the_end_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        CheckError, match=r"gpu 0 ends with chunk 0 of the output empty, and all_to_all promises it block 0"
    ):
        changed(tmp_path, "all_to_all", ('type="cpy"', 'type="nop"'), kind="all_to_all")
    with pytest.raises(CheckError, match=r"lacking the contribution of gpu"):
        changed(tmp_path, "ring_all_reduce", ('type="rrcs"', 'type="rcs"'))


def test_a_contribution_is_not_added_twice(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"step of type 're': adds the contribution of gpu \d to block 0 twice"):
        changed(
            tmp_path, "all_pairs_all_reduce", ('type="re" srcbuf="s" srcoff="1"', 'type="re" srcbuf="s" srcoff="0"')
        )
    with pytest.raises(ConfigError, match=r"adds block 1 of the data to block 0"):
        changed(
            tmp_path, "all_pairs_all_reduce", ('type="re" srcbuf="s" srcoff="1"', 'type="re" srcbuf="i" srcoff="1"')
        )


def test_a_missing_dependency_is_found_by_the_data_flow_check(tmp_path: Path) -> None:
    # the sum goes out by the second threadblock without waiting for the first to have ended it
    change = ('depid="1" deps="1"', 'depid="-1" deps="-1"')
    template = changed(tmp_path, "all_pairs_all_reduce", change)
    with pytest.raises(CheckError):
        check_dataflow(template, 4096)


def test_it_is_for_as_many_ranks_as_it_says() -> None:
    with pytest.raises(ConfigError, match=r"it is for 4 ranks, and the group has 5"):
        build_template("all_reduce", name_of("ring_all_reduce"), 5, 4096)


@pytest.mark.parametrize(("file", "kind"), [(file, kind) for file, kind, _ in SAME] + OTHERS)
@pytest.mark.parametrize("size_bytes", [8, 9, 11, 15, 1001])
def test_any_size_is_cut(file: str, kind: str, size_bytes: int) -> None:
    check_dataflow(build_template(kind, name_of(file), RANKS, size_bytes), size_bytes)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    changed(tmp_path, "ring_all_reduce", ('minBytes="1"|inplace="1"', 'inplace="1"'))
    os.utime(tmp_path / "changed.xml", ns=(1, 1))
    with pytest.raises(ConfigError, match=r"8,192 B or more"):
        changed(tmp_path, "ring_all_reduce", (r'inplace="1"', 'inplace="1" minBytes="8192"'))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.xml: cannot be read: No such file"):
        build_template("all_reduce", "file:nowhere.xml", 4, 4096)


def test_the_command_line_takes_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--sizes", "64KiB", "--quiet", "platform.ranks=4", "engine=analytic"]
    with pytest.raises(SystemExit) as caught:
        command(["collective", "all_reduce", "--algorithm", name_of("ring_all_reduce"), *sizes])
    assert caught.value.code == 0
    assert f"all_reduce {name_of('ring_all_reduce')}, 4 ranks" in capsys.readouterr().out
