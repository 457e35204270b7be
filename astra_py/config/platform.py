# SPDX-License-Identifier: GPL-2.0-only
"""``[platform]``: the accelerators and the network between them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, ClassVar

from astra_py.config.rules import Choice, Count, Number, QuantityRule
from astra_py.config.table import Condition, FieldError, Ns3Attribute, Table, parameter
from astra_py.units import RATE, TIME, parse_time

__all__ = ["MOST_RANKS", "PlatformConfig"]

#: Ranks of the largest platform that a scenario may ask for.
MOST_RANKS = 2**20

# Longest fixed delay of anything: a thousand of them in a row still fit a 64-bit count of picoseconds.
_LONGEST_DELAY = parse_time("100s")

_ONLY_LEAF_SPINE = Condition("kind", "platform.kind = 'leaf_spine'", lambda kind: kind == "leaf_spine")

#: Ratios as near as this to a whole number of spines are that number: decimals cannot write 8/3.
_RATIO_TOLERANCE = 1e-6


class PlatformConfig(Table):
    """The network between the ranks, one accelerator each."""

    key: ClassVar[str] = "platform"

    kind: Annotated[str, Choice("single_switch", "leaf_spine")] = parameter(
        "single_switch",
        "Shape: all ranks on one switch, or on leaf switches of which each has one link to every spine switch.",
    )
    ranks: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(8, "Number of accelerators.", source="assumed")
    link_rate: Annotated[int, QuantityRule(RATE, least=1)] = parameter(
        "100Gbps",
        "Rate of every link, in each direction.",
        source="one 100 Gb/s NIC per GPU as in Neo, ISCA 2022",
        ns3=Ns3Attribute(("ns3::FabricDevice::DataRate",), suffix=None),
    )
    link_delay: Annotated[int, QuantityRule(TIME, most=_LONGEST_DELAY)] = parameter(
        "500ns",
        "Propagation delay of every link.",
        source="HOTI 2020, run line of the published artefact",
        ns3=Ns3Attribute(("ns3::FabricDevice::Delay",), suffix=None),
    )
    link_loss: Annotated[float, Number(least=0, most=1, is_most_allowed=False)] = parameter(
        0.0,
        "Probability that a link loses a frame.",
        source="lossless Ethernet",
        ns3=Ns3Attribute(("ns3::FabricDevice::LossProbability",), suffix=None),
    )
    switch_latency: Annotated[int, QuantityRule(TIME, most=_LONGEST_DELAY)] = parameter(
        "300ns",
        "Forwarding latency of a switch, from a frame's last byte in to its first byte ready to leave.",
        source="assumed",
        ns3=Ns3Attribute(("ns3::FabricSwitch::ForwardingLatency",), suffix=""),
    )
    ranks_per_leaf: Annotated[int, Count(least=1, most=MOST_RANKS)] = parameter(
        8,
        "Ranks on a leaf switch. The last leaf holds what is left and may be partly filled.",
        source="8 accelerators per node as in Neo, ISCA 2022",
        only=_ONLY_LEAF_SPINE,
    )
    oversubscription: Annotated[float | None, Number(least=0, is_least_allowed=False, words={"auto": None})] = (
        parameter(
            "auto",
            "Links down over links up of a full leaf, all of one rate: ranks_per_leaf over the number of spines. "
            "'auto': what platform.spines gives, or 1.0 without it.",
            source="non-blocking",
            only=_ONLY_LEAF_SPINE,
        )
    )
    spines: Annotated[int | None, Count(least=1, most=MOST_RANKS, words={"auto": None})] = parameter(
        "auto",
        "Spine switches. 'auto': ranks_per_leaf over oversubscription, which must be whole.",
        source="non-blocking",
        only=_ONLY_LEAF_SPINE,
    )
    routing: Annotated[str, Choice("ecmp")] = parameter(
        "ecmp",
        "How a way is chosen among shortest ones: by a hash of source, destination and queue pair, "
        "with another seed in each switch.",
    )

    @property
    def leaf_count(self) -> int:
        """Leaf switches of a ``leaf_spine`` platform."""
        return math.ceil(self.ranks / self.ranks_per_leaf)

    @property
    def spine_count(self) -> int:
        """Spine switches of a ``leaf_spine`` platform, whichever key says so."""
        if self.spines is not None:
            return self.spines
        return round(self.ranks_per_leaf / (self.oversubscription or 1.0))

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.kind != "leaf_spine" or self.oversubscription is None:
            return
        exact = self.ranks_per_leaf / self.oversubscription
        if self.spines is not None and not math.isclose(exact, self.spines, rel_tol=_RATIO_TOLERANCE):
            raise FieldError(
                "spines",
                f"{self.spines} does not agree with platform.ranks_per_leaf = {self.ranks_per_leaf} and "
                f"platform.oversubscription = {self.oversubscription:g}, which make {exact:g}",
                "one of the two keys, or spines = ranks_per_leaf / oversubscription "
                f"(here spines = {max(round(exact), 1)})",
            )
        if round(exact) < 1 or not math.isclose(exact, round(exact), rel_tol=_RATIO_TOLERANCE):
            ratios = [_ratio(self.ranks_per_leaf, n) for n in (math.floor(exact), math.ceil(exact)) if n >= 1]
            raise FieldError(
                "oversubscription",
                f"{self.oversubscription:g} makes {exact:g} spines of platform.ranks_per_leaf = {self.ranks_per_leaf}",
                "a ratio that makes a whole number of spines, at least 1; nearest " + " and ".join(ratios),
            )
        if round(exact) > MOST_RANKS:
            raise FieldError(
                "oversubscription", f"{self.oversubscription:g} makes {exact:g} spines", f"at most {MOST_RANKS} spines"
            )


def _ratio(ranks_per_leaf: int, spines: int) -> str:
    """The ratio as a scenario may hold it, with enough decimals to be taken, and as a fraction where it has no end."""
    ratio = ranks_per_leaf / spines
    text = f"{ratio:.7g}"
    return text if float(text) == ratio else f"{text} ({Fraction(ranks_per_leaf, spines)})"
