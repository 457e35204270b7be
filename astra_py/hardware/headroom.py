# SPDX-License-Identifier: GPL-2.0-only
"""PFC headroom: what still arrives at a port after it made a PAUSE, so that nothing has to be dropped."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QUANTUM_BYTES", "Headroom", "pfc_headroom"]

#: A quantum of a PAUSE, 512 bit times, in bytes (IEEE 802.3, annex 31B).
QUANTUM_BYTES = 64
_BIT_PS_PER_BYTE = 8 * 10**12


@dataclass(frozen=True)
class Headroom:
    """The parts of a headroom, in bytes.

    Attributes
    ----------
    wire_bytes : sent while the PAUSE goes over the link and what was on the wire comes back: 2 x delay x rate.
    frames_bytes : two largest frames, one before the PAUSE on its way out and one that the peer has begun.
    response_bytes : sent while the peer responds.
    """

    wire_bytes: int
    frames_bytes: int
    response_bytes: int

    @property
    def total_bytes(self) -> int:
        """The sum."""
        return self.wire_bytes + self.frames_bytes + self.response_bytes


def pfc_headroom(*, rate_bps: int, delay_ps: int, frame_bytes: int, response_quanta: int) -> Headroom:
    """Headroom of an ingress port's priority (IEEE 802.1Qbb, annex O).

    Parameters
    ----------
    rate_bps, delay_ps : of the link.
    frame_bytes : largest frame on it.
    response_quanta : quanta from a PAUSE's last byte to its effect.
    """
    return Headroom(
        wire_bytes=-(-2 * delay_ps * rate_bps // _BIT_PS_PER_BYTE),
        frames_bytes=2 * frame_bytes,
        response_bytes=response_quanta * QUANTUM_BYTES,
    )
