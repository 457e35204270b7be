# SPDX-License-Identifier: GPL-2.0-only
"""Receiver-driven admission: no message before its receiver has cleared it to be sent.

As Meta runs RoCE at 400 Gbit/s without DCQCN (Gangidi et al., SIGCOMM 2024, section 5.3): a sender may write only after
a clear-to-send (CTS) message from the receiver, which clears no more than it has room for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import FIRST_SHARED_POOL, EdgeOn, OpKind, Template
from astra_py.collectives.weights import longest_ways

__all__ = ["ADMISSION", "CTS_BYTES", "admitted"]

#: The pool of each rank whose units are the messages that it has cleared and that have not arrived yet.
ADMISSION = "admission"

#: A clear-to-send message: one entry of NCCL's FIFO of addresses, sizes and keys (struct ncclIbSendFifo, net_ib.cc).
CTS_BYTES = 64

Ids = NDArray[np.int64]


def admitted(template: Template, is_admitted: NDArray[np.bool_]) -> Template:
    """Put a clear-to-send message from the receiver before each of some messages.

    A CTS takes a unit of the receiver's pool :data:`ADMISSION` and may then go at once; the message waits for it beside
    all else, and gives the unit back when it is delivered. A receiver clears in the order in which the messages can
    come at the earliest: by the number of operations before them, then by their turn at the sender. No message waits
    for one that is cleared later, so that one collective always ends, however small the pool.

    Parameters
    ----------
    template : any template.
    is_admitted : bool[m], which of its messages are held to it.

    Returns
    -------
    The template with the CTS messages before all other operations: operation ``i`` is ``i + c`` in it, of ``c``.
    """
    message = _in_order_of_clearance(template, np.flatnonzero(is_admitted & template.is_send))
    count = len(message)
    if not count:
        return template
    shared = (*template.shared_pools, *(() if ADMISSION in template.shared_pools else (ADMISSION,)))
    phases = (*template.phase_names, *(() if ADMISSION in template.phase_names else (ADMISSION,)))
    pool = FIRST_SHARED_POOL - shared.index(ADMISSION)
    cts = np.arange(count, dtype=np.int32)

    def before(head: Any, column: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([np.broadcast_to(np.asarray(head, column.dtype), count), column])

    def rows(first: int, ptr: Ids) -> Ids:
        """Row pointers with rows of ``first`` entries for the CTS messages in front."""
        return np.concatenate([np.arange(count) * first, ptr + count * first])

    # each message waits for its CTS last
    order = np.argsort(message)
    at = template.dep_ptr[message[order] + 1]
    waits = np.diff(template.dep_ptr)
    waits[message] += 1
    uses = np.concatenate([[0], np.cumsum(waits)])
    release_op = template.release_op
    if not len(release_op):
        release_op = np.repeat(np.arange(len(template), dtype=np.int32), np.diff(template.use_ptr))
    control = template.control_bytes if len(template.control_bytes) else np.zeros(len(template), dtype=np.int64)
    return replace(
        template,
        kind=before(OpKind.SEND, template.kind),
        src=before(template.dst[message], template.src),
        dst=before(template.src[message], template.dst),
        size_bytes=before(CTS_BYTES, template.size_bytes),
        control_bytes=before(CTS_BYTES, control),
        duration_ps=before(0, template.duration_ps),
        phase=before(phases.index(ADMISSION), template.phase),
        phase_names=phases,
        chunk=before(template.chunk[message], template.chunk),
        combine=before(0, template.combine),
        dep_ptr=rows(0, uses),
        dep_op=np.insert(template.dep_op + np.int32(count), at, cts[order]),
        dep_on=np.insert(template.dep_on, at, template.notify_on),
        shared_pools=shared,
        use_ptr=rows(1, template.use_ptr),
        use_pool=before(pool, template.use_pool),
        release_on=before(EdgeOn.DELIVERED, template.release_on),
        release_op=before(message + count, release_op + np.int32(count)).astype(np.int32),
        block_ptr=rows(0, template.block_ptr),
        alternative=before(template.alternative[message], template.alternative)
        if template.choices
        else template.alternative,
    )


def _in_order_of_clearance(template: Template, message: Ids) -> Ids:
    level = longest_ways(template, np.ones(len(template), dtype=np.int64))[message]
    src = template.src[message]
    by_sender = np.lexsort((message, level, src))
    is_new = np.ones(len(message), dtype=np.bool_)
    is_new[1:] = (np.diff(level[by_sender]) != 0) | (np.diff(src[by_sender]) != 0)
    start = np.flatnonzero(is_new)
    turn = np.empty(len(message), dtype=np.int64)
    turn[by_sender] = np.arange(len(message)) - np.repeat(start, np.diff(np.append(start, len(message))))
    return message[np.lexsort((message, turn, level))]
