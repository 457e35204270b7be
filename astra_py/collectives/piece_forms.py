# SPDX-License-Identifier: GPL-2.0-only
"""Closed forms of algorithms that part their data among trees, pieces or several rings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from astra_py.collectives.closed_forms import Column, Pairs, cut
from astra_py.collectives.level_forms import LevelForm, LevelPhase, Machines, register_level_form
from astra_py.collectives.system import SystemModel


def _parent(rank: int, ranks: int) -> int:
    """The parent of a rank above 0 in the binary tree in order of numbers."""
    lowest = 1
    while not rank & lowest:
        lowest *= 2
    above = rank - lowest + (2 * lowest if not rank & (2 * lowest) else 0)
    return above if above < ranks else rank - lowest


def _double_tree_pairs(machines: Machines, size_bytes: int, system: SystemModel) -> Pairs:
    n = len(machines)
    # an even number of pieces, of which each tree has half
    pieces = 2 * max(-(-size_bytes // (2 * system.piece_bytes)), 1)
    part = cut(size_bytes, pieces)
    first = [(rank, _parent(rank, n)) for rank in range(1, n)]
    # for an odd number the other tree is moved by one, else it is mirrored
    moved = [((a + 1) % n, (b + 1) % n) for a, b in first]
    second = moved if n % 2 else [(n - 1 - a, n - 1 - b) for a, b in first]
    src, dst, size = [], [], []
    for ways, half in ((first, part[: pieces // 2].sum()), (second, part[pieces // 2 :].sum())):
        for child, parent in ways:
            src += [child, parent]
            dst += [parent, child]
            size += [int(half)] * 2
    return np.array(src), np.array(dst), np.array(size, dtype=np.int64)


def _chain_pairs(ranks: int, size_bytes: int, *, is_down: bool) -> Pairs:
    first, second = np.arange(ranks - 1), np.arange(1, ranks)
    size = np.full(ranks - 1, size_bytes, dtype=np.int64)
    return (first, second, size) if is_down else (second, first, size)


def _chain_phases(ranks: int, size_bytes: int, system: SystemModel) -> tuple[LevelPhase, ...]:
    """The first n - 2 members pass on a piece before the last one begins with the whole buffer."""
    piece = Fraction(size_bytes, max(-(-size_bytes // system.piece_bytes), 1))
    return (LevelPhase(False, ranks - 1, size_bytes + (ranks - 2) * piece),)


def _ring_orders(machines: Machines, rings: int) -> list[list[int]]:
    """Members in the order of each ring; of several, each begins elsewhere in every machine."""
    if rings == 1:
        return [[*range(len(machines))]]
    members = [np.flatnonzero(machines == machine).tolist() for machine in range(int(machines.max()) + 1)]
    return [
        [local[(place + ring * len(local) // rings) % len(local)] for local in members for place in range(len(local))]
        for ring in range(rings)
    ]


def _rail_orders(machines: Machines) -> list[list[int]]:
    members = [np.flatnonzero(machines == machine).tolist() for machine in range(int(machines.max()) + 1)]
    orders = []
    for rail in range(len(members[0])):
        order = []
        for machine, local in enumerate(members):
            turned = local[rail:] + local[:rail]
            order += turned[::-1] if machine % 2 else turned
        orders.append(order)
    return orders


def _all_reduce_pairs(orders: list[list[int]], size_bytes: int) -> Pairs:
    n = len(orders[0])
    part = cut(size_bytes, len(orders) * n).reshape(len(orders), n)
    # as of one ring: neither the segment of the next place nor that of the one after it is sent twice
    sent = [2 * share.sum() - np.roll(share, -1) - np.roll(share, -2) for share in part]
    return _round(orders, sent)


def _half_pairs(orders: list[list[int]], size_bytes: int, *, is_scatter: bool) -> Pairs:
    n, rings = len(orders[0]), len(orders)
    segment = cut(size_bytes, n)
    sent = []
    for ring, order in enumerate(orders):
        share = np.array([(int(segment[rank]) + rings - 1 - ring) // rings for rank in order], dtype=np.int64)
        # a reduce-scatter never sends what stays, an all-gather not what the next one has
        sent.append(share.sum() - (share if is_scatter else np.roll(share, -1)))
    return _round(orders, sent)


def _round(orders: list[list[int]], sent: list[Column]) -> Pairs:
    src = np.array(orders)
    return src.ravel(), np.roll(src, -1, axis=1).ravel(), np.concatenate(sent)


def _both_ways(orders: list[list[int]]) -> list[list[int]]:
    return orders + [order[::-1] for order in orders]


register_level_form(
    "all_reduce", "double_binary_tree", LevelForm(_double_tree_pairs, lambda machines, payload, system: None)
)
register_level_form(
    "all_reduce",
    "rail",
    LevelForm(
        lambda machines, size, system: _all_reduce_pairs(_rail_orders(machines), size),
        lambda machines, payload, system: None,
    ),
)
# These have a closed form of their own for one ring.
for _kind, _algorithm, _form in (
    ("all_reduce", "ring", lambda m, size, system: _all_reduce_pairs(_ring_orders(m, system.rings), size)),
    (
        "all_reduce",
        "ring_bidirectional",
        lambda m, size, system: _all_reduce_pairs(_both_ways(_ring_orders(m, system.rings)), size),
    ),
    (
        "reduce_scatter",
        "ring",
        lambda m, size, system: _half_pairs(_ring_orders(m, system.rings), size, is_scatter=True),
    ),
    ("all_gather", "ring", lambda m, size, system: _half_pairs(_ring_orders(m, system.rings), size, is_scatter=False)),
):
    register_level_form(_kind, _algorithm, LevelForm(_form, lambda machines, payload, system: None))
register_level_form(
    "broadcast",
    "ring",
    LevelForm(
        lambda machines, size, system: _chain_pairs(len(machines), size, is_down=True),
        lambda machines, size, system: _chain_phases(len(machines), size, system),
    ),
)
register_level_form(
    "reduce",
    "ring",
    LevelForm(
        lambda machines, size, system: _chain_pairs(len(machines), size, is_down=False),
        lambda machines, size, system: _chain_phases(len(machines), size, system),
    ),
)
