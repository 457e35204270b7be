# SPDX-License-Identifier: GPL-2.0-only
"""``[pcap]``: frames of chosen ports, written as captures that Wireshark reads."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from astra_py.config.condition import Condition
from astra_py.config.rules import Count, QuantityRule, Rule, Text
from astra_py.config.table import FieldError, Table, parameter
from astra_py.units import SIZE

__all__ = ["PcapConfig"]

#: The headers of a first packet, from Ethernet's to the RETH: less of a frame says little.
_LEAST_SNAP = 70
#: tcpdump's longest, and its default.
_MOST_SNAP = 262_144

_IS_CAPTURED = Condition("ports", "pcap.ports other than []", bool)


class PortsRule(Rule):
    """Some egress ports, held as a tuple of what names them."""

    type_name = "list"
    allowed = "'all' or a list of ports as astra-py topology --json has them: 'NODE', 'NODE>PEER' or a port's number"

    def read(self, value: Any) -> tuple[str | int, ...]:
        if value == "all":
            return ("all",)
        if not isinstance(value, list | tuple):
            raise ValueError(f"{value!r} is not a list of ports")
        for port in value:
            if isinstance(port, bool) or not isinstance(port, str | int) or not str(port).strip():
                raise ValueError(f"{port!r} names no port")
        return tuple(value)

    def write(self, value: tuple[str | int, ...]) -> str | list[str | int]:
        return "all" if value == ("all",) else list(value)


class FolderRule(Text):
    """A folder; None where there is none."""

    def read(self, value: Any) -> Any:
        return None if value is None else super().read(value)


class PcapConfig(Table):
    """Frames of chosen ports, written as captures that Wireshark reads; they change nothing of a run."""

    key: ClassVar[str] = "pcap"

    ports: Annotated[tuple[str | int, ...], PortsRule()] = parameter(
        [],
        "Egress ports whose frames are written, each port's to a file of its own: 'NODE' for all of a node, "
        "'NODE>PEER' for those to one neighbour, or numbers; 'all' for every port on Ethernet.",
    )
    folder: Annotated[str | None, FolderRule("the path of a folder")] = parameter(
        None,
        "Where the files go; must be given with pcap.ports. It is made where it is missing; captures of the same ports "
        "in it are written anew. In a scenario file the path is relative to that file's folder, on the command line to "
        "the current one.",
        only=_IS_CAPTURED,
    )
    snap_length: Annotated[int, QuantityRule(SIZE, least=_LEAST_SNAP, most=_MOST_SNAP)] = parameter(
        "262144B", "Most bytes of a frame that are kept, from its first.", source="tcpdump", only=_IS_CAPTURED
    )
    max_frames: Annotated[int | None, Count(least=1, words={"none": None})] = parameter(
        "none",
        "Most frames of a port that are written, the first ones; counters tell how many were left out.",
        source="no limit",
        only=_IS_CAPTURED,
    )

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.ports and self.folder is None:
            raise FieldError("folder", "None is given, and the captures have to go somewhere", "the path of a folder")
