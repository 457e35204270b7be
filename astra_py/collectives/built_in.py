# SPDX-License-Identifier: GPL-2.0-only
"""The built-in algorithms; importing this registers them."""

from astra_py.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    gather_scatter,
    hierarchical,
    reduce_scatter,
    relays,
    rooted,
    send_recv,
    themis,
)

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier",
    "gather_scatter",
    "hierarchical",
    "reduce_scatter",
    "relays",
    "rooted",
    "send_recv",
    "themis",
]
