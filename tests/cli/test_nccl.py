# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import re

import pytest

from astra_py.cli.nccl import nccl_table


def _row(kind: str = "all_reduce", size_bytes: int = 2**20, time_us: float = 123.456) -> dict[str, object]:
    time_ps = round(time_us * 1e6)
    algbw = size_bytes * 1000 / time_ps
    return {
        "collective": kind,
        "ranks": 8,
        "size_bytes": size_bytes,
        "time_ps": time_ps,
        "algbw_GBps": algbw,
        "busbw_GBps": 1.75 * algbw,
    }


def test_a_size_is_thirteen_columns_under_their_headings() -> None:
    lines = nccl_table([_row()]).splitlines()
    data = [line for line in lines if not line.startswith("#")]
    place = ["123.5", "8.49", "14.86", "N/A"]
    # nothing was simulated in place, and nothing was compared
    assert data[0].split() == ["1048576", "262144", "float", "sum", "-1", *place, *["N/A"] * 4]
    assert "# Out of bounds values : N/A (no data)" in lines
    # right edges of headings and figures agree
    heading = next(line for line in lines if "redop" in line)
    edges = [match.end() for match in re.finditer(r"\S+", heading[1:])]
    assert [match.end() - 1 for match in re.finditer(r"\S+", data[0])] == edges


@pytest.mark.parametrize(
    ("kind", "count", "redop"),
    [("all_reduce", "262144", "sum"), ("all_to_all", "32768", "none"), ("sendrecv", "262144", "sum")],
)
def test_count_and_operation_follow_nccl_tests(kind: str, count: str, redop: str) -> None:
    fields = next(line for line in nccl_table([_row(kind)]).splitlines() if not line.startswith("#")).split()
    assert (fields[1], fields[3]) == (count, redop)


@pytest.mark.parametrize(
    ("time_us", "text"), [(5.678, "5.68"), (99.99, "99.99"), (100.04, "100.0"), (12345.6, "12346")]
)
def test_times_have_nccl_tests_decimals(time_us: float, text: str) -> None:
    fields = next(line for line in nccl_table([_row(time_us=time_us)]).splitlines() if not line.startswith("#")).split()
    assert fields[5] == text


def test_the_average_is_that_of_busbw() -> None:
    table = nccl_table([_row(time_us=100), _row(time_us=200)])
    assert f"# Avg bus bandwidth    : {1.75 * 2**20 / 1e5 * 0.75:g}" in table
