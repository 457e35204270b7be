# SPDX-License-Identifier: GPL-2.0-only
"""The values of ``platform.kind``, by what they have, and the conditions that come from it."""

from __future__ import annotations

from astra_py.config.table import Condition

__all__ = ["DIRECT", "FORWARDING", "KINDS", "LEAVES", "MACHINES", "NICS", "RAILS", "WHOLE_LEAVES", "only_kinds"]

#: Machines on a leaf switch for each rail, below spines.
RAILS = ("rail_optimized", "dgx_a100", "dgx_h100")
#: Accelerators in machines.
MACHINES = ("zion", "zionex", "rail_only", *RAILS)
#: Machines that may have another number of NICs than of accelerators.
NICS = ("zionex", "rail_only", *RAILS)
#: Leaves below spines.
LEAVES = ("leaf_spine", "fat_tree", "zion", "zionex", *RAILS)
#: Leaves that hold whole machines, or ranks without machines.
WHOLE_LEAVES = ("leaf_spine", "fat_tree", "zion", "zionex")
#: Accelerators linked to each other.
DIRECT = ("ring", "torus", "fully_connected")
#: Accelerators that have to forward.
FORWARDING = (*DIRECT, "rail_only")
KINDS = ("single_switch", *DIRECT, "leaf_spine", "fat_tree", *MACHINES)


def only_kinds(*kinds: str) -> Condition:
    """Return the condition that ``platform.kind`` is one of ``kinds``."""
    *others, last = map(repr, kinds)
    listed = f"{', '.join(others)} or {last}" if others else last
    return Condition("kind", f"platform.kind = {listed}", kinds.__contains__)
