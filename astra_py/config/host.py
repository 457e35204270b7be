# SPDX-License-Identifier: GPL-2.0-only
"""``[host]``: what TCP/IP costs the machines that run it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.condition import Condition, OfTransport, Requirement
from astra_py.config.presets import presets
from astra_py.config.rules import Choice, Count, Flag, QuantityRule, Rule
from astra_py.config.table import FieldError, Ns3Attribute, Table, parameter
from astra_py.units import RATE, SIZE, TIME, parse_time

__all__ = ["HostConfig"]

_LONGEST_COST = parse_time("1s")
_COST = QuantityRule(TIME, most=_LONGEST_COST)
_HAS_STAGING = Condition("staging", "host.staging other than 'none'", lambda staging: staging != "none")


def _figure(name: str, suffix: str | None = "", **words: str) -> Ns3Attribute:
    return Ns3Attribute((f"ns3::HostStack::{name}",), suffix, words=words, is_figure=True)


class HostPresetRule(Rule):
    """The name of a host preset that ships with the package."""

    type_name = "name"

    @property
    def allowed(self) -> str:
        return " or ".join(map(repr, presets("host")))

    def read(self, value: object) -> str:
        return Choice(*presets("host")).read(value)


class HostConfig(Table):
    """Cores that run TCP/IP, their costs, the NIC's offloads, and the way between accelerator and host memory."""

    key: ClassVar[str] = "host"
    only: ClassVar[Requirement | None] = OfTransport("tcp")

    preset: Annotated[str, HostPresetRule()] = parameter(
        "ideal", "A named set of values for the keys of this table; keys that are given override it."
    )
    cores: Annotated[int, Count(least=1, most=1024)] = parameter(
        8,
        "Cores of a machine that run its TCP/IP, each doing one thing after another.",
        source="assumed",
        ns3=_figure("Cores"),
    )
    rss: Annotated[str, Choice("hash", "socket_index")] = parameter(
        "hash",
        "Which core a connection is on (receive-side scaling), at both its ends: by a hash of it, or its socket's "
        "number modulo the cores.",
        ns3=_figure("Rss"),
    )
    per_message: Annotated[int, _COST] = parameter(
        "0ns",
        "Core time of a message at its sender, and again at its receiver: system calls and wake-ups.",
        source="ideal hosts",
        ns3=_figure("PerMessage"),
    )
    per_segment: Annotated[int, _COST] = parameter(
        "0ns",
        "Core time of a segment that is sent: up to 64 KiB with host.tso, one packet without.",
        source="ideal hosts",
        ns3=_figure("PerSegment"),
    )
    per_packet: Annotated[int, _COST] = parameter(
        "0ns",
        "Core time of a packet that is received, acknowledgements among them; with host.gro of the first of what is "
        "merged.",
        source="ideal hosts",
        ns3=_figure("PerPacket"),
    )
    per_merged_packet: Annotated[int, _COST] = parameter(
        "0ns",
        "Core time of each further packet of what is merged, which IP and TCP never see singly: its buffer, driver, "
        "and merging it. At most host.per_packet.",
        source="ideal hosts",
        only=Condition("gro", "host.gro = true", lambda gro: gro is True),
        ns3=_figure("PerMergedPacket"),
    )
    copy_rate: Annotated[int | None, QuantityRule(RATE, least=1, words={"none": None})] = parameter(
        "none",
        "Rate at which a core copies between application and socket, at the sender and again at the receiver. 'none': "
        "copies take no time.",
        source="ideal hosts",
        ns3=_figure("CopyRate", "bps", none="0"),
    )
    tso: Annotated[bool, Flag()] = parameter(
        False,
        "Whether the NIC cuts segments of up to 64 KiB into packets (TCP segmentation offload).",
        ns3=_figure("Tso"),
    )
    gro: Annotated[bool, Flag()] = parameter(
        False,
        "Whether packets of a connection that come up together are merged up to 64 KiB (generic receive offload).",
        ns3=_figure("Gro"),
    )
    rx_usecs: Annotated[int, QuantityRule(TIME, most=parse_time("10ms"))] = parameter(
        "0us",
        "Time from a packet's arrival to the interrupt that brings up all that have come by then (interrupt "
        "moderation); named as ethtool does.",
        source="ideal hosts",
        ns3=_figure("RxDelay"),
    )
    rx_frames: Annotated[int | None, Count(least=1, most=65_535, words={"none": None})] = parameter(
        "none",
        "Packets that bring the interrupt forward. 'none': only time does.",
        source="ideal hosts",
        only=Condition("rx_usecs", "host.rx_usecs above 0", lambda time: time > 0),
        ns3=_figure("RxFrames", none="0"),
    )
    staging: Annotated[str, Choice("auto", "none", "always")] = parameter(
        "none",
        "Whether a message is copied from the accelerator's memory to the host's before it is sent, and back after. "
        "'auto': but where the platform's way to the NIC leads over a host, whose PCIe link is that copy.",
        ns3=_figure("Staging"),
    )
    staging_rate: Annotated[int, QuantityRule(RATE, least=1)] = parameter(
        "14.4GB/s",
        "Rate of these copies, for each accelerator and direction.",
        source="payload of PCIe 3.0 x16, as platform.pcie: 15.75 GB/s x 0.914",
        only=_HAS_STAGING,
        ns3=_figure("StagingRate", "bps"),
    )
    staging_chunk: Annotated[int, QuantityRule(SIZE, least=1024, most=2**40)] = parameter(
        "512KiB",
        "Part of a message that is copied, and handed on, at a time.",
        source="a step of NCCL's buffer, NCCL_BUFFSIZE / NCCL_STEPS",
        only=_HAS_STAGING,
        ns3=_figure("StagingChunk", "B"),
    )

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.per_merged_packet > self.per_packet:
            raise FieldError(
                "per_merged_packet",
                f"{self.text('per_merged_packet')!r} is more than a packet costs that is not merged, "
                f"host.per_packet = {self.text('per_packet')!r}",
                f"at most {self.text('per_packet')!r}",
            )
