# SPDX-License-Identifier: GPL-2.0-only
"""Pauses that wait for each other in a circle: found, named, and an error of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from astra_py.cli.app import command
from astra_py.errors import DeadlockError
from astra_py.platforms import Platform
from astra_py.platforms.platform import NodeKind
from behaviour.flows import GBPS, Flow, graph_of, run_flows

SWITCHES = [f"switch{node}" for node in range(4, 8)]
KEYS = ("platform.routing=hook", "switch.buffer=400kB", "transport.congestion_control=none")
FLOWS = [Flow(rank, (rank + 2) % 4, 4_000_000) for rank in range(4)]
CLOCKWISE = """\
def clockwise(src, dst, queue_pair, ways):
    following = f"switch{4 + (int(src[4:]) + 1) % 4}"
    return next(i for i, way in enumerate(ways) if following in way)
"""


def circle() -> Platform:
    """Four ranks, each on a switch of its own, and the switches in a ring."""
    kinds = [NodeKind.ACCELERATOR] * 4 + [NodeKind.SWITCH] * 4
    hosts = [(rank, 4 + rank, 100 * GBPS, 500_000) for rank in range(4)]
    return graph_of(kinds, [*hosts, *((4 + i, 4 + (i + 1) % 4, 100 * GBPS, 500_000) for i in range(4))])


def clockwise(src: str, dst: str, queue_pair: int, ways: Sequence[tuple[str, ...]]) -> int:
    following = SWITCHES[(int(src[4:]) + 1) % 4]
    return next(i for i, way in enumerate(ways) if following in way)


def up_and_down(src: str, dst: str, queue_pair: int, ways: Sequence[tuple[str, ...]]) -> int:
    """No way takes the link between the last and the first switch, so that no circle closes."""
    return next(i for i, way in enumerate(ways) if not any({a, b} == {"switch4", "switch7"} for a, b in pairwise(way)))


def test_a_circle_of_pauses_is_a_deadlock_that_names_its_switches() -> None:
    with pytest.raises(DeadlockError, match="PFC deadlock: these ports hold each other by pauses") as caught:
        run_flows(FLOWS, *KEYS, platform=circle(), routing_hook=clockwise)
    first, *waiting = str(caught.value).splitlines()
    links = [f"{a} -> {b}" for a, b in pairwise([*SWITCHES, SWITCHES[0]])]
    circles = ["; ".join(links[i:] + links[:i]) for i in range(4)]
    assert any(f"by pauses: {circle}; 4 of " in first for circle in circles), first
    for rank, switch in enumerate(SWITCHES):  # who waits for the circle is no part of it
        assert any(f"rank{rank} is paused by {switch}" in line for line in waiting)
    assert any("waits for message" in line for line in waiting)
    assert (caught.value.reason, caught.value.exit_code) == ("deadlock", 3)


def test_the_command_line_ends_with_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ways.py").write_text(CLOCKWISE)
    monkeypatch.setattr("astra_py.preparation.build_platform", lambda _: circle())
    hook = f"platform.routing_hook={tmp_path / 'ways.py'}:clockwise"
    with pytest.raises(SystemExit) as exit_of:
        command(
            ["collective", "all_to_all", "--algorithm", "bruck", "--sizes", "16MB", "platform.ranks=4", *KEYS, hook]
        )
    assert exit_of.value.code == 3
    assert "PFC deadlock" in capsys.readouterr().err


@pytest.mark.parametrize("buffer", ["400kB", "2MB"])
def test_without_a_circle_the_same_flows_end(buffer: str) -> None:
    keys = (*KEYS, f"switch.buffer={buffer}")
    result = run_flows(FLOWS, *keys, platform=circle(), routing_hook=up_and_down)
    assert len(result.pauses) > 0


def test_a_buffer_that_never_fills_does_not_deadlock() -> None:
    result = run_flows(FLOWS, *KEYS, "switch.buffer=1GB", platform=circle(), routing_hook=clockwise)
    assert len(result.pauses) == 0
