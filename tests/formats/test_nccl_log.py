# SPDX-License-Identifier: GPL-2.0-only
"""Logs of nccl-tests: rows, headers of several GPUs, the average computed again, wrong values, damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.errors import WorkloadError
from astra_py.formats import NCCL_TESTS, read, recognise
from formats.mutations import FEW, MANY, survives

LOG = """\
# nThread 1 nGpus 2 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   8521 on     node-a device  0 [0x07] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid   8521 on     node-a device  1 [0x0b] NVIDIA A100-SXM4-40GB
#  Rank  2 Group  0 Pid   9122 on     node-b device  0 [0x07] NVIDIA A100-SXM4-40GB
node-a:8521:8600 [0] NCCL INFO Bootstrap : Using eth0
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    52.43   20.00   26.67      0    50.00   20.97   27.96      0
     2097152        524288     float     sum      -1    80.00   26.21   34.95      0    79.10   26.51   35.35      0
     4194304       1048576     float     sum      -1   140.50   29.85   39.80      0   139.80   30.00   40.00    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 34.1217
#
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "nccl.log"
    path.write_text(LOG)
    return path


def test_rows_become_a_table(log: Path) -> None:
    assert recognise(log) is NCCL_TESTS
    document = read(log)
    table = document.content
    assert table.size_bytes.tolist() == [2**20, 2**21, 2**22]
    assert table.time_us.tolist() == [52.43, 80.0, 140.5]
    assert table.in_place_busbw_GBps.tolist() == [27.96, 35.35, 40.0]
    assert (table.dtype[0], table.redop[0], table.root[0]) == ("float", "sum", -1)
    assert table.in_place_wrong.tolist() == ["0", "0", "N/A"]
    assert "3 rows read" in document.summary[0]
    assert "3 GPUs on 2 hosts" in document.summary
    assert document.summary[-1] == "average busbw 34.1217 GB/s, computed; the log has 34.1217"
    assert (document.warnings, document.ignored, document.ranks) == ((), ("1 other lines",), 3)


def test_rows_without_operation_or_root(log: Path) -> None:
    log.write_text(LOG.replace("float     sum      -1", "float              "))
    table = read(log).content
    assert (table.redop.tolist(), table.root.tolist()) == (["none"] * 3, [-1] * 3)


def test_a_lost_row_is_found_by_the_average(log: Path) -> None:
    lines = LOG.splitlines(keepends=True)
    del lines[11]
    log.write_text("".join(lines))
    with pytest.raises(
        WorkloadError, match=r"line 15: the average busbw is 34.1217 GB/s, and the 2 rows above have 37.5"
    ):
        read(log)


def test_a_log_that_was_cut_has_no_average(log: Path) -> None:
    log.write_text(LOG[: LOG.index("# Out of")])
    assert read(log).summary[-1] == "average busbw 34.1217 GB/s, computed; the log has none"


def test_wrong_values_are_warned_of(log: Path) -> None:
    log.write_text(LOG.replace("26.67      0", "26.67      7").replace("values : 0 OK", "values : 7 FAILED"))
    assert [warning.partition(": ")[2] for warning in read(log).warnings] == [
        "7 values are wrong",
        "#wrong is not 0, as in 1 of 3 rows: results were not right",
    ]


def test_errors_of_older_versions_are_no_wrong_values(log: Path) -> None:
    text = (
        LOG.replace("#wrong", " error").replace("26.67      0", "26.67  4e-07").replace("27.96      0", "27.96  0e+00")
    )
    log.write_text(text)
    document = read(log)
    assert document.content.wrong.tolist() == ["4e-07", "0", "0"]
    assert document.warnings == ()
    log.write_text(text.replace("values : 0 OK", "values : 7 FAILED"))
    assert [warning.partition(": ")[2] for warning in read(log).warnings] == ["7 values are wrong"]


BAD = [
    ("    50.00   20.97   27.96      0\n", "    50.00   20.97   27.96\n", r"line 12: fields 5 to 7 are negative"),
    ("   52.43 ", "   fast ", r"line 12: field 6, time in us, is 'fast'"),
    ("26.67      0", "26.67      x", r"line 12: field 9, #wrong, is 'x'"),
    ("#\n# Using", "# Avg bus bandwidth : 3\n# Using", r"line 16: a second average: the log is of several runs"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_wrong_is_said_with_its_line(log: Path, old: str, new: str, message: str) -> None:
    assert old in LOG
    log.write_text(LOG.replace(old, new, 1))
    with pytest.raises(WorkloadError, match=message):
        read(log)


def test_a_log_without_rows_is_refused(log: Path) -> None:
    log.write_text("".join(line for line in LOG.splitlines(keepends=True) if "float" not in line))
    with pytest.raises(WorkloadError, match="has no row of results"):
        read(log)


def _damaged(tmp_path: Path, log: Path, count: int) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    survives(NCCL_TESTS, [log], folder, count)


def test_it_survives_damage(tmp_path: Path, log: Path) -> None:
    _damaged(tmp_path, log, FEW)


@pytest.mark.slow
def test_it_survives_much_damage(tmp_path: Path, log: Path) -> None:
    _damaged(tmp_path, log, MANY)
