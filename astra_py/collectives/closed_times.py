# SPDX-License-Identifier: GPL-2.0-only
"""Uncontended times of collectives on one or two levels of a network, from a handful of figures: any number of ranks.

Machines are alike, and a group's ranks are numbered machine by machine, so that a ring leaves each machine once. A rank
has one port inside its machine and one to the others, which do not hold each other up. A step's latency is that of a
message of no bytes; headers are in the bandwidths. Nothing here is per rank: 100,000 ranks take no longer than 8.

On one level these are the registered closed forms (:func:`astra_py.collectives.closed_form`). On two they are here:

- *direct*: what stays inside and what leaves go side by side, and the longer of the two counts.
- *ring*: K steps of m bytes over hops of which one in L is slow. In max-plus algebra (Baccelli and others,
  "Synchronization and Linearity", 1992), the longest of these chains: the slow port again and again, or the way round.
- *halving, doubling* of powers of two: distances below L stay inside.
- *hierarchical*: its phases, one after another.

For :data:`ASYMPTOTIC` algorithms, whose phases overlap or share links, what is given is the time at large sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from astra_py.collectives.closed_forms import PS_PER_S, closed_form, has_closed_form
from astra_py.collectives.registry import require_algorithm
from astra_py.collectives.system import SystemModel
from astra_py.errors import ConfigError

__all__ = ["ASYMPTOTIC", "Level", "closed_time_ps"]

#: (kind, algorithm) whose time is right for large sizes only; for small ones it is too short.
ASYMPTOTIC = frozenset(
    {("all_reduce", "double_binary_tree"), ("all_reduce", "rail"), ("all_to_all", "pxn"), ("all_to_all_v", "pxn")}
)


@dataclass(frozen=True, kw_only=True)
class Level:
    """A level of a network.

    Attributes
    ----------
    latency_ps : of a step.
    bandwidth_bps : payload in bit/s of a rank's port.
    """

    latency_ps: int
    bandwidth_bps: int

    def __post_init__(self) -> None:
        if self.latency_ps < 0 or self.bandwidth_bps < 1:
            raise ConfigError(
                f"a level of {self.latency_ps} ps and {self.bandwidth_bps} bit/s; allowed: at least 0 ps and 1 bit/s"
            )

    def wire_ps(self, size_bytes: Fraction | int) -> Fraction:
        """Time of these bytes without latency."""
        return Fraction(8 * PS_PER_S * size_bytes) / self.bandwidth_bps

    def step_ps(self, size_bytes: Fraction | int) -> Fraction:
        """Time of a step of these bytes."""
        return self.latency_ps + self.wire_ps(size_bytes)


@dataclass(frozen=True)
class _Job:
    """A collective of ``size_bytes`` on N machines of L members, with both levels."""

    size_bytes: int
    machines: int
    members: int
    inside: Level
    between: Level
    system: SystemModel

    @property
    def ranks(self) -> int:
        return self.machines * self.members

    @property
    def part(self) -> Fraction:
        return Fraction(self.size_bytes, self.ranks)


def closed_time_ps(
    kind: str,
    algorithm: str,
    size_bytes: int,
    *,
    machines: int,
    members: int = 1,
    inside: Level | None = None,
    between: Level | None = None,
    system: SystemModel | None = None,
) -> int:
    """Uncontended time of a collective of one chunk in ps, rounded up.

    Parameters
    ----------
    kind, algorithm : as registered; an all_to_all_v is one of equal parts.
    size_bytes : nccl-tests' size, each rank's buffer; the whole array for all_gather and reduce_scatter.
    machines, members : N machines of L members; one machine is one level, and so are machines of one member.
    inside, between : the levels; one that no message uses may be left out.
    system : pieces of trees, algorithms of levels.

    Raises
    ------
    ConfigError : an unknown name, a size that is no whole number of bytes, there is no such time for the algorithm on
        this shape, or a level that it needs is not given.
    """
    require_algorithm(kind, algorithm)
    if not isinstance(size_bytes, int | np.integer) or size_bytes < 0:
        raise ConfigError(f"{kind} of {size_bytes!r} B; allowed: a whole number of bytes, at least 0")
    if machines < 1 or members < 1:
        raise ConfigError(f"{machines} machines of {members} members; allowed: at least 1 each")
    if machines * members == 1:
        return 0
    for key, level, count in (("inside", inside, members), ("between", between, machines)):
        if level is None and count > 1:
            raise ConfigError(f"{kind} on {machines} machines of {members}: the level {key!r} is not given")
    size_bytes = int(size_bytes)
    only = inside if machines == 1 else between
    assert only is not None
    plain = kind.removesuffix("_v")
    is_flat = machines == 1 or members == 1
    if is_flat and has_closed_form(plain, algorithm):
        form = closed_form(plain, algorithm)
        return form.time_ps(machines * members, size_bytes, only.latency_ps, only.bandwidth_bps)
    if (plain, algorithm) not in _FORMS:
        where = "one level" if is_flat else f"{machines} machines of {members}"
        known = ", ".join(f"{k} {a}" for k, a in _FORMS)
        raise ConfigError(f"{kind} algorithm {algorithm!r} has no closed time on {where}; on two levels have: {known}")
    figures = SystemModel() if system is None else system
    time = _FORMS[plain, algorithm](_Job(size_bytes, machines, members, inside or only, between or only, figures))
    return -(-time.numerator // time.denominator)


def _direct(times: int) -> Callable[[_Job], Fraction]:
    def time(job: _Job) -> Fraction:
        inside = job.inside.step_ps((job.members - 1) * job.part) if job.members > 1 else Fraction(0)
        between = job.between.step_ps((job.ranks - job.members) * job.part) if job.machines > 1 else Fraction(0)
        return times * max(inside, between)

    return time


def _ring(halves: int) -> Callable[[_Job], Fraction]:
    def time(job: _Job) -> Fraction:
        steps, part = halves * (job.ranks - 1), job.part
        low, high, stay = job.inside.step_ps(part), job.between.step_ps(part), job.between.wire_ps(part)
        if stay < job.inside.wire_ps(part) or high < low:
            raise ConfigError("ring: the level inside is slower than the one between, and its time is not this one")

        def through(slow: int, fast: int) -> Fraction:
            """A chain over so many hops, and for the other steps the slow port again and again."""
            return slow * high + fast * low + (steps - slow - fast) * stay

        most = -(-steps // job.members)
        return max(
            through(1, 0),
            through(most, (most - 1) * (job.members - 1)),
            through(most, steps - most),
        )

    return time


def _by_bits(bytes_of_bit: Callable[[_Job, int], Fraction], times: int = 1) -> Callable[[_Job], Fraction]:
    """Exchanges at distances 1, 2, 4, ..., of which those below L stay inside."""

    def time(job: _Job) -> Fraction:
        if job.ranks & (job.ranks - 1):
            raise ConfigError(f"halving and doubling on {job.machines} machines of {job.members}: not powers of two")
        total = Fraction(0)
        for bit in range(job.ranks.bit_length() - 1):
            level = job.inside if 1 << bit < job.members else job.between
            total += times * level.step_ps(bytes_of_bit(job, bit))
        return total

    return time


def _half(job: _Job, bit: int) -> Fraction:
    return Fraction(job.size_bytes, 2 << bit)


def _one_level_ps(algorithm: str, level: Level, count: int, size: Fraction, halves: int) -> Fraction:
    """Reduce-scatter or all-gather (one half) or all-reduce (two) of ``size`` bytes on one level of a hierarchy."""
    if count == 1:
        return Fraction(0)
    bits = count.bit_length() - 1
    steps = {"ring": count - 1, "direct": 1, "halving_doubling": bits}[algorithm]
    extra = Fraction(0)
    ways = count
    if algorithm == "halving_doubling" and count != 1 << bits:
        ways, extra = 1 << bits, 2 * level.step_ps(size)
    return halves * (steps * level.latency_ps + level.wire_ps(size * (ways - 1) / ways)) + extra


def _hierarchical_all_reduce(job: _Job) -> Fraction:
    system, size = job.system, Fraction(job.size_bytes)
    between = system.between_algorithms(1)[0]
    inside = _one_level_ps(system.all_reduce_inside, job.inside, job.members, size, 2)
    return inside + _one_level_ps(between, job.between, job.machines, size / job.members, 2)


def _hierarchical_all_to_all(job: _Job) -> Fraction:
    time = Fraction(0)
    for level, count in ((job.inside, job.members), (job.between, job.machines)):
        time += level.step_ps(Fraction(job.size_bytes * (count - 1), count)) if count > 1 else 0
    return time


def _pxn(job: _Job) -> Fraction:
    """The phases overlap: the latencies of both, and the longer one's bytes."""
    levels = [level for level, count in ((job.inside, job.members), (job.between, job.machines)) if count > 1]
    inside = job.inside.wire_ps(Fraction(job.size_bytes * (job.members - 1), job.members))
    between = job.between.wire_ps(Fraction(job.size_bytes * (job.machines - 1), job.machines))
    return sum(level.latency_ps for level in levels) + max(inside, between)


