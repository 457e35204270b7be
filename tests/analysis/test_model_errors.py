# SPDX-License-Identifier: GPL-2.0-only
"""Mistakes that simulators are known for, made on purpose: the checks of a run or the validation table see each.

That the table is green without them is :mod:`test_validation`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from astra_py import units
from astra_py.analysis.validation import validate
from astra_py.api import one_collective
from astra_py.collectives import bandwidth, hierarchical, registry
from astra_py.config import load_scenario
from astra_py.engines import resolve
from astra_py.engines.base import AckPolicy
from astra_py.errors import AstraPyError, CheckError
from astra_py.platforms.platform import Platform

Patch = pytest.MonkeyPatch

MACHINES = {"platform": {"kind": "zionex", "nodes": 2, "accelerators_per_node": 4}}


def table_turns_red(*cases: str) -> bool:
    """Whether a row of these cases fails, or a run of theirs its own checks."""
    try:
        return any(row.is_fatal for row in validate(cases))
    except CheckError:
        return True


def run_is_refused(kind: str, *overrides: str) -> bool:
    """Whether a run of a collective on two machines fails its checks."""
    try:
        one_collective(load_scenario(MACHINES, [f"collective.{kind}=hierarchical", *overrides]), kind, 1_000_000).run()
    except CheckError:
        return True
    return False


def change_transport(patch: Patch, **fields: Any) -> None:
    original = resolve.transport_model
    for place in ("astra_py.preparation", "astra_py.analysis.validation.engines"):
        patch.setattr(f"{place}.transport_model", lambda scenario: replace(original(scenario), **fields))


def test_gigabytes_for_gibibytes(monkeypatch: Patch) -> None:
    monkeypatch.setitem(units._SIZE_UNITS, "MiB", 10**6)
    assert table_turns_red("exact.units")


def test_no_headers(monkeypatch: Patch) -> None:
    change_transport(monkeypatch, header_bytes=0)
    assert table_turns_red("exact.message_1")
    assert table_turns_red("exact.all_reduce_ring")


def test_a_skipped_phase(monkeypatch: Patch) -> None:
    monkeypatch.setattr(hierarchical, "gather", lambda build, teams, algorithm: None)
    assert run_is_refused("all_reduce")


def test_a_level_counted_twice(monkeypatch: Patch) -> None:
    once = hierarchical.scatter

    def twice(*arguments: Any) -> None:
        once(*arguments)
        once(*arguments)

    monkeypatch.setattr(hierarchical, "scatter", twice)
    assert run_is_refused("all_reduce")


def test_the_last_chunk_lost(monkeypatch: Patch) -> None:
    all_of_them = registry.chunk_payloads
    monkeypatch.setattr(registry, "chunk_payloads", lambda *arguments: list(all_of_them(*arguments))[:-1])
    assert run_is_refused("all_reduce", "collective.chunks=4")
    assert run_is_refused("all_to_all", "collective.chunks=4")


def test_acknowledgements_that_cost_nothing(monkeypatch: Patch) -> None:
    change_transport(monkeypatch, ack_policy=AckPolicy.OUT_OF_BAND)
    assert table_turns_red("astra_ns3.all_reduce_ring_8_1MiB")


def test_whole_messages_stored_and_forwarded(monkeypatch: Patch) -> None:
    """Messages of up to 9,000 B, the largest packet, in one piece."""
    change_transport(monkeypatch, payload_bytes=9000)
    assert table_turns_red("exact.message_2")
    assert table_turns_red("exact.all_to_all_direct")


def test_a_doubled_latency(monkeypatch: Patch) -> None:
    arrays = Platform.arrays

    def slow(self: Platform) -> Any:
        once = arrays(self)
        return replace(once, link_delay_ps=2 * once.link_delay_ps)

    monkeypatch.setattr(Platform, "arrays", slow)
    assert table_turns_red("exact.message_1")
    assert table_turns_red("exact.all_to_all_direct")


@pytest.mark.parametrize("kind", ["all_reduce", "all_gather", "all_to_all", "broadcast"])
def test_a_wrong_bus_bandwidth(monkeypatch: Patch, kind: str) -> None:
    right: Callable[[int], Any] = bandwidth._FACTORS[kind]
    monkeypatch.setitem(bandwidth._FACTORS, kind, lambda ranks: right(ranks) * 2)
    assert table_turns_red("exact.busbw")


def test_self_traffic_that_is_sent(monkeypatch: Patch) -> None:
    """What stays with a rank is sent to the others, too: n parts to n - 1 peers."""

    def with_own_part(size_bytes: int, ranks: int) -> np.ndarray:
        return np.full((ranks, ranks), -(-size_bytes // (ranks - 1)), dtype=np.int64)

    monkeypatch.setattr(registry, "equal_matrix", with_own_part)
    assert table_turns_red("exact.all_to_all_direct")


def test_a_message_to_oneself_is_refused(monkeypatch: Patch) -> None:
    monkeypatch.setattr(registry, "_algorithms", deepcopy(registry._algorithms))

    @registry.collective("all_to_all", name="to_all_and_oneself")
    def to_all_and_oneself(build: Any, group: Any, matrix: Any) -> None:
        ranks = np.arange(group.size)
        for distance in range(group.size):
            build.send(ranks, (ranks + distance) % group.size, matrix[ranks, (ranks + distance) % group.size])

    scenario = load_scenario(MACHINES, ["collective.all_to_all=to_all_and_oneself"])
    with pytest.raises(AstraPyError):
        one_collective(scenario, "all_to_all", 1_000_000).run()
