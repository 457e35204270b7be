# SPDX-License-Identifier: GPL-2.0-only
"""``[platform]``: the accelerators and the network between them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, ClassVar

from astra_py.config.rules import Choice, Count, Flag, Number, QuantityRule, Registered
from astra_py.config.scale_up import LONGEST_DELAY, PcieConfig, ScaleUpConfig
from astra_py.config.table import Condition, FieldError, Ns3Attribute, Table, parameter
from astra_py.hardware import accelerator, accelerators
from astra_py.units import RATE, TIME

__all__ = ["MOST_RANKS", "PlatformConfig"]

#: Ranks of the largest platform that a scenario may ask for.
MOST_RANKS = 2**20

_KINDS = ("single_switch", "ring", "leaf_spine", "zion", "zionex")
_MACHINES = ("zion", "zionex")
_LEAVES = ("leaf_spine", *_MACHINES)

_ONLY_MACHINES = Condition("kind", "platform.kind = 'zion' or 'zionex'", _MACHINES.__contains__)
_ONLY_LEAVES = Condition("kind", "platform.kind = 'leaf_spine', 'zion' or 'zionex'", _LEAVES.__contains__)
_ONLY_RING = Condition("kind", "platform.kind = 'ring'", lambda kind: kind == "ring")
_ONLY_SWITCHES = Condition("kind", "a platform.kind other than 'ring'", lambda kind: kind != "ring")

#: Ranks on a leaf where there are no machines.
_RANKS_PER_LEAF = 8

#: Ratios as near as this to a whole number of spines are that number: decimals cannot write 8/3.
_RATIO_TOLERANCE = 1e-6


class PlatformConfig(Table):
    """The accelerators, one a rank, and the network between them."""

    key: ClassVar[str] = "platform"

    kind: Annotated[str, Registered("astra_py.topologies", *_KINDS)] = parameter(
        "single_switch",
        "Shape: all ranks on one switch; in a ring; on leaf switches of which each has one link to every spine switch; "
        "or in machines on such leaves, their accelerators joined by a scale-up switch inside, with a NIC of its own "
        "each ('zionex') or behind a host with a NIC each ('zion').",
    )
    ranks: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(
        8, "Number of accelerators; of machines, platform.nodes x platform.accelerators_per_node.", source="assumed"
    )
    nodes: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(
        2, "Number of machines.", source="assumed", only=_ONLY_MACHINES
    )
    accelerators_per_node: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(
        8, "Accelerators of a machine.", source="Zion and ZionEX, ISCA 2022", only=_ONLY_MACHINES
    )
    nics_per_node: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "NICs of a machine. 'auto': one for each accelerator, which is what this version has.",
        source="Zion and ZionEX, ISCA 2022: 8 accelerators and 8 NICs",
        only=_ONLY_MACHINES,
    )
    accelerator: Annotated[str, Choice(*accelerators())] = parameter(
        "A100-40", "What each rank computes with; its peaks, memory and scale-up rate are those of its data sheet."
    )
    accelerators_forward: Annotated[bool | None, Flag(words={"auto": None})] = parameter(
        "auto", "Whether frames may pass through an accelerator. 'auto': true.", only=_ONLY_RING
    )
    link_rate: Annotated[int, QuantityRule(RATE, least=1)] = parameter(
        "100Gbps",
        "Rate of every Ethernet link, in each direction.",
        source="one 100 Gb/s NIC per GPU as in Neo, ISCA 2022",
        ns3=Ns3Attribute(("ns3::FabricDevice::DataRate",), suffix=None),
    )
    link_delay: Annotated[int, QuantityRule(TIME, most=LONGEST_DELAY)] = parameter(
        "500ns",
        "Propagation delay of every Ethernet link.",
        source="HOTI 2020, run line of the published artefact",
        ns3=Ns3Attribute(("ns3::FabricDevice::Delay",), suffix=None),
    )
    link_loss: Annotated[float, Number(least=0, most=1, is_most_allowed=False)] = parameter(
        0.0,
        "Probability that an Ethernet link loses a frame.",
        source="lossless Ethernet",
        ns3=Ns3Attribute(("ns3::FabricDevice::LossProbability",), suffix=None),
    )
    switch_latency: Annotated[int, QuantityRule(TIME, most=LONGEST_DELAY)] = parameter(
        "300ns",
        "Forwarding latency of an Ethernet switch, from a frame's last byte in to its first byte ready to leave.",
        source="assumed",
        only=_ONLY_SWITCHES,
        ns3=Ns3Attribute(("ns3::FabricSwitch::ForwardingLatency",), suffix=""),
    )
    ranks_per_leaf: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Ranks, each with its NIC, on a leaf switch; whole machines where there are some. The last leaf holds what is "
        f"left and may be partly filled. 'auto': one machine, or {_RANKS_PER_LEAF}.",
        source="8 accelerators per node as in Neo, ISCA 2022",
        only=_ONLY_LEAVES,
    )
    oversubscription: Annotated[float | None, Number(least=0, is_least_allowed=False, words={"auto": None})] = (
        parameter(
            "auto",
            "Links down over links up of a full leaf, all of one rate: ranks_per_leaf over the number of spines. "
            "'auto': what platform.spines gives, or 1.0 without it.",
            source="non-blocking",
            only=_ONLY_LEAVES,
        )
    )
    spines: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Spine switches. 'auto': ranks_per_leaf over oversubscription, which must be whole.",
        source="non-blocking",
        only=_ONLY_LEAVES,
    )
    routing: Annotated[str, Choice("ecmp")] = parameter(
        "ecmp",
        "How a way is chosen among shortest ones: by a hash of source, destination and queue pair, "
        "with another seed in each switch.",
    )
    scale_up: ScaleUpConfig = ScaleUpConfig()
    pcie: PcieConfig = PcieConfig()

    @property
    def has_machines(self) -> bool:
        """Whether accelerators sit in machines."""
        return self.kind in _MACHINES

    @property
    def do_accelerators_forward(self) -> bool:
        """Whether frames may pass through accelerators."""
        return self.kind == "ring" and self.accelerators_forward is not False

    @property
    def scale_up_rate(self) -> int:
        """Rate of an accelerator's scale-up links, whichever key says so, in bit/s."""
        return self.scale_up.rate or accelerator(self.accelerator).scale_up_rate_bps

    @property
    def leaf_ranks(self) -> int:
        """Ranks on a full leaf switch."""
        return self.ranks_per_leaf or (self.accelerators_per_node if self.has_machines else _RANKS_PER_LEAF)

    @property
    def leaf_count(self) -> int:
        """Leaf switches."""
        return math.ceil(self.ranks / self.leaf_ranks)

    @property
    def spine_count(self) -> int:
        """Spine switches, whichever key says so."""
        return self.spines or round(self.leaf_ranks / (self.oversubscription or 1.0))

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.has_machines:
            self._check_machines()
        if self.kind in _LEAVES and self.oversubscription is not None:
            self._check_oversubscription(self.oversubscription)

    def _check_machines(self) -> None:
        ranks = self.nodes * self.accelerators_per_node
        made = f"platform.nodes = {self.nodes} of platform.accelerators_per_node = {self.accelerators_per_node}"
        if ranks > MOST_RANKS:
            raise FieldError("nodes", f"{made} make {ranks} ranks", f"at most {MOST_RANKS} ranks")
        if "ranks" in self.model_fields_set and self.ranks != ranks:
            raise FieldError("ranks", f"{self.ranks} does not agree with {made}", f"{ranks}, or leave it out")
        # The one field that others decide: set beside pydantic's guard, before anybody sees the frozen table.
        self.__dict__["ranks"] = ranks
        if self.nics_per_node not in (None, self.accelerators_per_node):
            raise FieldError(
                "nics_per_node",
                f"{self.nics_per_node} NICs are not one for each accelerator",
                f"{self.accelerators_per_node}, as platform.accelerators_per_node, or 'auto'; others are not built yet",
            )
        if self.leaf_ranks % self.accelerators_per_node:
            whole = math.ceil(self.leaf_ranks / self.accelerators_per_node) * self.accelerators_per_node
            raise FieldError(
                "ranks_per_leaf",
                f"{self.ranks_per_leaf} divides a machine of {self.accelerators_per_node} accelerators",
                f"a multiple of platform.accelerators_per_node, such as {whole}, or 'auto'",
            )

    def _check_oversubscription(self, ratio: float) -> None:
        per_leaf = f"platform.ranks_per_leaf = {self.leaf_ranks}"
        exact = self.leaf_ranks / ratio
        if self.spines is not None and not math.isclose(exact, self.spines, rel_tol=_RATIO_TOLERANCE):
            raise FieldError(
                "spines",
                f"{self.spines} does not agree with {per_leaf} and platform.oversubscription = {ratio:g}, "
                f"which make {exact:g}",
                "one of the two keys, or spines = ranks_per_leaf / oversubscription "
                f"(here spines = {max(round(exact), 1)})",
            )
        if round(exact) < 1 or not math.isclose(exact, round(exact), rel_tol=_RATIO_TOLERANCE):
            ratios = [_ratio(self.leaf_ranks, n) for n in (math.floor(exact), math.ceil(exact)) if n >= 1]
            raise FieldError(
                "oversubscription",
                f"{ratio:g} makes {exact:g} spines of {per_leaf}",
                "a ratio that makes a whole number of spines, at least 1; nearest " + " and ".join(ratios),
            )
        if round(exact) > MOST_RANKS:
            raise FieldError("oversubscription", f"{ratio:g} makes {exact:g} spines", f"at most {MOST_RANKS} spines")


def _ratio(ranks_per_leaf: int, spines: int) -> str:
    """The ratio as a scenario may hold it, with enough decimals to be taken, and as a fraction where it has no end."""
    ratio = ranks_per_leaf / spines
    text = f"{ratio:.7g}"
    return text if float(text) == ratio else f"{text} ({Fraction(ranks_per_leaf, spines)})"
