# SPDX-License-Identifier: GPL-2.0-only
"""From the ports that a scenario names to the channels and files that the packet engine writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from astra_py.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.config.pcap import PcapConfig
    from astra_py.platforms import Platform, PlatformArrays

__all__ = ["Capture", "capture_of", "captured_channels", "require_capturable"]

#: Largest length that a RETH has room for (InfiniBand Architecture 1.4 volume 1, section 9.3).
_MOST_MESSAGE_BYTES = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Capture:
    """What is captured, as the engine takes it.

    Attributes
    ----------
    channels, paths : the channel of each egress port, and its file.
    snap_length_bytes : most bytes of a frame that are kept.
    max_frames : most frames of a port that are written, or -1.
    telemetry_bytes : those that a frame with telemetry (HPCC's INT) has behind its ICRC.
    """

    channels: tuple[int, ...]
    paths: tuple[str, ...]
    snap_length_bytes: int
    max_frames: int
    telemetry_bytes: int


def capture_of(config: PcapConfig, platform: Platform, telemetry_bytes: int) -> Capture | None:
    """Return the captures that ``config`` asks for, their folder made, or None.

    Raises
    ------
    ConfigError : a port is not there or has no Ethernet frames, or the folder cannot be made.
    """
    if not config.ports:
        return None
    arrays = platform.arrays()
    channels = captured_channels(config, arrays)
    folder = Path(str(config.folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"pcap.folder: {str(folder)!r} cannot be made: {error.strerror}") from error
    return Capture(
        channels=channels,
        paths=tuple(str(folder / _file_name(channel, arrays)) for channel in channels),
        snap_length_bytes=config.snap_length,
        max_frames=-1 if config.max_frames is None else config.max_frames,
        telemetry_bytes=telemetry_bytes,
    )


def require_capturable(config: PcapConfig, platform: Platform, schedule: Schedule) -> None:
    """Find whatever is wrong with the captures of a run before it begins; nothing is written.

    Raises
    ------
    ConfigError : as :func:`capture_of`, or a message is too large for its packets' headers.
    """
    if not config.ports:
        return
    captured_channels(config, platform.arrays())
    largest = max((int(template.size_bytes.max(initial=0)) for template in schedule.templates), default=0)
    if largest > _MOST_MESSAGE_BYTES:
        raise ConfigError(
            f"pcap.ports: a message of the run has {largest} B, and the length in an RDMA WRITE's header has 32 bits; "
            f"allowed with captures: messages of at most {_MOST_MESSAGE_BYTES} B, such as by collective.chunks"
        )


def captured_channels(config: PcapConfig, arrays: PlatformArrays) -> tuple[int, ...]:
    """Channels of the ports that ``config`` names, ascending and each once.

    Raises
    ------
    ConfigError : a name is none of the platform's, or names no port on Ethernet.
    """
    ethernet = {channel for channel in range(2 * len(arrays.link_a)) if arrays.link_efficiency[channel // 2] == 0}
    if config.ports == ("all",):
        found = ethernet
        if not found:
            raise ConfigError("pcap.ports = 'all': no port of the platform is on Ethernet, and others have no frames")
    else:
        found = set()
        for port in config.ports:
            named = set(_named(port, arrays))
            if not named & ethernet:
                raise ConfigError(
                    f"pcap.ports: {port!r} is on scale-up links, whose packets are no Ethernet frames; allowed: ports "
                    "on Ethernet"
                )
            found |= named & ethernet
    return tuple(sorted(found))


def _named(port: str | int, arrays: PlatformArrays) -> Iterator[int]:
    """The channels that one name stands for; at least one."""
    channels = range(2 * len(arrays.link_a))
    if isinstance(port, int):
        if port not in channels:
            raise ConfigError(f"pcap.ports: there is no port {port}; allowed: 0 to {len(channels) - 1}")
        yield port
        return
    near, arrow, far = (part.strip() for part in port.partition(">"))
    for name in (near, far) if arrow else (near,):
        if name not in arrays.node_names:
            raise ConfigError(
                f"pcap.ports: {port!r}: there is no node {name!r}{did_you_mean(name, arrays.node_names)}; allowed: "
                "names of nodes as astra-py topology --json has them"
            )
    is_found = False
    for channel in channels:
        ends = _ends(channel, arrays)
        if ends[0] == near and (not arrow or ends[1] == far):
            is_found = True
            yield channel
    if not is_found:
        raise ConfigError(f"pcap.ports: {port!r}: no link joins the two; allowed: neighbours")


def _ends(channel: int, arrays: PlatformArrays) -> tuple[str, str]:
    """Names of a channel's transmitter and receiver."""
    a, b = (arrays.node_names[int(ends[channel // 2])] for ends in (arrays.link_a, arrays.link_b))
    return (a, b) if channel % 2 == 0 else (b, a)


def _file_name(channel: int, arrays: PlatformArrays) -> str:
    """Such as ``port12_rank3_to_leaf0.pcap``; letters that a file system may not like become underscores."""
    near, far = (re.sub(r"[^A-Za-z0-9._-]", "_", name) for name in _ends(channel, arrays))
    return f"port{channel}_{near}_to_{far}.pcap"
