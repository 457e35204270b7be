# SPDX-License-Identifier: GPL-2.0-only
"""The values of ``platform.kind``, by what they have, and the conditions that come from it."""

from __future__ import annotations

from astra_py.config.condition import Condition

__all__ = [
    "BUILT",
    "DIRECT",
    "FILE",
    "FORWARDING",
    "IS_BUILT",
    "IS_FILE",
    "KINDS",
    "LEAVES",
    "MACHINES",
    "NICS",
    "RAILS",
    "SCALE_UP",
    "SERVERS",
    "WHOLE_LEAVES",
    "are_nics_nodes",
    "only_kinds",
]

#: Machines on a leaf switch for each rail, below spines.
RAILS = ("rail_optimized", "dgx_a100", "dgx_h100")
#: Machines without a scale-up network: PCIe is all that is in them.
SERVERS = "pcie_servers"
#: Machines with a scale-up network.
SCALE_UP = ("zion", "zionex", "rail_only", *RAILS)
#: Accelerators in machines.
MACHINES = (*SCALE_UP, SERVERS)
#: Machines that may have another number of NICs than of accelerators.
NICS = ("zionex", "rail_only", *RAILS, SERVERS)
#: Leaves below spines.
LEAVES = ("leaf_spine", "fat_tree", "zion", "zionex", *RAILS, SERVERS)
#: Leaves that hold whole machines, or ranks without machines.
WHOLE_LEAVES = ("leaf_spine", "fat_tree", "zion", "zionex", SERVERS)
#: Accelerators linked to each other.
DIRECT = ("ring", "torus", "fully_connected")
#: Accelerators that have to forward.
FORWARDING = (*DIRECT, "rail_only")
#: Nodes and links from a file.
FILE = "file"
#: What is built from the parameters.
BUILT = ("single_switch", *DIRECT, "leaf_spine", "fat_tree", *MACHINES)
KINDS = (*BUILT, FILE)

IS_FILE = Condition("kind", "platform.kind = 'file'", lambda kind: kind == FILE)
IS_BUILT = Condition("kind", "a platform.kind other than 'file'", lambda kind: kind != FILE)


def only_kinds(*kinds: str) -> Condition:
    """Return the condition that ``platform.kind`` is one of ``kinds``."""
    *others, last = map(repr, kinds)
    listed = f"{', '.join(others)} or {last}" if others else last
    return Condition("kind", f"platform.kind = {listed}", kinds.__contains__)


def are_nics_nodes(kind: str, nics_per_node: int | None, accelerators_per_node: int, nic_policy: str) -> bool:
    """Whether NICs are nodes of their own behind PCIe, and not part of their accelerators."""
    is_one_each = nics_per_node in (None, accelerators_per_node) and nic_policy in ("own", "pxn")
    return kind == SERVERS or (kind in NICS and not is_one_each)
