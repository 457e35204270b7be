# SPDX-License-Identifier: GPL-2.0-only
"""A ring all-reduce written by hand on the network interface, beside the built-in one.

Each of n ranks cuts its buffer into n segments. In step k of 2(n - 1) rank r sends segment (r - k) mod n to rank r + 1
as soon as it has got it in step k - 1. Both ways take the same time, to the picosecond.
"""

from __future__ import annotations

import sys

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario


class Ring:
    """The all-reduce of one buffer per rank.

    Parameters
    ----------
    net : the network; its run() is for the caller.
    size_bytes : each rank's buffer.
    """

    def __init__(self, net: ap.NetworkInterface, size_bytes: int) -> None:
        self.net = net
        self.ranks = net.ranks
        floor, larger = divmod(size_bytes, self.ranks)
        self.segment_bytes = [floor + (i < larger) for i in range(self.ranks)]
        self.last_step = 2 * (self.ranks - 1) - 1
        self.finish_ps = [0] * self.ranks
        for rank in range(self.ranks):
            self.send(rank, step=0)

    def send(self, rank: int, step: int) -> None:
        """Send the segment of this step to the next rank, which goes on when it has it."""
        after = (rank + 1) % self.ranks
        size_bytes = self.segment_bytes[(rank - step) % self.ranks]
        self.net.send(rank, after, size_bytes, tag=step)
        self.net.recv(after, rank, size_bytes, tag=step, on_received=lambda: self.received(after, step))

    def received(self, rank: int, step: int) -> None:
        """Pass on what came in this step in the next one."""
        if step < self.last_step:
            self.send(rank, step + 1)
        else:
            self.finish_ps[rank] = self.net.now()


def main(ranks: int = 8, size_bytes: int = 1_000_003, engine: str = "packet") -> tuple[int, int]:
    """Return the time of the ring by hand and of the built-in one, in ps."""
    scenario = load_scenario({"engine": engine, "platform": {"ranks": ranks}})
    with ap.NetworkInterface(scenario) as net:
        ring = Ring(net, size_bytes)
        net.run()
    built_in = one_collective(scenario, "all_reduce", size_bytes).run()
    return max(ring.finish_ps), int(built_in.collectives["time_ps"].iloc[0])


if __name__ == "__main__":
    by_hand_ps, built_in_ps = main()
    print(f"by hand {by_hand_ps:,} ps, built in {built_in_ps:,} ps")
    sys.exit(by_hand_ps != built_in_ps)
