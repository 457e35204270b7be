# SPDX-License-Identifier: GPL-2.0-only
"""Hosts that are slower than their links: a flow has what one core carries, several flows what several do."""

from __future__ import annotations

import pytest

import astra_py as ap
from behaviour.flows import Flow, run_flows

LINK_GBPS, SHARE = 100, 8948 / 9038


def sockets(count: int, core_gbps: int, *keys: str, size_bytes: int = 20_000_000) -> tuple[ap.Result, float]:
    """The run of a flow over so many sockets, a core each, and what it delivers in Gb/s after the first fifth."""
    tables = ("transport.kind=tcp", "platform.ranks=2", f"platform.link_rate={LINK_GBPS}Gbps", "host.rss=socket_index")
    own = (f"transport.tcp.sockets_per_peer={count}", f"host.cores={count}", f"host.copy_rate={core_gbps}Gbps")
    parts = 5 * count
    result = run_flows([Flow(0, 1, count * size_bytes, messages=parts)], *tables, *own, *keys)
    times = result.messages["delivered_ps"].sort_values().to_numpy()
    return result, 8e3 * size_bytes * (parts - count) / 5 / (times[-1] - times[count - 1])


@pytest.mark.parametrize("core_gbps", [10, 40])
def test_one_socket_gets_what_its_core_copies(core_gbps: int) -> None:
    result, gbps = sockets(1, core_gbps)
    assert gbps == pytest.approx(core_gbps, rel=0.02)
    cores = result.host_cores
    assert (cores["utilisation_percent"] <= 100).all()
    assert cores["utilisation_percent"].max() > 98


@pytest.mark.parametrize(("count", "core_gbps"), [(2, 10), (4, 10), (2, 40), (4, 40)])
def test_sockets_on_cores_of_their_own_add_up_to_the_link(count: int, core_gbps: int) -> None:
    _, gbps = sockets(count, core_gbps)
    assert gbps == pytest.approx(min(count * core_gbps, LINK_GBPS * SHARE), rel=0.02)


def test_sockets_that_share_a_core_get_what_one_does() -> None:
    _, gbps = sockets(4, 20, "host.cores=1", size_bytes=5_000_000)
    assert gbps == pytest.approx(20, rel=0.02)


def test_a_core_that_has_half_to_do_is_half_busy() -> None:
    result, gbps = sockets(1, 2 * LINK_GBPS)
    assert gbps == pytest.approx(LINK_GBPS * SHARE, rel=0.02)
    assert result.host_cores["utilisation_percent"].max() == pytest.approx(50 * SHARE, rel=0.03)


def test_packets_that_cost_bound_the_receiver() -> None:
    """1 us a packet of 8,948 B is 71.6 Gb/s; merged up to 64 KiB it binds no more."""
    keys = ("host.per_packet=1us", "host.copy_rate=none")
    _, gbps = sockets(1, 1, *keys)
    assert gbps == pytest.approx(8948 * 8 / 1000, rel=0.02)
    _, gbps = sockets(1, 1, *keys, "host.gro=true", "host.rx_usecs=5us")
    assert gbps == pytest.approx(LINK_GBPS * SHARE, rel=0.02)
