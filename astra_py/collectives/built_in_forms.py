# SPDX-License-Identifier: GPL-2.0-only
"""The closed forms of the built-in algorithms; importing this, after them, registers them."""

from astra_py.collectives import (
    flat_forms,
    hierarchy_forms,
    piece_forms,
    relay_forms,
    rooted_forms,
    step_forms,
)

__all__ = [
    "flat_forms",
    "hierarchy_forms",
    "piece_forms",
    "relay_forms",
    "rooted_forms",
    "step_forms",
]
