# SPDX-License-Identifier: GPL-2.0-only
"""What an engine without packets does not see is said among the run's notes."""

from __future__ import annotations

import pytest

from astra_py.api import Run, one_collective
from astra_py.config import load_scenario
from astra_py.engines.unseen import unseen_keys

CHANGES = ["transport.window=bdp", "transport.payload=1024B", "switch.scheduling=dwrr", "transport.dcqcn.gain=0.01"]


@pytest.mark.parametrize("engine", ["flow", "analytic"])
def test_keys_of_packets_are_named(engine: str) -> None:
    scenario = load_scenario({}, [f"engine={engine}", *CHANGES])
    assert unseen_keys(scenario) == ("transport.window", "transport.dcqcn", "switch.scheduling")
    notes = one_collective(scenario, "all_reduce", 1000).run().manifest["notes"]
    told = "transport.window, transport.dcqcn, switch.scheduling"
    assert f"engine = {engine!r} has no packets, and its result does not depend on {told}" in notes


@pytest.mark.parametrize("mode", ["astra_sim", "astra_sim_congestion", "torchrec"])
def test_other_peoples_models_have_nothing_of_packets(mode: str) -> None:
    names = ("transport.payload", "transport.header_size", "transport.qps_per_peer")
    keys = ["engine=analytic", *(f"{name}={value}" for name, value in zip(names, ("1KiB", "100B", 4), strict=True))]
    keys += ["workload.kind=dlrm", "workload.preset=dlrm_s"]
    assert set(unseen_keys(load_scenario({}, [*keys, f"analytic.mode={mode}"]))) == set(names)
    assert unseen_keys(load_scenario({}, keys)) == ()


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_priorities_are_seen_or_it_is_said_that_they_are_not(engine: str) -> None:
    """Flows of priority 3 beside those of 0 go first in packets and flows; whole messages have none."""
    incast = {"kind": "incast", "size": "100kB", "senders": 3}
    jobs = {"background": {"low": incast, "high": {**incast, "priority": 3}}, "platform": {"ranks": 4}}
    scenario = load_scenario(jobs, [f"engine={engine}"])
    told = [note for note in Run(scenario).run().manifest["notes"] if "priorities" in note]
    note = "engine = 'analytic' has whole messages without priorities; those of this run are 0, 3"
    assert told == ([note] if engine == "analytic" else [])


def test_the_packet_engine_sees_all() -> None:
    assert unseen_keys(load_scenario({}, CHANGES)) == ()


def test_flows_see_how_messages_use_queue_pairs() -> None:
    keys = ["transport.qps_per_peer=4", "transport.qp_policy=striped"]
    assert unseen_keys(load_scenario({}, ["engine=flow", *keys])) == ()
    assert unseen_keys(load_scenario({}, ["engine=analytic", *keys])) == ("transport.qp_policy",)


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_defaults_are_no_news(engine: str) -> None:
    assert unseen_keys(load_scenario({}, [f"engine={engine}"])) == ()
