# SPDX-License-Identifier: GPL-2.0-only
"""``[platform]``: what follows from its parameters, and which of them do not go together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pydantic import model_validator

from astra_py.config.platform_fields import MOST_RANKS, NODES_PER_GROUP, RANKS_PER_LEAF, PlatformFields
from astra_py.config.platform_kinds import FILE, FORWARDING, LEAVES, MACHINES, NICS, RAILS, SERVERS, are_nics_nodes
from astra_py.config.platform_presets import with_preset
from astra_py.config.table import FieldError
from astra_py.hardware import accelerator

__all__ = ["MOST_RANKS", "PlatformConfig"]

#: Ratios as near as this to a whole number of spines are that number: decimals cannot write 8/3.
_RATIO_TOLERANCE = 1e-6

#: Most ranks of which each has a link to each other one: eight million links.
_MOST_FULLY_CONNECTED = 4096


class PlatformConfig(PlatformFields):
    """The accelerators, one a rank, and the network between them."""

    @model_validator(mode="before")
    @classmethod
    def _apply_preset(cls, given: Any) -> Any:
        return with_preset(given) if isinstance(given, Mapping) else given

    @property
    def has_machines(self) -> bool:
        """Whether accelerators sit in machines."""
        return self.kind in MACHINES

    @property
    def has_nic_nodes(self) -> bool:
        """Whether NICs are nodes of their own, and not part of their accelerators."""
        return are_nics_nodes(self.kind, self.nics_per_node, self.accelerators_per_node, self.nic_policy)

    @property
    def nic_count(self) -> int:
        """NICs of a machine."""
        return self.nics_per_node or self.accelerators_per_node

    @property
    def accelerators_forwarding(self) -> int:
        """What passes through an accelerator: nothing (0), all (1), or from scale-up links to Ethernet only (2)."""
        if self.accelerators_forward is not None:
            return int(self.accelerators_forward)
        if self.has_machines and self.nic_policy == "pxn":
            return 2
        return int(self.kind in FORWARDING)

    @property
    def scale_up_rates(self) -> tuple[int, ...]:
        """Rate of an accelerator's link to each scale-up switch of its machine, whichever key says so, in bit/s."""
        links = self.scale_up
        return links.switch_rates or (links.rate or accelerator(self.accelerator).scale_up_rate_bps,)

    @property
    def grid(self) -> tuple[int, ...]:
        """Sizes of the dimensions of a torus."""
        if self.dims is not None:
            return self.dims
        side = next(size for size in range(math.isqrt(self.ranks), 0, -1) if self.ranks % size == 0)
        return self.ranks // side, side

    @property
    def fabric_link_rate(self) -> int:
        """Rate of links between switches, in bit/s."""
        return self.fabric_rate or self.link_rate

    @property
    def switch_ports(self) -> int:
        """Ports of each switch of a fat tree, an even number."""
        if self.ports is not None:
            return self.ports
        half = 1
        while 2 * half**3 < self.ranks:
            half += 1
        return 2 * half

    @property
    def leaf_ranks(self) -> int:
        """Ranks on a full leaf switch that holds whole machines, or ranks without machines."""
        if self.ranks_per_leaf is not None:
            return self.ranks_per_leaf
        if self.kind == "fat_tree":
            return self.switch_ports // 2
        if self.kind == SERVERS:
            return self.ranks
        return self.accelerators_per_node if self.has_machines else RANKS_PER_LEAF

    @property
    def leaf_machines(self) -> int:
        """Machines on a full leaf switch."""
        if self.kind in RAILS:
            return min(self.nodes, self.nodes_per_group or NODES_PER_GROUP)
        return self.leaf_ranks // self.accelerators_per_node

    @property
    def leaf_ports(self) -> int:
        """NICs on a full leaf switch."""
        if self.kind in RAILS:
            return self.leaf_machines
        return self.leaf_machines * self.nic_count if self.kind in NICS else self.leaf_ranks

    @property
    def leaf_count(self) -> int:
        """Leaf switches."""
        if self.kind in RAILS:
            return math.ceil(self.nodes / self.leaf_machines) * self.nic_count
        return math.ceil(self.ranks / self.leaf_ranks)

    @property
    def spine_count(self) -> int:
        """Spine switches, in a fat tree those of a pod, whichever key says so; servers on one switch have none."""
        if self._is_one_switch:
            return 0
        return self.spines or round(self._exact_spines(self.oversubscription or 1.0))

    @property
    def pod_leaves(self) -> int:
        """Leaf switches of a full pod of a fat tree."""
        return self.leaves_per_pod or self.switch_ports // 2

    @property
    def pod_count(self) -> int:
        """Pods of a fat tree."""
        return math.ceil(self.leaf_count / self.pod_leaves)

    @property
    def core_count(self) -> int:
        """Core switches of a fat tree."""
        return self.cores or self.spine_count * self.pod_leaves

    @property
    def _is_one_switch(self) -> bool:
        """Whether all servers are on one switch, with none above it."""
        return self.kind == SERVERS and self.leaf_count == 1

    def _exact_spines(self, ratio: float) -> float:
        return self.leaf_ports * self.link_rate / (ratio * self.fabric_link_rate)

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.kind == FILE and self.file is None:
            raise FieldError("file", "missing, and platform.kind = 'file' needs it", "the path of a platform file")
        if self.has_machines:
            made = f"platform.nodes = {self.nodes} of platform.accelerators_per_node = {self.accelerators_per_node}"
            self._set_ranks("nodes", self.nodes * self.accelerators_per_node, made)
            self._check_nics()
        if self.kind == "torus" and self.dims is not None:
            self._set_ranks("dims", math.prod(self.dims), f"platform.dims = {self.text('dims')!r}")
        if self.kind == "fully_connected" and self.ranks > _MOST_FULLY_CONNECTED:
            links = self.ranks * (self.ranks - 1) // 2
            raise FieldError("ranks", f"{self.ranks} make {links} links", f"at most {_MOST_FULLY_CONNECTED}")
        if self.kind in LEAVES:
            self._check_leaves()
        if self.kind == "fat_tree":
            self._check_fat_tree()

    def _set_ranks(self, key: str, ranks: int, made: str) -> None:
        if ranks > MOST_RANKS:
            raise FieldError(key, f"{made} make {ranks} ranks", f"at most {MOST_RANKS} ranks")
        if "ranks" in self.model_fields_set and self.ranks != ranks:
            raise FieldError("ranks", f"{self.ranks} does not agree with {made}", f"{ranks}, or leave it out")
        # The one field that others decide: set beside pydantic's guard, before anybody sees the frozen table.
        self.__dict__["ranks"] = ranks

    def _check_nics(self) -> None:
        each = f"{self.accelerators_per_node}, as platform.accelerators_per_node, or 'auto'"
        if self.kind not in NICS and self.nic_count != self.accelerators_per_node:
            raise FieldError(
                "nics_per_node",
                f"{self.nic_count} NICs are not one for each accelerator, and each is behind a host with one NIC",
                f"{each}; or another platform.kind, such as 'zionex'",
            )
        if self.nic_count > self.accelerators_per_node and self.nic_policy in ("own", "pxn"):
            idle = self.nic_count - self.accelerators_per_node
            raise FieldError(
                "nics_per_node",
                f"with platform.nic_policy = {self.nic_policy!r} each accelerator has one NIC, and {idle} of "
                f"{self.nic_count} would have nothing to do",
                f"at most {self.accelerators_per_node}; or platform.nic_policy = 'hash' or 'striped'",
            )

        if self.kind == SERVERS and self.nic_policy == "pxn":
            raise FieldError(
                "nic_policy",
                f"'pxn' sends over NVLink, of which platform.kind = {SERVERS!r} has none",
                "'own' or 'hash' or 'striped'",
            )

    def _check_leaves(self) -> None:
        if self.has_machines and self.kind not in RAILS and self.leaf_ranks % self.accelerators_per_node:
            whole = math.ceil(self.leaf_ranks / self.accelerators_per_node) * self.accelerators_per_node
            raise FieldError(
                "ranks_per_leaf",
                f"{self.ranks_per_leaf} divides a machine of {self.accelerators_per_node} accelerators",
                f"a multiple of platform.accelerators_per_node, such as {whole}, or 'auto'",
            )
        if self._is_one_switch:
            for key in ("spines", "oversubscription", "fabric_rate"):
                if getattr(self, key) is not None:
                    raise FieldError(
                        key,
                        f"{self.text(key)!r} would mean nothing: all {self.nodes} servers are on one switch",
                        "'auto', or fewer platform.ranks_per_leaf",
                    )
        elif self.oversubscription is not None or self.spines is None:
            self._check_oversubscription(self.oversubscription or 1.0)

    def _check_oversubscription(self, ratio: float) -> None:
        exact = self._exact_spines(ratio)
        per_leaf = f"platform.ranks_per_leaf = {self.leaf_ranks}"
        if self.kind in RAILS or self.leaf_ports != self.leaf_ranks:
            per_leaf = f"a leaf of {self.leaf_ports} NICs"
        if self.fabric_link_rate != self.link_rate:
            per_leaf += f", platform.fabric_rate = {self.text('fabric_rate')!r}"
        if self.spines is not None and not math.isclose(exact, self.spines, rel_tol=_RATIO_TOLERANCE):
            raise FieldError(
                "spines",
                f"{self.spines} does not agree with {per_leaf} and platform.oversubscription = {ratio:g}, "
                f"which make {exact:g}",
                f"one of the two keys, or the spines that the ratio makes (here spines = {max(round(exact), 1)})",
            )
        if round(exact) < 1 or not math.isclose(exact, round(exact), rel_tol=_RATIO_TOLERANCE):
            ratios = [self._ratio(n) for n in (math.floor(exact), math.ceil(exact)) if n >= 1]
            raise FieldError(
                "oversubscription",
                f"{ratio:g} makes {exact:g} spines of {per_leaf}",
                "a ratio that makes a whole number of spines, at least 1; nearest " + " and ".join(ratios),
            )
        if round(exact) > MOST_RANKS:
            raise FieldError("oversubscription", f"{ratio:g} makes {exact:g} spines", f"at most {MOST_RANKS} spines")

    def _ratio(self, spines: int) -> str:
        """The ratio with enough decimals to be taken from a scenario, and as a fraction where those have no end."""
        exact = Fraction(self.leaf_ports * self.link_rate, spines * self.fabric_link_rate)
        text = f"{float(exact):.7g}"
        return text if Fraction(text) == exact else f"{text} ({exact})"

    def _check_fat_tree(self) -> None:
        if self.cores is not None and self.cores % self.spine_count:
            most = max(self.cores // self.spine_count, 1) * self.spine_count
            raise FieldError(
                "cores",
                f"{self.cores} are not as many for each of {self.spine_count} spines of a pod",
                f"a multiple of {self.spine_count}, such as {most}",
            )
        if self.ports is None:
            return
        if self.ports % 2:
            raise FieldError("ports", f"{self.ports} is odd", f"an even number, such as {self.ports + 1}")
        pods = self.pod_count
        needed = {
            "a leaf": self.leaf_ranks + self.spine_count,
            "a spine": self.pod_leaves + self.core_count // self.spine_count,
            "a core switch": pods,
        }
        for switch, count in needed.items():
            if count > self.ports:
                ranks = self.ports * self.pod_leaves * self.leaf_ranks
                raise FieldError(
                    "ports",
                    f"{self.ports} are too few: {switch} needs {count}, for {self.ranks} ranks in {pods} pods",
                    f"at least {max(needed.values())}, or at most {ranks} ranks",
                )
