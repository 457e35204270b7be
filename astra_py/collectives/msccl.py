# SPDX-License-Identifier: GPL-2.0-only
"""Algorithms of MSCCL as algorithms of a collective: ``collective.all_reduce = "file:PATH.xml"``.

A send goes when its threadblock's steps before it are taken and its ``depid`` is: what they received has arrived, and
what they sent has left. A receive keeps no sender waiting; GPUs' slots for what is under way are not modelled, nor is
the time of local copies. Local reductions take what ``system.local_memory_bandwidth`` says.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.builder import Dep, ScheduleBuilder
from astra_py.collectives.msccl_program import Action, follow
from astra_py.collectives.msccl_xml import MscclAlgorithm, read_msccl
from astra_py.collectives.partition import segment_bytes
from astra_py.collectives.references import Numbers
from astra_py.collectives.registry import Algorithm, Group
from astra_py.collectives.schedule import EdgeOn
from astra_py.errors import ConfigError

__all__ = ["msccl_algorithm"]

#: By file, as it was when it was read, so that a file is one function as long as it does not change.
_known: dict[Path, tuple[int, str, Algorithm]] = {}


def msccl_algorithm(kind: str, path: Path) -> Algorithm:
    """The algorithm in ``path`` as a function that adds it to a :class:`ScheduleBuilder`.

    Raises
    ------
    ConfigError : the file is not understood or is for another collective than ``kind``; names the line.
    CheckError : it does not do what its collective promises; names gpu and chunk.
    """
    try:
        modified_ns = path.stat().st_mtime_ns
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    place = path.resolve()
    if place not in _known or _known[place][0] != modified_ns:
        algorithm = read_msccl(path)
        _known[place] = (modified_ns, algorithm.kind, _function(algorithm, follow(algorithm)))
    _, own_kind, function = _known[place]
    if kind != own_kind and (kind, own_kind) != ("all_to_all_v", "all_to_all"):
        raise ConfigError(f"{path}: it is an algorithm of {own_kind}, not of {kind}")
    return function


def _function(algorithm: MscclAlgorithm, actions: list[Action]) -> Algorithm:
    def add(build: ScheduleBuilder, group: Group, payload: int | NDArray[np.int64]) -> None:
        if group.size != algorithm.ranks:
            raise ConfigError(f"{algorithm.path}: it is for {algorithm.ranks} ranks, and the group has {group.size}")
        _require_size(algorithm, payload)
        _add(build, actions, _block_bytes(algorithm, payload))

    return add


def _require_size(algorithm: MscclAlgorithm, payload: int | NDArray[np.int64]) -> None:
    """Refuse what MSCCL would leave to another algorithm."""
    size_bytes = payload if isinstance(payload, int) else int(payload.sum(axis=1).max())
    most = algorithm.most_bytes
    if size_bytes < algorithm.least_bytes or (most is not None and size_bytes > most):
        limits = f"{algorithm.least_bytes:,} B or more" if most is None else f"{algorithm.least_bytes:,} to {most:,} B"
        raise ConfigError(f"{algorithm.path}: it is for {limits} (minBytes, maxBytes), not for {size_bytes:,} B")


def _block_bytes(algorithm: MscclAlgorithm, payload: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """Bytes of every block, by its number; parts are larger first, as everywhere."""
    if not isinstance(payload, int):
        wholes = payload.ravel()
    elif algorithm.kind == "all_reduce":
        return segment_bytes(payload, algorithm.chunks)
    else:
        wholes = segment_bytes(payload, algorithm.ranks)
    floor, larger = np.divmod(wholes, algorithm.parts)
    return (floor + (np.arange(algorithm.parts)[:, np.newaxis] < larger)).ravel()


def _add(build: ScheduleBuilder, actions: list[Action], block_bytes: NDArray[np.int64]) -> None:
    """Add every action of bytes; what waits for one that has none, waits for nothing."""
    nothing: frozenset[int] = frozenset()
    # Operations that stand for an action where its result is waited for: those told of, and own messages that have
    # left. For a message's sender, its own operation.
    told, left, own = ([nothing] * len(actions) for _ in range(3))
    takes_time = build.system.local_memory_bandwidth_bps is not None
    for i, action in enumerate(actions):
        size_bytes = int(block_bytes[list(action.blocks)].sum())
        if size_bytes == 0:
            continue
        ids = nothing.union(*(told[before] for before in action.arrived))
        sent = nothing.union(*(left[before] for before in action.arrived), *(own[before] for before in action.sent))
        after: list[Numbers | Dep] = [Dep(np.array([sorted(ids)]))] if ids else []
        after += [Dep(np.array([sorted(sent)]), on=EdgeOn.SENT)] if sent else []
        if action.combine is not None:
            op = build.send(
                action.src, action.dst, size_bytes, after, blocks=np.array([action.blocks]), combine=action.combine
            )
            told[i] = own[i] = frozenset(op.tolist())
        elif takes_time:
            told[i] = frozenset(np.asarray(build.reduce(action.src, size_bytes, after)).tolist())
        else:
            told[i], left[i] = ids, sent
