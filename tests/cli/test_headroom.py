# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py headroom``."""

from __future__ import annotations

import json

import pytest

from astra_py.cli.app import command
from astra_py.hardware import pfc_headroom

LINK = ("--rate", "100Gbps", "--delay", "1us", "--mtu", "4096B")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(["headroom", *arguments])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_the_sum_and_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *LINK)
    assert (code, err) == (0, "")
    assert [line.split()[-1] for line in out.splitlines()] == ["bytes", "25000", "8192", "3840", "37032"]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *LINK, "--response-quanta", "100", "--json")
    row = json.loads(out)
    assert row["headroom_bytes"] == row["wire_bytes"] + row["frames_bytes"] + row["response_bytes"] == 39_592
    assert (row["rate_bps"], row["delay_ps"], row["mtu_bytes"], row["response_quanta"]) == (10**11, 10**6, 4096, 100)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--rate", "100", *LINK[2:]), "--rate: '100' has no unit"),
        ((*LINK[:2], "--delay", "1m", *LINK[4:]), "--delay: "),
        ((*LINK[:4], "--mtu", "4kb"), "--mtu: "),
        ((*LINK, "--response-quanta", "-1"), "allowed: 0 to 65535"),
        (LINK[2:], "--rate"),
    ],
)
def test_bad_options_exit_2(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_a_byte_that_is_on_the_wire_in_part_counts_whole() -> None:
    assert pfc_headroom(rate_bps=10**9, delay_ps=1, frame_bytes=0, response_quanta=0).wire_bytes == 1
    assert pfc_headroom(rate_bps=10**9, delay_ps=0, frame_bytes=64, response_quanta=0).total_bytes == 128
