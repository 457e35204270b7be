# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario's switches are on a platform: buffer kept for each port, and thresholds for each port's rate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.config.switch import PRIORITIES
from astra_py.engines.resolve import ecn_thresholds
from astra_py.engines.wire import PFC_LINE_BYTES
from astra_py.errors import ConfigError
from astra_py.hardware import pfc_headroom
from astra_py.units import format_rate, format_size

if TYPE_CHECKING:
    from astra_py.config import Scenario
    from astra_py.config.by_rate import SizeByRate
    from astra_py.engines.base import SwitchModel, TransportModel
    from astra_py.platforms.platform import PlatformArrays

__all__ = [
    "ACK_PRIORITY",
    "AUTO_SHARED_BYTES",
    "buffer_bytes",
    "buffer_warnings",
    "kept_bytes",
    "require_room",
    "require_thresholds",
    "switch_ports",
]

#: Priority of acknowledgements.
ACK_PRIORITY = 7
#: Shared part of a buffer of ``switch.buffer = "auto"`` (HPCC, SIGCOMM 2019, section 5.1: 32 MB).
AUTO_SHARED_BYTES = 32_000_000
#: Preamble, start delimiter and gap, and a pause quantum (IEEE 802.3, clause 4 and annex 31B).
_FRAMING_BYTES, _QUANTUM_BITS = 20, 512


def switch_ports(arrays: PlatformArrays) -> NDArray[np.int64]:
    """i64[ports]: channels that Ethernet ports of forwarding nodes send on; ``c ^ 1`` comes in where ``c`` goes out."""
    sender = np.stack([arrays.link_a, arrays.link_b], axis=1).ravel()
    is_ethernet = np.repeat(arrays.link_efficiency == 0, 2)
    return np.flatnonzero(is_ethernet & (arrays.node_forwards[sender] != 0))


