# SPDX-License-Identifier: GPL-2.0-only
"""Large platforms: many ports on a switch, and thousands of hosts of which two talk."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from behaviour.flows import Flow, incast, run_flows

FOUR_THOUSAND = """
import json
from astra_py.api import one_collective
from astra_py.config import load_scenario

result = one_collective(load_scenario({}, ["platform.ranks=4000", KIND]), "sendrecv", 1_000_000, (7, 3990)).run()
print(json.dumps(result.manifest["run"]))
"""


def test_five_hundred_and_twelve_ports() -> None:
    """Half of the ports send to the other half, and all that are left to one of them."""
    flows = [*(Flow(i, 256 + i, 100_000) for i in range(256)), *(Flow(i, 256, 20_000) for i in range(1, 256))]
    result = run_flows(flows, "platform.ranks=512", "switch.buffer=64MB", "transport.congestion_control=none")
    assert len(result.queues) == 512
    assert result.queues["refused_frames"].sum() == 0
    assert len(result.messages) == 511


def test_pauses_of_five_hundred_and_eleven_senders_drop_nothing() -> None:
    result = run_flows(incast(511, 100_000), "platform.ranks=512", "transport.congestion_control=none")
    assert result.queues["pauses_sent"].sum() == len(result.pauses) > 511
    assert result.queues["refused_frames"].sum() == 0


@pytest.mark.parametrize("kind", ["single_switch", "leaf_spine", "fat_tree"])
def test_four_thousand_hosts_and_one_flow(kind: str) -> None:
    script = FOUR_THOUSAND.replace("KIND", repr(f"platform.kind={kind}"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    cost = json.loads(done.stdout)
    assert cost["setup_cpu_s"] < 5
    assert cost["peak_rss_bytes"] < 10**9
