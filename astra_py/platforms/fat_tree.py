# SPDX-License-Identifier: GPL-2.0-only
"""Three tiers of switches: pods of leaves and spines, and core switches between pods.

Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008; their edge and
aggregation switches are the leaves and spines here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.platforms.build import PlatformBuilder
from astra_py.platforms.registry import register_platform

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig
    from astra_py.platforms.platform import Platform

__all__ = ["fat_tree"]


@register_platform("fat_tree")
def fat_tree(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "fat_tree"``: rank ``r`` is on leaf ``r // leaf_ranks``, that in pod ``// pod_leaves``.

    Links of class ``host`` come first, one a rank, then those of class ``fabric``, leaf by leaf to each spine of its
    pod, then those of class ``core``: spine ``s`` of a pod is on the ``s``-th equal part of the core switches.
    """
    builder = PlatformBuilder(config)
    per_pod, parts = config.spine_count, config.core_count // config.spine_count
    ends = ((rank, rank // config.leaf_ranks) for rank in range(config.ranks))
    leaves, spines = builder.add_leaves(ends, config.pod_count * per_pod)
    cores = [builder.add_switch(f"core{number}") for number in range(config.core_count)]
    for number, leaf in enumerate(leaves):
        pod = number // config.pod_leaves
        for spine in spines[pod * per_pod : (pod + 1) * per_pod]:
            builder.add_fabric_link(leaf, spine, "fabric")
    for number, spine in enumerate(spines):
        part = number % per_pod * parts
        for core in cores[part : part + parts]:
            builder.add_fabric_link(spine, core, "core")
    return builder.build()