def kept_bytes(
    switch: SwitchModel, transport: TransportModel, arrays: PlatformArrays, priorities: Iterable[int]
) -> NDArray[np.int64]:
    """i64[nodes]: buffer that each switch keeps for its ports: reserve of priorities in use, headroom of lossless ones.

    Parameters
    ----------
    priorities : those of the run's messages; that of acknowledgements is in use in any case.
    """
    kept = np.zeros(len(arrays.node_kind), dtype=np.int64)
    if switch.buffer_bytes == 0:
        return kept
    in_use = {*priorities, ACK_PRIORITY}
    frame = transport.largest_line_bytes
    reserve = frame + PFC_LINE_BYTES if switch.reserve_bytes < 0 else switch.reserve_bytes
    ports = switch_ports(arrays)
    node = np.stack([arrays.link_a, arrays.link_b], axis=1).ravel()[ports]
    links = np.stack([arrays.link_rate_bps, arrays.link_delay_ps], axis=1)[ports // 2]
    kinds, kind = np.unique(links, axis=0, return_inverse=True)
    headroom = [
        pfc_headroom(
            rate_bps=rate, delay_ps=delay, frame_bytes=frame, response_quanta=switch.response_quanta
        ).total_bytes
        if switch.headroom_bytes < 0
        else switch.headroom_bytes
        for rate, delay in kinds.tolist()
    ]
    of_link = len(in_use) * reserve + len(in_use & set(switch.lossless)) * np.array(headroom, dtype=np.int64)
    np.add.at(kept, node, of_link[kind.ravel()])
    return kept


def buffer_bytes(
    switch: SwitchModel, transport: TransportModel, arrays: PlatformArrays, priorities: Iterable[int]
) -> NDArray[np.int64]:
    """i64[nodes]: size of each switch's buffer, with what it keeps for its ports; 0 without limit, and elsewhere."""
    kept = kept_bytes(switch, transport, arrays, priorities)
    size = kept + AUTO_SHARED_BYTES if switch.buffer_bytes < 0 else np.full_like(kept, switch.buffer_bytes)
    return np.where(arrays.node_forwards, size, 0)


def buffer_warnings(
    switch: SwitchModel, transport: TransportModel, arrays: PlatformArrays, priorities: Iterable[int]
) -> tuple[str, ...]:
    """A sentence where switches keep more for their ports than their buffers hold."""
    if switch.buffer_bytes <= 0:
        return ()
    kept = kept_bytes(switch, transport, arrays, priorities)
    short = np.flatnonzero(kept > switch.buffer_bytes)
    if not len(short):
        return ()
    worst = short[np.argmax(kept[short])]
    count = "1 switch keeps" if len(short) == 1 else f"{len(short)} switches keep"
    in_use = {*priorities, ACK_PRIORITY}
    lossless = in_use & set(switch.lossless)
    what = "reserve and headroom" if lossless else "reserve"
    ends = [
        *(["ports pause at once"] if lossless else []),
        *(["what exceeds a port's switch.reserve is dropped"] if in_use - lossless else []),
    ]
    return (
        f"switch.buffer = {format_size(switch.buffer_bytes)!r}: {count} more for their ports, as {what}, up to "
        f"{kept[worst]:,} B at {arrays.node_names[worst]}; nothing is left to share, so that {' and '.join(ends)}",
    )


def require_room(
    scenario: Scenario,
    switch: SwitchModel,
    transport: TransportModel,
    arrays: PlatformArrays,
    priorities: Iterable[int],
) -> None:
    """Refuse buffers that the largest frame of a priority in use never fits in: it would be sent again for ever.

    A lossy frame needs its size of ``switch.egress_alpha`` times what ports share, or of the reserve; a lossless one
    of the shared part, the reserve or the headroom.

    Raises
    ------
    ConfigError : names the key, the switch with least to share, the frame and the scenario's file; also for pauses that
        are over before they can be sent again.
    """
    nodes = np.unique(np.stack([arrays.link_a, arrays.link_b], axis=1).ravel()[switch_ports(arrays)])
    if switch.buffer_bytes == 0 or not len(nodes):
        return
    kept = kept_bytes(switch, transport, arrays, priorities)
    shared = np.maximum(buffer_bytes(switch, transport, arrays, priorities) - kept, 0)
    worst = int(nodes[np.argmin(shared[nodes])])
    least, frame = int(shared[worst]), transport.largest_frame_bytes
    where = f"{scenario.source_path}: " if scenario.source_path else ""
    asked = scenario.switch.text("buffer")
    left = f"leaves {least:,} B to share at {arrays.node_names[worst]}"
    keys = scenario.switch
    shortest = -(-2 * 8 * (frame + _FRAMING_BYTES + PRIORITIES * PFC_LINE_BYTES) // _QUANTUM_BITS)
    if keys.pfc and keys.lossless and keys.pause_quanta < shortest:
        raise ConfigError(
            f"{where}switch.pause_quanta: {keys.pause_quanta} quanta are over before a PAUSE that waits behind a frame "
            f"of {frame:,} B is sent again, and lossless frames would be dropped; allowed: at least {shortest}"
        )
    # a reserve or a headroom of "auto" holds a frame
    in_use, reserve = {*priorities, ACK_PRIORITY}, switch.reserve_bytes
    lossy_room = min(int(scenario.switch.egress_alpha * least), least)
    if in_use - set(switch.lossless) and 0 <= reserve < frame and lossy_room < frame:
        raise ConfigError(
            f"{where}switch.buffer: {asked!r} {left}, of which a lossy priority may have switch.egress_alpha = "
            f"{scenario.switch.egress_alpha:g} times; allowed: room for a frame of {frame:,} B there or in "
            "switch.reserve"
        )
    if 0 <= reserve < frame and 0 <= switch.headroom_bytes < frame and least < frame:
        raise ConfigError(
            f"{where}switch.buffer: {asked!r} {left}, and neither switch.reserve nor switch.headroom holds a frame of "
            f"{frame:,} B; allowed: room for a frame in one of them"
        )


def require_thresholds(scenario: Scenario, arrays: PlatformArrays) -> None:
    """Refuse ECN thresholds that a port's rate has none of, or whose order is wrong at it.

    Raises
    ------
    ConfigError : names the key, the rate, a port of it and the scenario's file.
    """
    if not scenario.switch.ecn:
        return
    ports = switch_ports(arrays)
    rates, first = np.unique(arrays.link_rate_bps[ports // 2], return_index=True)
    low, high = ecn_thresholds(scenario)
    where = f"{scenario.source_path}: " if scenario.source_path else ""
    file = scenario.transport.file
    whose = "" if file is None else f"; they are those of transport.file = {file!r} where the scenario gives none"
    for rate, port in zip(rates.tolist(), ports[first].tolist(), strict=True):
        a, b = (arrays.node_names[ends[port // 2]] for ends in (arrays.link_a, arrays.link_b))
        at = f"{format_rate(rate)}, the rate of the link between {a} and {b}"
        kmin, kmax = (
            _threshold(f"{where}switch.{key}", of, rate, at, whose)
            for key, of in (("ecn_kmin", low), ("ecn_kmax", high))
        )
        if kmin > kmax:
            raise ConfigError(
                f"{where}switch.ecn_kmin: {str(low)!r} is {kmin:,} B at {at}, above switch.ecn_kmax = {str(high)!r}, "
                f"{kmax:,} B; allowed: at most switch.ecn_kmax"
            )


def _threshold(key: str, sizes: SizeByRate, rate: int, at: str, whose: str) -> int:
    size = sizes.at(rate)
    if size is None:
        raise ConfigError(
            f"{key}: {str(sizes)!r} has no entry for {at}; allowed: a size for each rate of the platform{whose}"
        )
    return size
