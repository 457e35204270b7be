# SPDX-License-Identifier: GPL-2.0-only
"""Hosts that are slower than their links: a connection has what a core carries, several have what several do."""

from __future__ import annotations

import numpy as np
import pytest

from astra_py.engines.base import EngineColumns
from behaviour.flows import Flow, FlowRun

LINK_GBPS, SHARE = 100, 8948 / 9038
KEYS = ("transport.kind=tcp", "platform.ranks=2", f"platform.link_rate={LINK_GBPS}Gbps", "host.rss=socket_index")


def sockets(count: int, *keys: str, size_bytes: int = 8_000_000) -> tuple[EngineColumns, float]:
    """A run of so many bytes a socket, in messages over sockets in turn, and its Gb/s after the first fifth."""
    parts = 5
    own = (f"transport.tcp.sockets_per_peer={count}", f"host.cores={count}")
    given = {key.partition("=")[0]: key for key in (*KEYS, *own, *keys)}
    columns = FlowRun([Flow(0, 1, count * size_bytes, messages=parts * count)], *given.values()).record().columns
    times = np.sort(columns.message_delivered_ps)
    return columns, 8e3 * size_bytes * count * (parts - 1) / parts / float(times[-1] - times[count - 1])


@pytest.mark.parametrize("tso", ["false", "true"])
@pytest.mark.parametrize("core_gbps", [10, 40, 80])
def test_one_socket_gets_what_its_core_copies(core_gbps: int, tso: str) -> None:
    columns, gbps = sockets(1, f"host.copy_rate={core_gbps}Gbps", f"host.tso={tso}")
    assert gbps == pytest.approx(core_gbps, rel=0.02)
    utilisation = columns.core_busy_ps / columns.end_ps
    assert utilisation.max() <= 1
    assert utilisation.min() > 0.95  # The sender's core and the receiver's.


@pytest.mark.parametrize(("count", "core_gbps"), [(2, 10), (4, 10), (2, 40), (4, 40)])
def test_sockets_on_cores_of_their_own_add_up_to_the_link(count: int, core_gbps: int) -> None:
    columns, gbps = sockets(count, f"host.copy_rate={core_gbps}Gbps", size_bytes=4_000_000)
    assert gbps == pytest.approx(min(count * core_gbps, LINK_GBPS * SHARE), rel=0.02)
    assert (columns.core_busy_ps > 0).all()


def test_sockets_that_share_a_core_get_what_one_does() -> None:
    columns, gbps = sockets(4, "host.copy_rate=20Gbps", "host.cores=1", size_bytes=2_000_000)
    assert gbps == pytest.approx(20, rel=0.02)
    assert (columns.core_busy_ps <= columns.end_ps).all()


def test_a_core_that_has_half_to_do_is_half_busy() -> None:
    columns, gbps = sockets(1, f"host.copy_rate={2 * LINK_GBPS}Gbps", size_bytes=20_000_000)
    assert gbps == pytest.approx(LINK_GBPS * SHARE, rel=0.02)
    assert columns.core_busy_ps / columns.end_ps == pytest.approx(SHARE / 2, rel=0.03)


@pytest.mark.parametrize("cost", ["host.per_segment=1us", "host.per_packet=1us"])
def test_packets_that_cost_bound_a_connection(cost: str) -> None:
    """8,948 B in 1 us is 71.6 Gb/s; handed over up to 64 KiB at a time it binds no more."""
    assert sockets(1, cost)[1] == pytest.approx(8948 * 8 / 1000, rel=0.02)
    offloads = ("host.tso=true", "host.gro=true", "host.rx_usecs=8us")
    assert sockets(1, cost, *offloads)[1] == pytest.approx(LINK_GBPS * SHARE, rel=0.03)


def test_both_directions_share_a_core() -> None:
    keys = (*KEYS, "host.cores=1", "host.copy_rate=20Gbps")
    columns = FlowRun([Flow(0, 1, 4_000_000), Flow(1, 0, 4_000_000)], *keys).record().columns
    one_way = 8 * 4_000_000 * 50  # ps at 20 Gb/s
    assert columns.message_delivered_ps.max() == pytest.approx(2 * one_way, rel=0.03)
