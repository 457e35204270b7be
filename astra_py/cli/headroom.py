# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py headroom``: the buffer that PFC needs behind a port so that nothing is dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from astra_py.cli.common import print_json, print_table
from astra_py.errors import ConfigError
from astra_py.hardware import pfc_headroom
from astra_py.units import parse_rate, parse_size, parse_time

__all__ = ["headroom"]

#: Most quanta of a PAUSE's response, as of ``switch.pfc_response_quanta``.
_MOST_QUANTA = 65_535


def headroom(
    rate: Annotated[str, typer.Option(help="Rate of the link, such as 100Gbps.", show_default=False)],
    delay: Annotated[str, typer.Option(help="Propagation delay of the link, such as 1us.", show_default=False)],
    mtu: Annotated[str, typer.Option(help="Largest frame on the link, such as 4096B.", show_default=False)],
    response_quanta: Annotated[
        int, typer.Option(help="Quanta of 512 bit times that the peer takes to pause; 60 at 10 Gb/s.")
    ] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="Only the headroom, in bytes.")] = False,
) -> None:
    """Print the headroom of a lossless priority behind one port: the wire's bytes, two frames, the peer's response."""
    rate_bps = _read("--rate", parse_rate, rate)
    delay_ps = _read("--delay", parse_time, delay)
    frame_bytes = _read("--mtu", parse_size, mtu)
    if not 0 <= response_quanta <= _MOST_QUANTA:
        raise ConfigError(f"--response-quanta {response_quanta}: out of range; allowed: 0 to {_MOST_QUANTA}")
    parts = pfc_headroom(rate_bps=rate_bps, delay_ps=delay_ps, frame_bytes=frame_bytes, response_quanta=response_quanta)
    if as_json:
        print_json(
            [
                {
                    "rate_bps": rate_bps,
                    "delay_ps": delay_ps,
                    "mtu_bytes": frame_bytes,
                    "response_quanta": response_quanta,
                    "wire_bytes": parts.wire_bytes,
                    "frames_bytes": parts.frames_bytes,
                    "response_bytes": parts.response_bytes,
                    "headroom_bytes": parts.total_bytes,
                }
            ]
        )
        return
    if is_quiet:
        print(parts.total_bytes)
        return
    rows = [
        (f"2 x {delay} x {rate}", parts.wire_bytes),
        (f"2 x {mtu}", parts.frames_bytes),
        (f"{response_quanta} quanta of 64 B", parts.response_bytes),
        ("headroom", parts.total_bytes),
    ]
    print_table(["part", "bytes"], rows)


def _read(option: str, parse: Callable[[str], int], text: str) -> int:
    try:
        return parse(text)
    except ConfigError as error:
        raise ConfigError(f"{option}: {error}") from None
