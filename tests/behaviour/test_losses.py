# SPDX-License-Identifier: GPL-2.0-only
"""Links that lose frames: every collective ends, each message comes once, and nothing is repeated without a loss."""

from __future__ import annotations

from typing import Any

import pytest

import astra_py as ap
from astra_py.api import one_collective
from astra_py.collectives import algorithm_names
from astra_py.config import load_scenario
from astra_py.workloads import COLLECTIVE_KINDS
from behaviour.flows import MS, Flow, incast, run_flows

ALGORITHMS = [(kind, name) for kind in COLLECTIVE_KINDS for name in algorithm_names(kind)]
#: Two machines of four with a NIC for each GPU; links inside are scale-up and lose nothing.
MACHINES = ("platform.kind=zionex", "platform.accelerators_per_node=4")
#: So small a loss that no frame meets it, and yet the timers are armed.
ARMED = "platform.link_loss=1e-15"


def collective(kind: str, algorithm: str, size_bytes: int, *overrides: str) -> ap.Result:
    keys = [*MACHINES, f"collective.{kind}={algorithm}", *overrides]
    group = (1, 6) if kind == "sendrecv" else None
    return one_collective(load_scenario({}, keys), kind, 0 if kind == "barrier" else size_bytes, group).run()


def assert_each_message_once(result: ap.Result) -> None:
    """As the run's checks found; all was acknowledged, and what was repeated is counted where it was."""
    messages, counted = result.messages, {check.name: check.measured for check in result.checks}
    assert counted["sent_bytes"] == counted["received_bytes"] == messages["size_bytes"].sum()
    assert (messages["delivered_ps"] <= messages["acked_ps"]).all()
    assert result.counters["repeated_packets"] == messages["retransmitted_packets"].sum()
    assert result.counters["dropped_frames"] == result.links["dropped_frames"].sum()


@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS)
def test_every_collective_ends(kind: str, algorithm: str, recovery: str) -> None:
    keys = (f"transport.recovery={recovery}", "platform.link_loss=0.1")
    result = collective(kind, algorithm, 400_000, *keys)
    assert_each_message_once(result)
    if kind != "barrier":
        assert result.counters["dropped_frames"] > 0
        assert result.counters["repeated_packets"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
@pytest.mark.parametrize("loss", ["0.001", "0.1"])
@pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS)
def test_every_collective_ends_at_full_size(kind: str, algorithm: str, loss: str, recovery: str) -> None:
    result = collective(kind, algorithm, 16 << 20, f"platform.link_loss={loss}", f"transport.recovery={recovery}")
    assert_each_message_once(result)
    if kind != "barrier":
        assert result.counters["repeated_packets"] > 0


def test_a_lost_last_packet_costs_a_timeout() -> None:
    """One frame a message: nothing that follows tells of its loss."""
    result = run_flows([Flow(0, 1, 1000, i * MS) for i in range(200)], "platform.link_loss=0.05", "platform.ranks=2")
    assert_each_message_once(result)
    assert result.counters["timeouts"] >= result.counters["repeated_packets"] > 0
    assert result.counters["naks"] == 0


def test_selective_repeat_repeats_what_was_lost_and_go_back_n_what_followed_too() -> None:
    keys = ("platform.link_loss=0.01", "transport.congestion_control=none")
    repeated: dict[str, Any] = {
        recovery: run_flows([Flow(0, 1, 4_000_000)], *keys, f"transport.recovery={recovery}").counters
        for recovery in ("go_back_n", "selective_repeat")
    }
    assert 0 < repeated["selective_repeat"]["repeated_packets"] < repeated["go_back_n"]["repeated_packets"] / 4


@pytest.mark.parametrize("control", ["none", "dcqcn", "hpcc", "timely", "swift", "dctcp"])
def test_ten_milliseconds_of_link_are_no_loss(control: str) -> None:
    keys = (ARMED, "platform.link_delay=10ms", f"transport.congestion_control={control}", "platform.ranks=5")
    result = run_flows([*incast(4, 3_000_000), Flow(1, 2, 10_000, 5 * MS)], *keys)
    assert result.counters["timeouts"] == result.counters["repeated_packets"] == 0


@pytest.mark.parametrize(
    "platform", ["platform.kind=single_switch", "platform.kind=leaf_spine", "platform.kind=fat_tree"]
)
@pytest.mark.parametrize("buffer", ["3MB", "8MB", "auto"])
def test_long_pauses_are_no_loss(platform: str, buffer: str) -> None:
    """Frames that wait behind pauses at every switch of their way are late and not lost."""
    keys = (ARMED, platform, "platform.ranks=32", f"switch.buffer={buffer}", "transport.congestion_control=none")
    result = run_flows(incast(31, 3_000_000), *keys)
    assert len(result.pauses) > 0
    assert result.counters["timeouts"] == result.counters["repeated_packets"] == 0