def _rail(job: _Job) -> Fraction:
    """L rings at a time, each with an L-th of the data: in each step L - 1 parts inside and one that leaves."""
    steps, part = 2 * (job.ranks - 1), job.part / job.members
    inside = job.inside.wire_ps((job.members - 1) * part) if job.members > 1 else Fraction(0)
    between = job.between.wire_ps(part) if job.machines > 1 else job.inside.wire_ps(part)
    slow = -(-steps // job.members) if job.machines > 1 else 0
    latency = slow * job.between.latency_ps + (steps - slow) * job.inside.latency_ps
    return latency + steps * max(inside, between)


def _double_tree(job: _Job) -> Fraction:
    """Up and down two trees of about log2(n) levels, of pieces (Sanders, Speck and Traeff 2009)."""
    level = job.between if job.machines > 1 else job.inside
    piece = Fraction(job.size_bytes, 2 * max(-(-job.size_bytes // (2 * job.system.piece_bytes)), 1))
    depth = (job.ranks - 1).bit_length()
    return 2 * depth * level.step_ps(piece) + level.wire_ps(2 * job.size_bytes)


def _chain(job: _Job) -> Fraction:
    """Pieces from member to member: the first comes to the last one, and then all others."""
    if job.machines > 1 and job.members > 1:
        raise ConfigError("a chain over two levels has no closed time")
    level = job.between if job.machines > 1 else job.inside
    piece = Fraction(job.size_bytes, max(-(-job.size_bytes // job.system.piece_bytes), 1))
    return (job.ranks - 1) * level.latency_ps + level.wire_ps(job.size_bytes + (job.ranks - 2) * piece)


_FORMS: dict[tuple[str, str], Callable[[_Job], Fraction]] = {
    ("all_to_all", "direct"): _direct(1),
    ("reduce_scatter", "direct"): _direct(1),
    ("all_gather", "direct"): _direct(1),
    ("all_reduce", "direct"): _direct(2),
    ("reduce_scatter", "ring"): _ring(1),
    ("all_gather", "ring"): _ring(1),
    ("all_reduce", "ring"): _ring(2),
    ("reduce_scatter", "halving"): _by_bits(_half),
    ("all_gather", "doubling"): _by_bits(_half),
    ("all_reduce", "halving_doubling"): _by_bits(_half, times=2),
    ("all_reduce", "recursive_doubling"): _by_bits(lambda job, bit: Fraction(job.size_bytes)),
    ("all_reduce", "hierarchical"): _hierarchical_all_reduce,
    ("all_to_all", "hierarchical"): _hierarchical_all_to_all,
    ("all_reduce", "rail"): _rail,
    ("all_reduce", "double_binary_tree"): _double_tree,
    ("all_to_all", "pxn"): _pxn,
    ("broadcast", "ring"): _chain,
    ("reduce", "ring"): _chain,
}
