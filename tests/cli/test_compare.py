# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py compare``: tables, bars and sentences, formats, and the exit code of a tolerance."""

import csv
import io
import json
import re
from functools import partial

import pytest

from astra_py.analysis.explain import explain
from astra_py.cli.app import command

RING = ["--collective", "all_reduce", "--sizes", "8KiB", "platform.ranks=4"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_info:
        command(["compare", *arguments])
    captured = capsys.readouterr()
    return exit_info.value.code, captured.out, captured.err


def test_a_collective_is_compared_and_explained(capsys):
    code, out, err = run(capsys, *RING)
    assert code == 0
    assert not err
    assert "packet us" in out
    assert "analytic us" in out
    assert "platform.link_delay moves it." in " ".join(out.split())
    assert out.count("  |") == 1
    # the parts that occur as a table, too; where a terminal is too narrow, further ones below
    headers = [line.removeprefix("collective") for line in out.splitlines() if line.startswith("collective ")]
    columns = [column.strip() for column in re.sub(" us\\b", ",", "".join(headers)).split(",")]
    engines = ["packet", "analytic", "analytic difference"]
    parts = ["payload", "headers", "propagation", "switching", "unexplained"]
    assert columns == [*engines, *parts, ""]


def test_a_tolerance_that_is_not_met_is_exit_code_1(capsys):
    assert run(capsys, *RING, "--tolerance", "50%")[0] == 0
    code, out, err = run(capsys, *RING, "--tolerance", "0.1%")
    assert code == 1
    assert "not within 0.1 % of packet" in err
    assert "packet us" in out


def test_formats(capsys, tmp_path):
    code, out, _ = run(capsys, *RING, "--format", "json", "--out", str(tmp_path / "o"))
    assert code == 0
    content = json.loads(out)
    assert content["labels"] == ["packet", "analytic"]
    assert len(content["why"]) == 1
    assert {path.name for path in (tmp_path / "o").iterdir()} == {
        "table.csv",
        "why.csv",
        "queueing.csv",
        "stretches.csv",
        "comparison.json",
        "comparison.md",
    }
    rows = list(csv.DictReader(io.StringIO(run(capsys, *RING, "--format", "csv")[1])))
    assert [row["level"] for row in rows] == ["iteration", "collective", "phase", "phase"]
    assert "### why" in run(capsys, *RING, "--format", "markdown")[1]
    assert "### why" not in run(capsys, *RING, "--format", "markdown", "--no-why")[1]


def test_a_folder_with_something_in_it_is_left_alone(capsys, tmp_path):
    (tmp_path / "mine").touch()
    code, out, err = run(capsys, *RING, "--out", str(tmp_path))
    assert code == 2
    assert not out
    assert "absent or empty" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


LOG = """\
# nThread 1 nGpus 1 minBytes 8192 maxBytes 1048576 step: 128(factor) warmup iters: 5 iters: 20
# Rank  0 Group  0 Pid 1 on host device  0 [0x07] NVIDIA A100
# Rank  1 Group  0 Pid 2 on host device  1 [0x0f] NVIDIA A100
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
        8192          2048     float     sum      -1    20.00    0.41    0.61      0    21.00    0.39    0.59      0
     1048576        262144     float     sum      -1    200.0    5.24    7.86      0    201.0    5.22    7.83      0
# Out of bounds values : 0 OK
"""


def test_a_log_of_nccl_tests_is_what_is_compared_with(capsys, tmp_path):
    log = tmp_path / "all_reduce.log"
    log.write_text(LOG)
    given = ["--collective", "all_reduce", "--log", str(log), "platform.ranks=4", "--no-why"]
    code, out, err = run(capsys, *given, "--format", "json", "--tolerance", "60%")
    assert code == 0
    content = json.loads(out)
    assert content["labels"] == ["measured", "packet", "analytic"]
    rows = [row for row in content["table"] if row["level"] == "collective"]
    assert [(row["size_bytes"], row["measured_us"]) for row in rows] == [(8192, 20.0), (1048576, 200.0)]
    assert "is of 2 GPUs, and the platform has 4 ranks" in err
    assert "2 rows read" in err
    assert run(capsys, *given, "--tolerance", "1%")[0] == 1
    code, out, err = run(capsys, *given, "--sizes", "8KiB", "--quiet")
    assert (code, err) == (0, "")
    assert "1048576" not in out


def test_a_log_that_is_none_is_refused(capsys, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of the kind\n")
    code, _, err = run(capsys, *RING, "--log", str(tmp_path / "notes.txt"))
    assert code == 2
    assert "notes.txt" in err


def test_a_log_of_another_collective_is_refused(capsys, tmp_path):
    log = tmp_path / "reduce_scatter.log"
    log.write_text("# Collective test starting: reduce_scatter_perf\n" + LOG)
    given = ["--log", str(log), "platform.ranks=4", "--no-why", "--engines", "analytic"]
    code, out, err = run(capsys, "--collective", "all_reduce", *given)
    assert (code, out) == (2, "")
    assert "a log of reduce_scatter, not of all_reduce" in err
    assert run(capsys, "--collective", "reduce_scatter", *given)[0] == 0


def test_sizes_that_a_log_does_not_have_are_told(capsys, tmp_path):
    log = tmp_path / "all_reduce.log"
    log.write_text(LOG)
    given = ["--collective", "all_reduce", "--log", str(log), "platform.ranks=2", "--engines", "analytic"]
    _, _, err = run(capsys, *given, "--sizes", "8KiB,1GiB,1KiB", "--tolerance", "99%")
    assert "warning: measured: the log has no time of 1,024 B, 1,073,741,824 B" in err
    assert "has no time of" not in run(capsys, *given)[2]


def test_sizes_of_a_log_in_gib_are_powers_of_two(capsys, tmp_path):
    log = tmp_path / "all_reduce.log"
    log.write_text(LOG.replace("1048576        262144", f"{2**33}    {2**31}"))
    given = ["--collective", "all_reduce", "--log", str(log), "platform.ranks=2", "--engines", "analytic", "--quiet"]
    _, out, _ = run(capsys, *given, "--sizes", "8GiB", "--format", "json")
    (row,) = [row for row in json.loads(out)["table"] if row["level"] == "collective"]
    assert (row["size_bytes"], row["measured_us"]) == (2**33, 200.0)
    _, out, _ = run(capsys, *given, "--sizes", "8GB", "--format", "json")
    (row,) = [row for row in json.loads(out)["table"] if row["level"] == "collective"]
    assert (row["size_bytes"], row["measured_us"]) == (8 * 10**9, None)


def test_times_are_told_where_the_paths_are_too_long_to_explain(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("astra_py.analysis.comparison.explain", partial(explain, max_records=10))
    code, out, err = run(capsys, *RING, "--out", str(tmp_path / "o"))
    assert code == 2
    assert "packet us" in out
    assert "moves it" not in out
    assert "more than 10 frames" in err
    assert "--no-why" in err
    assert {path.name for path in (tmp_path / "o").iterdir()} == {"table.csv", "comparison.json", "comparison.md"}
    assert run(capsys, *RING, "--format", "csv")[0] == 0
    assert run(capsys, *RING, "--no-why")[0] == 0


def test_variants(capsys):
    _, out, _ = run(capsys, *RING, "--engines", "packet", "--vary", "collective.all_reduce=ring,direct", "--no-why")
    assert "  B: collective.all_reduce=direct\n" in out
    assert " packet B " in out


def test_a_job(capsys):
    code, out, _ = run(capsys, "workloads/astra2020_16.toml", "--engines", "analytic,packet", "--no-why")
    assert code == 0
    assert "iteration 1" in out
    assert "embedding.forward, iteration 0" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a scenario file is missing"),
        ([*RING, "--format", "xml"], "allowed: table, markdown, csv, json"),
        ([*RING, "--tolerance", "five"], "a share such as 5%"),
        ([*RING, "--vary", "transport.window"], "allowed: key.path=V1,V2"),
        ([*RING, "--vary", "seed=1", "--vary", "seed=2"], "given twice"),
        (
            [*RING, "--engines", "packet,flw"],
            "unknown engine 'flw'; allowed: packet, flow, analytic; did you mean 'flow'?",
        ),
        (["--collective", "all_reduce"], "collective is given without sizes"),
        (["nowhere.toml"], "nowhere.toml"),
        (["--log", "nccl.log"], "--log nccl.log: a log is of one collective; allowed: with --collective KIND"),
    ],
)
def test_usage_errors_exit_2(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert message in err


def test_warnings_are_told_once(capsys):
    given = [*RING, "collective.in_flight=2", "collective.all_reduce=ring", "--no-why"]
    _, _, err = run(capsys, *given)
    assert err.count("collective.in_flight") == 1
    assert err.startswith("warning: packet: ")
    assert not run(capsys, *given, "--quiet")[2]
