# SPDX-License-Identifier: GPL-2.0-only
"""What NCCL's protocols cost beside the network: a time to start a collective, one each step, and flags on the wire.

The figures are those by which NCCL itself chooses among its protocols (``src/graph/tuning.cc``, 2.19 to 2.21: baseLat
and hwLat of rings). Data goes in lines: of 8 bytes with 4 of data in LL, of 128 with 120 of data in LL128
(``src/include/device.h``); Simple has no flags.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import FIRST_SHARED_POOL, EdgeOn, OpKind, Template
from astra_py.collectives.system import SystemModel
from astra_py.collectives.weights import longest_ways

__all__ = ["CHANNELS", "PROTOCOLS", "Protocol", "on_channels", "with_protocol"]

#: The pool of each rank whose units are its messages on the way.
CHANNELS = "channels"

_PS_PER_NS = 1000


@dataclass(frozen=True)
class Protocol:
    """A protocol's costs.

    Attributes
    ----------
    name : as ``system.protocol`` calls it.
    start_ps : before the first operation of each rank in a collective.
    inside_ps, between_ps : of one step over NVLink, and of one over the network, all in all.
    line_bytes, flag_bytes : data goes in lines of so many bytes, of which so many are flags.
    """

    name: str
    start_ps: int
    inside_ps: int
    between_ps: int
    line_bytes: int
    flag_bytes: int

    def flags(self, size_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bytes of flags beside each of ``size_bytes`` of data; a line begun has all its flags."""
        lines = -(-size_bytes // (self.line_bytes - self.flag_bytes))
        return lines * self.flag_bytes


PROTOCOLS = {
    "ll": Protocol("ll", 6_600 * _PS_PER_NS, 600 * _PS_PER_NS, 2_700 * _PS_PER_NS, 8, 4),
    "ll128": Protocol("ll128", 14_000 * _PS_PER_NS, 1_900 * _PS_PER_NS, 4_000 * _PS_PER_NS, 128, 8),
    "simple": Protocol("simple", 8_400 * _PS_PER_NS, 3_400 * _PS_PER_NS, 14_000 * _PS_PER_NS, 4096, 0),
}


def with_protocol(template: Template, is_between: NDArray[np.bool_], system: SystemModel) -> Template:
    """Give a template's messages the costs of ``system.protocol``; ``"auto"`` is the one that is likely to end first.

    A step's time has the network's own latency in it, which is simulated: what is left of it without
    ``system.inside.latency_ps``, or ``system.between.latency_ps``, passes before the message is posted. The time to
    start passes before what waits for nothing.

    Parameters
    ----------
    template : any template without control bytes.
    is_between : bool[m], which operations are messages between machines.
    system : the protocol, and the figures of the two levels of the network.
    """
    if system.protocol == "auto":
        protocol = min(PROTOCOLS.values(), key=lambda each: _time_ps(template, is_between, system, each))
    else:
        protocol = PROTOCOLS[str(system.protocol)]
    is_send = template.is_send
    left = [
        max(whole - (0 if level is None else level.latency_ps), 0)
        for whole, level in ((protocol.inside_ps, system.inside), (protocol.between_ps, system.between))
    ]
    duration_ps = template.duration_ps + np.where(is_send, np.where(is_between, left[1], left[0]), 0)
    duration_ps[np.diff(template.dep_ptr) == 0] += protocol.start_ps
    flags = np.where(is_send, protocol.flags(template.size_bytes), 0)
    return replace(
        template,
        duration_ps=duration_ps,
        size_bytes=template.size_bytes + flags,
        control_bytes=flags if flags.any() else template.control_bytes,
        protocol=protocol.name,
    )


def on_channels(template: Template) -> Template:
    """Let each message take a unit of its sender's pool :data:`CHANNELS` until it is acknowledged."""
    message = np.flatnonzero(template.is_send)
    shared = (*template.shared_pools, CHANNELS)
    uses = np.diff(template.use_ptr)
    at = template.use_ptr[message + 1]
    uses[message] += 1
    release_op = template.release_op
    if len(release_op):
        release_op = np.insert(release_op, at, message)
    return replace(
        template,
        shared_pools=shared,
        use_ptr=np.concatenate([[0], np.cumsum(uses)]).astype(np.int64),
        use_pool=np.insert(template.use_pool, at, FIRST_SHARED_POOL - shared.index(CHANNELS)),
        release_on=np.insert(template.release_on, at, EdgeOn.ACKED),
        release_op=release_op,
    )


def _time_ps(template: Template, is_between: NDArray[np.bool_], system: SystemModel, protocol: Protocol) -> int:
    """As NCCL sees it: the time to start, the steps of the longest way, and the bytes of the busiest rank."""
    is_send = template.is_send & template.is_counted
    step_ps = np.where(is_between, protocol.between_ps, protocol.inside_ps) * is_send
    local_ps = np.where(template.kind == OpKind.SEND, 0, template.duration_ps)
    steps = int((longest_ways(template, step_ps + local_ps) + step_ps).max(initial=0))
    busy = 0
    for level, is_there in ((system.inside, is_send & ~is_between), (system.between, is_send & is_between)):
        if level is not None:
            sizes = template.size_bytes[is_there]
            most = np.bincount(template.src[is_there], sizes + protocol.flags(sizes), template.ranks).max(initial=0)
            busy = max(busy, int(most * 8e12 / level.rate_bps))
    return protocol.start_ps + steps + busy
