# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario's switches are on a platform: buffer kept for each port, and thresholds for each port's rate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.engines.resolve import ecn_thresholds
from astra_py.errors import ConfigError
from astra_py.hardware import pfc_headroom
from astra_py.units import format_rate, format_size

if TYPE_CHECKING:
    from astra_py.config import Scenario
    from astra_py.config.by_rate import SizeByRate
    from astra_py.engines.base import SwitchModel, TransportModel
    from astra_py.platforms.platform import PlatformArrays

__all__ = ["ACK_PRIORITY", "buffer_warnings", "kept_bytes", "require_thresholds", "switch_ports"]

#: Priority of acknowledgements.
ACK_PRIORITY = 7
#: A PAUSE on the line: 64 B, preamble and gap (IEEE 802.3, annex 31D).
_PAUSE_LINE_BYTES = 84


def switch_ports(arrays: PlatformArrays) -> NDArray[np.int64]:
    """i64[ports]: channels that Ethernet ports of forwarding nodes send on; ``c ^ 1`` comes in where ``c`` goes out."""
    sender = np.stack([arrays.link_a, arrays.link_b], axis=1).ravel()
    is_ethernet = np.repeat(arrays.link_efficiency == 0, 2)
    return np.flatnonzero(is_ethernet & (arrays.node_forwards[sender] != 0))


def kept_bytes(
    switch: SwitchModel, transport: TransportModel, arrays: PlatformArrays, priorities: Iterable[int]
) -> NDArray[np.int64]:
    """i64[nodes]: buffer that each switch keeps as reserve and headroom of lossless priorities in use.

    Parameters
    ----------
    priorities : those of the run's collectives; that of acknowledgements is in use in any case.
    """
    kept = np.zeros(len(arrays.node_kind), dtype=np.int64)
    classes = len({*priorities, ACK_PRIORITY} & set(switch.lossless))
    if switch.buffer_bytes == 0 or classes == 0:
        return kept
    frame = transport.largest_line_bytes
    reserve = frame + _PAUSE_LINE_BYTES if switch.reserve_bytes < 0 else switch.reserve_bytes
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
    np.add.at(kept, node, classes * (reserve + np.array(headroom, dtype=np.int64)[kind.ravel()]))
    return kept


def buffer_warnings(
    switch: SwitchModel, transport: TransportModel, arrays: PlatformArrays, priorities: Iterable[int]
) -> tuple[str, ...]:
    """A sentence where switches keep more for lossless priorities than their buffers hold."""
    kept = kept_bytes(switch, transport, arrays, priorities)
    short = np.flatnonzero(kept > switch.buffer_bytes) if switch.buffer_bytes else np.zeros(0, dtype=np.int64)
    if not len(short):
        return ()
    worst = short[np.argmax(kept[short])]
    count = "1 switch keeps" if len(short) == 1 else f"{len(short)} switches keep"
    return (
        f"switch.buffer = {format_size(switch.buffer_bytes)!r}: {count} more as reserve and headroom of lossless "
        f"priorities, up to {kept[worst]:,} B at {arrays.node_names[worst]}; nothing is left to share, and every port "
        "pauses at once",
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
    for rate, port in zip(rates.tolist(), ports[first].tolist(), strict=True):
        a, b = (arrays.node_names[ends[port // 2]] for ends in (arrays.link_a, arrays.link_b))
        at = f"{format_rate(rate)}, the rate of the link between {a} and {b}"
        kmin, kmax = (
            _threshold(f"{where}switch.{key}", of, rate, at) for key, of in (("ecn_kmin", low), ("ecn_kmax", high))
        )
        if kmin > kmax:
            raise ConfigError(
                f"{where}switch.ecn_kmin: {str(low)!r} is {kmin:,} B at {at}, above switch.ecn_kmax = {str(high)!r}, "
                f"{kmax:,} B; allowed: at most switch.ecn_kmax"
            )


def _threshold(key: str, sizes: SizeByRate, rate: int, at: str) -> int:
    size = sizes.at(rate)
    if size is None:
        raise ConfigError(f"{key}: {str(sizes)!r} has no entry for {at}; allowed: a size for each rate of the platform")
    return size
