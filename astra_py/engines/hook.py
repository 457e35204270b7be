# SPDX-License-Identifier: GPL-2.0-only
"""Ways that a user's function chooses, ``platform.routing = "hook"``: once a flow, before the run."""

from __future__ import annotations

import inspect
import operator
import runpy
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError, did_you_mean
from astra_py.platforms.routing import ChosenWays, Routing, RoutingKind

if TYPE_CHECKING:
    from astra_py.collectives.schedule import Schedule
    from astra_py.platforms.platform import Platform

__all__ = ["RoutingHook", "choose_ways", "flows_of", "load_hook", "source_of"]

#: ``f(src, dst, queue_pair, ways)``: names of both accelerators, number of the queue pair, and each way as the names of
#: its nodes, the accelerators included; returns the index of one of the ways.
RoutingHook = Callable[[str, str, int, Sequence[tuple[str, ...]]], int]

#: Ways of a pair of ranks that a hook is shown at most; more are a mesh, where a list is no way to choose.
_MOST_WAYS = 4096


def load_hook(text: str) -> RoutingHook:
    """Return the function that ``platform.routing_hook`` names, such as ``"routes.py:choose"``.

    Raises
    ------
    ConfigError
        the file cannot be read or run, or has no such function.
    """
    path, _, name = text.rpartition(":")
    try:
        found = runpy.run_path(path)
    except OSError as error:
        raise ConfigError(f"platform.routing_hook: {path!r} cannot be read: {error.strerror}") from error
    except Exception as error:
        raise ConfigError(f"platform.routing_hook: {path!r} raises {type(error).__name__}: {error}") from error
    hook = found.get(name)
    if not callable(hook):
        functions = [known for known, value in found.items() if callable(value) and not known.startswith("_")]
        hint = did_you_mean(name, functions)
        raise ConfigError(
            f"platform.routing_hook: {path!r} has no function {name!r}{hint}; allowed: {', '.join(functions) or 'none'}"
        )
    return hook  # type: ignore[no-any-return]


def source_of(hook: RoutingHook) -> str:
    """The text of a function, or its name where there is none; what a digest has of it."""
    try:
        return inspect.getsource(hook)
    except (OSError, TypeError):
        return repr(getattr(hook, "__qualname__", type(hook).__qualname__))


def flows_of(schedule: Schedule) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Pairs of ranks that a schedule sends between, those of the acknowledgements too: i32[k] each, in order."""
    pairs = [np.zeros((0, 2), np.int64)]
    distinct = np.unique(np.stack([schedule.instance_template, schedule.instance_group], axis=1), axis=0)
    for template, group in distinct.tolist():
        shape, ranks = schedule.templates[template], schedule.group(group)
        sends = shape.is_send
        there = np.stack([ranks[shape.src[sends]], ranks[shape.dst[sends]]], axis=1)
        pairs.append(np.unique(np.concatenate([there, there[:, ::-1]]), axis=0))
    src, dst = np.unique(np.concatenate(pairs), axis=0).astype(np.int32).T
    return np.ascontiguousarray(src), np.ascontiguousarray(dst)


def choose_ways(
    platform: Platform, hook: RoutingHook, src: NDArray[np.int32], dst: NDArray[np.int32], queue_pairs: int
) -> Platform:
    """Ask ``hook`` for the way of each flow that has more than one, and return the platform with them.

    Parameters
    ----------
    platform : the platform.
    hook : the user's function.
    src, dst : i32[k], pairs of ranks.
    queue_pairs : of each pair.

    Raises
    ------
    ConfigError
        the hook raised, or returned no index of a way; or a pair of ranks has more ways than can be listed, or none.
    """
    from astra_py._ns3_ext import RouteTable

    arrays = platform.arrays()
    table = RouteTable(arrays, 0)
    receiver = np.stack([arrays.link_b, arrays.link_a], axis=1).ravel()
    rows: list[tuple[int, int, int]] = []
    chosen: list[NDArray[np.int32]] = []
    for a, b in zip(src.tolist(), dst.tolist(), strict=True):
        if a == b:
            continue
        ptr, channel = table.ways(a, b, _MOST_WAYS)
        ways = [channel[low:high] for low, high in pairwise(ptr)]
        start, end = (arrays.node_names[platform.rank_nodes[rank]] for rank in (a, b))
        named = [(start, *(arrays.node_names[node] for node in receiver[way])) for way in ways]
        for queue_pair in range(queue_pairs):
            rows.append((a, b, queue_pair))
            chosen.append(ways[_ask(hook, start, end, queue_pair, named) if len(ways) > 1 else 0])
    columns = np.array(rows, np.int32).reshape(-1, 3).T
    ways_of_flows = ChosenWays(
        src=np.ascontiguousarray(columns[0]),
        dst=np.ascontiguousarray(columns[1]),
        queue_pair=np.ascontiguousarray(columns[2]),
        ptr=np.cumsum([0, *map(len, chosen)], dtype=np.int64),
        channel=np.concatenate([np.zeros(0, np.int32), *chosen]),
    )
    routing = Routing(kind=RoutingKind.HOOK, nic_policy=arrays.routing.nic_policy, chosen=ways_of_flows)
    return platform.with_routing(routing)


def _ask(hook: RoutingHook, src: str, dst: str, queue_pair: int, ways: list[tuple[str, ...]]) -> int:
    flow = f"platform.routing_hook: for queue pair {queue_pair} from {src} to {dst} the function"
    try:
        answer = hook(src, dst, queue_pair, ways)
    except Exception as error:
        raise ConfigError(f"{flow} raised {type(error).__name__}: {error}") from error
    try:
        index = operator.index(answer)
    except TypeError:
        index = -1
    if isinstance(answer, bool) or not 0 <= index < len(ways):
        raise ConfigError(f"{flow} returned {answer!r}; allowed: an index of one of the ways, 0 to {len(ways) - 1}")
    return index
