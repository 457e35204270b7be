# SPDX-License-Identifier: GPL-2.0-only
"""``[platform.scale_up]`` and ``[platform.pcie]``: the links inside a machine."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.rules import Number, QuantityRule
from astra_py.config.table import Condition, Table, parameter
from astra_py.units import RATE, TIME, parse_time

__all__ = ["LONGEST_DELAY", "PcieConfig", "ScaleUpConfig"]

#: Longest fixed delay of anything: a thousand of them in a row still fit a 64-bit count of picoseconds.
LONGEST_DELAY = parse_time("100s")

_EFFICIENCY = Number(least=0, most=1, is_least_allowed=False)


class ScaleUpConfig(Table):
    """Links between an accelerator and its machine's scale-up switch: NVLink to NVSwitch, or the like."""

    key: ClassVar[str] = "platform.scale_up"
    only: ClassVar[Condition | None] = Condition(
        "kind", "platform.kind = 'zion' or 'zionex'", lambda kind: kind in ("zion", "zionex")
    )

    rate: Annotated[int | None, QuantityRule(RATE, least=1, words={"auto": None})] = parameter(
        "auto",
        "Rate of all scale-up links of an accelerator together, in each direction. 'auto': that of "
        "platform.accelerator, 300GB/s for an A100.",
        source="data sheet of the accelerator",
    )
    latency: Annotated[int, QuantityRule(TIME, most=LONGEST_DELAY)] = parameter(
        "250ns",
        "Fixed delay of a scale-up link, with its half of the scale-up switch, which adds none of its own.",
        source="assumed",
    )
    efficiency: Annotated[float, _EFFICIENCY] = parameter(
        0.94, "Payload over line bytes of a scale-up link.", source="assumed"
    )


class PcieConfig(Table):
    """Links between an accelerator and its host."""

    key: ClassVar[str] = "platform.pcie"
    only: ClassVar[Condition | None] = Condition("kind", "platform.kind = 'zion'", lambda kind: kind == "zion")

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
