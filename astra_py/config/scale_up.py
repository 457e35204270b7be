# SPDX-License-Identifier: GPL-2.0-only
"""``[platform.scale_up]`` and ``[platform.pcie]``: the links inside a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

from astra_py.config.condition import Requirement
from astra_py.config.platform_kinds import SCALE_UP, are_nics_nodes, only_kinds
from astra_py.config.platform_rules import Rates
from astra_py.config.rules import Number, QuantityRule
from astra_py.config.table import FieldError, Table, parameter
from astra_py.units import RATE, TIME, parse_time

__all__ = ["LONGEST_DELAY", "PcieConfig", "ScaleUpConfig"]

#: Longest fixed delay of anything: a thousand of them in a row still fit a 64-bit count of picoseconds.
LONGEST_DELAY = parse_time("100s")

#: Scale-up switches of a machine.
_MOST_SWITCHES = 64

_EFFICIENCY = Number(least=0, most=1, is_least_allowed=False)


class ScaleUpConfig(Table):
    """Links between an accelerator and its machine's scale-up switches: NVLink to NVSwitch, or the like."""

    key: ClassVar[str] = "platform.scale_up"
    only: ClassVar[Requirement | None] = only_kinds(*SCALE_UP)

    rate: Annotated[int | None, QuantityRule(RATE, least=1, words={"auto": None})] = parameter(
        "auto",
        "Rate of all scale-up links of an accelerator together, in each direction. 'auto': that of "
        "platform.accelerator, 300GB/s for an A100.",
        source="data sheet of the accelerator",
    )
    switch_rates: Annotated[tuple[int, ...] | None, Rates(words={"auto": None}, most=_MOST_SWITCHES)] = parameter(
        "auto",
        "Rate of an accelerator's link to each scale-up switch of its machine, one a switch, in each direction; a "
        "transfer is striped over them. 'auto': one switch, of the whole rate.",
        source="one switch as good as several",
    )
    latency: Annotated[int, QuantityRule(TIME, most=LONGEST_DELAY)] = parameter(
        "250ns",
        "Fixed delay of a scale-up link, with its half of the scale-up switch, which adds none of its own.",
        source="assumed",
    )
    efficiency: Annotated[float, _EFFICIENCY] = parameter(
        0.94, "Payload over line bytes of a scale-up link.", source="assumed"
    )

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.rate is not None and self.switch_rates is not None and self.rate != sum(self.switch_rates):
            raise FieldError(
                "rate",
                f"{self.text('rate')!r} is not the sum of platform.scale_up.switch_rates = "
                f"{self.text('switch_rates')!r}",
                f"{RATE.format(sum(self.switch_rates))}, or one of the two keys",
            )


class _HasPcie(Requirement):
    """Whether anything is behind PCIe: hosts, or NICs that are no part of their accelerators."""

    text = (
        "platform.kind = 'zion' or 'pcie_servers', or NICs behind PCIe: platform.nics_per_node other than "
        "accelerators_per_node, or platform.nic_policy = 'hash' or 'striped'"
    )
    fields = ("kind", "nics_per_node", "nic_policy")

    def is_met(self, get: Callable[[str], Any]) -> bool:
        looked_at = (get(name) for name in ("kind", "nics_per_node", "accelerators_per_node", "nic_policy"))
        return get("kind") == "zion" or are_nics_nodes(*looked_at)


class PcieConfig(Table):
    """Links between an accelerator, its host and its NICs."""

    key: ClassVar[str] = "platform.pcie"
    only: ClassVar[Requirement | None] = _HasPcie()

    rate: Annotated[int, QuantityRule(RATE, least=1)] = parameter(
        "15.75GB/s",
        "Rate of a PCIe link, in each direction.",
        source="PCI Express Base 3.0: 16 lanes of 8 GT/s, 128b/130b",
    )
    latency: Annotated[int, QuantityRule(TIME, most=LONGEST_DELAY)] = parameter(
        "500ns", "Fixed delay of a PCIe link, with its half of the host, which adds none of its own.", source="assumed"
    )
    efficiency: Annotated[float, _EFFICIENCY] = parameter(
        0.914,
        "Payload over line bytes of a PCIe link.",
        source="PCI Express Base 3.0: 24 B beside a payload of 256 B, that size being assumed",
    )
