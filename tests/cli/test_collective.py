# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py collective``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from astra_py.cli.app import command
from small_job import write_job


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(["collective", *map(str, arguments)])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_a_row_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capsys, "all_reduce", "--algorithm", "ring", "--sizes", "64KiB:256KiB:2,1MB", "platform.ranks=4"
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "all_reduce ring, 4 ranks, engine packet"
    assert [line.split()[0] for line in lines[4:8]] == ["64KiB", "128KiB", "256KiB", "1MB"]
    assert max(map(len, lines)) <= 100


def test_json_rows_have_the_public_keys(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "all_to_all", "--sizes", "64KiB,128KiB", "--json", "platform.ranks=4")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["size_bytes"] for row in rows] == [65536, 131072]
    keys = {"collective", "algorithm", "ranks", "size_bytes", "time_ps", "algbw_GBps", "busbw_GBps", "analytic_time_ps"}
    keys |= {"ideal_time_ps", "events", "packets", "packet_hops", "wire_bytes", "setup_cpu_s", "simulation_cpu_s"}
    keys |= {"peak_rss_bytes", "seed", "digest", "checks"}
    for row in rows:
        assert keys <= set(row)
        assert row["busbw_GBps"] == pytest.approx(0.75 * row["size_bytes"] / row["time_ps"] * 1000)
        assert row["ideal_time_ps"] == row["size_bytes"] * 3 // 4 * 80
        # 12 messages of 16 KiB (or 32) in packets of 4,096 B, each with its acknowledgement, on two links
        assert row["packets"] == 12 * row["size_bytes"] // 4 // 4096
        assert row["packet_hops"] == 4 * row["packets"]


def test_nccl_tests_format(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "all_reduce", "--sizes", "1MiB", "--format", "nccl", "platform.ranks=2")
    assert code == 0
    (data,) = (line.split() for line in out.splitlines() if not line.startswith("#"))
    assert len(data) == 13
    assert data[:5] == ["1048576", "262144", "float", "sum", "-1"]


def test_sendrecv_goes_from_one_rank_to_another(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "sendrecv", "--src", 2, "--dst", 0, "--sizes", "4096B", "--json", "platform.ranks=3")
    row = json.loads(out)
    assert row["bottleneck_link"] == "switch0 -> rank0"
    # one packet on two links: serialisation twice, two delays, a switch
    assert row["time_ps"] == 2 * 80 * (4096 + 98) + 2 * 500_000 + 300_000


@pytest.mark.parametrize("engine", ["flow", "analytic"])
def test_a_scenario_gives_platform_and_transport(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, engine: str
) -> None:
    job = write_job(tmp_path)
    _, out, _ = run(capsys, "all_reduce", "--sizes", "4KiB", "--scenario", job, "--json", "--engine", engine)
    row = json.loads(out)
    assert (row["ranks"], row["engine"]) == (4, engine)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["barrier", "--sizes", "1KiB"], "--sizes '1KiB': a barrier has no bytes; allowed: no --sizes"),
        (["allreduce"], "unknown collective 'allreduce'; allowed: all_reduce, "),
        (["all_reduces"], "did you mean 'all_reduce'"),
        (["all_reduce", "--algorithm", "rings"], "collective.all_reduce = 'rings'"),
        (["all_reduce", "--sizes", "1"], "has no unit"),
        (["all_reduce", "--format", "csv"], "allowed: table, nccl"),
        (["all_reduce", "--format", "nccl", "--json"], "allowed: one of the two"),
        (["all_reduce", "--src", "0"], "only sendrecv takes them"),
        (["sendrecv", "--src", "1"], "sendrecv needs two different ranks: --src A --dst B, not 1 twice"),
        (["sendrecv", "--src", "1", "--dst", "1"], "sendrecv needs two different ranks"),
        (["all_reduce", "--sizes", "1MiB,0B"], "--sizes '1MiB,0B': all_reduce of 0 bytes sends nothing"),
        (["all_reduce", "--sizes", "2000TiB"], "'2000TiB' is above 1024TiB"),
        (["all_reduce", "platform.ranks=1"], "platform.ranks = 1: all_reduce has nobody to send to"),
        (["sendrecv", "platform.ranks=1"], "platform.ranks = 1: sendrecv has nobody to send to"),
        (["sendrecv", "--src", "0", "--dst", "8"], "rank 8 is not on the platform; allowed: 0 to 7"),
        (["all_reduce", "platform.rank=2"], "platform.rank"),
        (["all_reduce", "--engine", "guess"], "guess"),
    ],
)
def test_what_cannot_be_run_is_exit_2(capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert problem in err


def test_sendrecv_goes_from_rank_0_to_rank_1_and_may_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "sendrecv", "--sizes", "0B", "--json", "--engine", "packet")
    assert code == 0
    assert json.loads(out)["packets"] == 1
    _, out, _ = run(capsys, "sendrecv", "--sizes", "1B", "--json")
    assert json.loads(out)["bottleneck_link"] == "rank0 -> switch0"


def test_warnings_come_once_and_not_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    job = ("all_to_all", "--sizes", "64KiB,128KiB", "platform.kind=fat_tree", "platform.ranks=16")
    code, _, err = run(capsys, *job, "platform.ecmp_seeds=common")
    assert code == 0
    assert err.count("warning: ") == 1
    assert "platform.ecmp_seeds" in err
    assert run(capsys, *job, "platform.ecmp_seeds=common", "--quiet")[2] == ""
