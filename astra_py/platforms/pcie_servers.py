# SPDX-License-Identifier: GPL-2.0-only
"""Servers without a scale-up network, whose accelerators share NICs over PCIe.

The servers of Rashidi et al., HOTI 2020: 8 accelerators behind one NIC; how their PCIe is laid out is assumed, as in
servers on sale (NVIDIA, "GPUDirect RDMA": an accelerator and its NIC below one PCIe switch).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["pcie_servers"]


@register_platform("pcie_servers")
def pcie_servers(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "pcie_servers"``: rank ``r`` is in server ``r // accelerators_per_node``.

    With one NIC, or where each accelerator reaches each NIC, accelerators and NICs are on the server's host. With
    several NICs of their own accelerators, each is below a PCIe switch with these, and the switches are on the host.
    Links of class ``pcie`` come first, server by server, then those of class ``host``, NIC by NIC, and of ``fabric``,
    if the servers are on several leaves; see :meth:`PlatformBuilder.add_leaves_and_spines`.
    """
    builder = PlatformBuilder(config)
    nics = builder.add_nics_below_hosts()
    ends = ((nic, server // config.leaf_machines) for server, own in enumerate(nics) for nic in own)
    builder.add_leaves_and_spines(ends)
    return builder.build()
