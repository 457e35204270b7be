# SPDX-License-Identifier: GPL-2.0-only
"""In which order whole messages take ports and links, by hand."""

from __future__ import annotations

import astra_py
from astra_py.config import load_scenario

#: 100 Gb/s: 80 ps a byte; a message of one packet has 98 line bytes beside its payload, further packets 82.
BYTE_PS = 80
LINK_PS = 500_000
PACKETS_100 = (100 * (4096 + 82) + 16) * BYTE_PS


def arrivals(keys: tuple[str, ...], sends: list[tuple[int, int, int, int]]) -> list[int]:
    """Times in ps at which messages of (time in ps, src, dst, bytes) are there."""
    at = [-1] * len(sends)
    with astra_py.NetworkInterface(load_scenario({}, ["engine=analytic", *keys])) as network:
        for number, (time, src, dst, size) in enumerate(sends):

            def there(number: int = number) -> None:
                at[number] = network.now()

            def post(number: int = number, src: int = src, dst: int = dst, size: int = size) -> None:
                network.send(src, dst, size, number)

            network.recv(dst, src, size, number, there)
            network.schedule(time, post)
        network.run()
    return at


def test_what_is_held_up_holds_no_later_link() -> None:
    """0 -> 3 waits behind 1 -> 2 for the link 1 - 2; meanwhile 2 -> 3 passes on the link 2 - 3, which it will need."""
    size = 100 * 4096
    times = arrivals(
        ("platform.kind=ring", "platform.ranks=8"), [(0, 1, 2, size), (0, 0, 3, size), (1_000_000, 2, 3, 100)]
    )
    assert times[0] == PACKETS_100 + LINK_PS
    assert times[2] == 1_000_000 + (100 + 98) * BYTE_PS + LINK_PS
    # it takes 1 - 2 when that is free, cuts through, and ends a message's time later
    assert times[1] == PACKETS_100 + LINK_PS + PACKETS_100 + LINK_PS


def test_a_busy_receiver_holds_up_no_other() -> None:
    """Rank 0 and 1 begin with rank 2; rank 1, second to choose, sends to rank 3 first, and each link is always busy."""
    size = 100 * 4096
    times = arrivals(
        ("platform.ranks=4",),
        [(0, 0, 2, size), (0, 0, 3, size), (0, 1, 2, size), (0, 1, 3, size)],
    )
    way = 2 * LINK_PS + 300_000
    assert times == [way + PACKETS_100, way + 2 * PACKETS_100, way + 2 * PACKETS_100, way + PACKETS_100]


def test_where_all_receivers_are_busy_the_first_to_be_free_is_next() -> None:
    """Rank 2 is busy for three messages, rank 3 for one: rank 1 takes rank 3, and does not wait for its own order."""
    size = 100 * 4096
    times = arrivals(
        ("platform.ranks=6",),
        [(0, 0, 2, 3 * size), (0, 4, 3, size), (1_000, 1, 2, size), (1_000, 1, 3, size)],
    )
    way = 2 * LINK_PS + 300_000
    assert times[3] == way + 2 * PACKETS_100
    assert times[3] < times[2]
