# SPDX-License-Identifier: GPL-2.0-only
"""What a collective library knows of its endpoint, and how it was told to work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import EdgeOn, Template
from astra_py.errors import ConfigError, did_you_mean

__all__ = ["SINGLE_FIELDS", "LevelFigures", "SystemModel", "WatchedSystem"]

#: A reduction of b bytes reads both operands and writes the sum.
REDUCTION_PASSES = 3

#: Algorithms of one level of a hierarchical all-reduce.
LEVEL_ALGORITHMS = ("ring", "direct", "halving_doubling")


@dataclass(frozen=True)
class LevelFigures:
    """One level of the network as a message on its own finds it.

    Attributes
    ----------
    rate_bps : payload in bit/s.
    latency_ps : time of a message of no bytes.
    """

    rate_bps: int
    latency_ps: int


@dataclass(frozen=True, kw_only=True)
class SystemModel:
    """The endpoint's figures that shape a schedule.

    Attributes
    ----------
    local_memory_bandwidth_bps : memory bandwidth for local reductions in bit/s, or None where they take no time.
    is_whole_ns : whether local times are whole nanoseconds, rounded down, as in simulators that count in nanoseconds.
    notify_on : the moment at which a receiver is told of a message; what a dependant waits for unless it says
        otherwise.
    in_flight : most unacknowledged messages of one rank in one direct exchange, or None for no limit.
    endpoint_delay_ps : what passes before a rank begins a further chunk, as before it begins a collective.
    chunks : how many chunks a collective is cut into.
    active_chunks : how many of them are in one phase at a time.
    all_reduce_inside, all_reduce_between : the algorithms inside and between machines of a hierarchical all-reduce, of
        :data:`LEVEL_ALGORITHMS`. Several levels between machines have one each, the lowest first, as ``"direct/ring"``,
        or all the same.
    machines_per_group : of the levels between machines but the highest one, how many machines form a group, how many
        groups form a further one, and so on.
    rings : how many rings a ring algorithm parts the data among.
    piece_bytes : most bytes of the pieces in which trees and chains pass a buffer on.
    measure : the time in ps of a template among these ranks, for the algorithm ``"auto"``; None where there is none.
    admission : most messages from other machines that a rank clears to be sent to it at a time, or None for no
        admission by the receiver.
    channels : most messages of a rank on the way at a time, over all its collectives, or None for no limit.
    protocol : the protocol of NCCL whose costs messages have, ``"auto"`` for the one that is likely to end first, or
        None for messages that cost nothing beside the network.
    inside, between : figures of the network inside a machine, and between machines; None where there is no such pair
        of ranks, or where nothing needs them.

    Raises
    ------
    ConfigError : a figure is not positive, or an algorithm unknown.
    """

    local_memory_bandwidth_bps: int | None = None
    is_whole_ns: bool = False
    notify_on: EdgeOn = EdgeOn.DELIVERED
    in_flight: int | None = None
    endpoint_delay_ps: int = 0
    chunks: int = 1
    active_chunks: int = 1
    all_reduce_inside: str = "direct"
    all_reduce_between: str = "ring"
    machines_per_group: tuple[int, ...] = ()
    rings: int = 1
    piece_bytes: int = 128 * 1024
    measure: Callable[[Template, tuple[int, ...]], int] | None = None
    admission: int | None = None
    channels: int | None = None
    protocol: str | None = None
    inside: LevelFigures | None = None
    between: LevelFigures | None = None

    def __post_init__(self) -> None:
        for key, value in (
            ("system.admission", self.admission),
            ("system.channels", self.channels),
            ("system.local_memory_bandwidth", self.local_memory_bandwidth_bps),
            ("collective.in_flight", self.in_flight),
        ):
            if value is not None and value < 1:
                raise ConfigError(f"{key} = {value}: allowed is a number above 0, or none")
        for key, count in (
            ("chunks", self.chunks),
            ("active_chunks", self.active_chunks),
            ("rings", self.rings),
            ("tree_piece", self.piece_bytes),
        ):
            if count < 1:
                raise ConfigError(f"collective.{key} = {count}: allowed is a number above 0")
        if any(size < 2 for size in self.machines_per_group):
            raise ConfigError(f"collective.machines_per_group = {self.machines_per_group}: allowed are numbers above 1")
        for key, names in (
            ("all_reduce_inside", [self.all_reduce_inside]),
            ("all_reduce_between", self.all_reduce_between.split("/")),
        ):
            for name in names:
                if name not in LEVEL_ALGORITHMS:
                    hint = did_you_mean(name, LEVEL_ALGORITHMS)
                    raise ConfigError(f"collective.{key} = {name!r}; allowed: {', '.join(LEVEL_ALGORITHMS)}{hint}")

    def between_algorithms(self, levels: int) -> list[str]:
        """Return the algorithm of each of so many levels between machines, the lowest first.

        Raises
        ------
        ConfigError : ``all_reduce_between`` names another number of them.
        """
        names = self.all_reduce_between.split("/")
        if len(names) not in (1, levels):
            raise ConfigError(
                f"collective.all_reduce_between = {self.all_reduce_between!r} names {len(names)} levels, and "
                f"collective.machines_per_group makes {levels}; allowed: one name, or {levels}"
            )
        return names * levels if len(names) == 1 else names

    def reduction_ps(self, size_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the time of a local reduction of each of ``size_bytes``, i64 in ps: three passes over memory.

        That is ``ceil(3 x size / bandwidth)`` ps, or ``3 x floor(size / bandwidth)`` ns where times are whole
        nanoseconds (ASTRA-sim's rule, one access at a time). Zero without a bandwidth.

        Raises
        ------
        ConfigError : the bandwidth is so low that a time does not fit into 64 bits.
        """
        bandwidth = self.local_memory_bandwidth_bps
        if bandwidth is None:
            return np.zeros(size_bytes.shape, dtype=np.int64)
        # A schedule has few different sizes, and Python's integers do not overflow on the way.
        sizes, inverse = np.unique(size_bytes, return_inverse=True)
        if self.is_whole_ns:
            times = [REDUCTION_PASSES * (int(size) * 8 * 10**9 // bandwidth) * 1000 for size in sizes]
        else:
            times = [-(-REDUCTION_PASSES * int(size) * 8 * 10**12 // bandwidth) for size in sizes]
        if max(times, default=0) >= 2**63:
            raise ConfigError(
                f"system.local_memory_bandwidth = {bandwidth} bit/s: a reduction of {int(sizes[-1])} bytes takes 2^63 "
                "ps or more; a higher rate, or none, is allowed"
            )
        return np.array(times, dtype=np.int64)[inverse].reshape(size_bytes.shape)


#: Fields that only some algorithms look at, each with its key and what those algorithms have.
SINGLE_FIELDS = {
    "rings": ("collective.rings", "rings"),
    "piece_bytes": ("collective.tree_piece", "pieces"),
    "in_flight": ("collective.in_flight", "a direct exchange"),
}


class WatchedSystem(SystemModel):
    """A SystemModel that remembers which of :data:`SINGLE_FIELDS` somebody has looked at since it was made."""

    looked_at: set[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "looked_at", set())
        super().__post_init__()
        self.looked_at.clear()

    def __getattribute__(self, name: str) -> Any:
        if name in SINGLE_FIELDS:
            object.__getattribute__(self, "looked_at").add(name)
        return object.__getattribute__(self, name)
