# SPDX-License-Identifier: GPL-2.0-only
"""Checks of a run over TCP hold in every kind of run."""

from __future__ import annotations

import pytest

from astra_py.api import Run, one_collective
from astra_py.config import load_scenario

KERNEL = "host.preset=kernel_tcp_tso_gro"


def tcp_run(*overrides: str, kind: str = "all_to_all", size_bytes: int = 400_000) -> Run:
    scenario = load_scenario({"platform": {"ranks": 4}, "transport": {"kind": "tcp"}}, overrides)
    return one_collective(scenario, kind, size_bytes)


@pytest.mark.parametrize(
    "overrides",
    [
        "transport.tcp.mtu=1500B",
        "transport.tcp.timestamps=false transport.tcp.mtu=1500B",
        "transport.tcp.connect=timed",
        "transport.tcp.sockets_per_peer=3",
        "transport.tcp.sockets_per_peer=3 transport.tcp.socket_policy=striped",
        "platform.link_loss=0.002",
        "switch.buffer=100kB transport.congestion_control=newreno",
        "switch.pfc=true switch.buffer=100kB",
        "platform.kind=leaf_spine platform.routing=spray",
        "platform.kind=zionex platform.nodes=2 platform.accelerators_per_node=2 platform.ranks=4",
        "platform.kind=zion platform.nodes=2 platform.accelerators_per_node=2 platform.ranks=4",
        f"{KERNEL} host.staging=always",
        f"{KERNEL} host.rss=socket_index host.cores=1 transport.tcp.sockets_per_peer=2",
        "transport.send_latency=1us transport.receive_latency=2us system.endpoint_delay=1us",
    ],
)
@pytest.mark.parametrize("size_bytes", [0, 3, 400_003])
def test_every_run_passes(overrides: str, size_bytes: int) -> None:
    if size_bytes == 0:
        assert tcp_run(*overrides.split(), kind="barrier", size_bytes=0).run().checks
    else:
        assert tcp_run(*overrides.split(), size_bytes=size_bytes).run().checks
