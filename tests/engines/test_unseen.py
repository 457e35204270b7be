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


@pytest.mark.parametrize("engine", ["flow", "analytic"])
def test_of_tcp_the_sizes_of_segments_are_seen_and_its_hosts_are_not(engine: str) -> None:
    seen = ["transport.kind=tcp", "transport.tcp.mtu=1500B", "transport.tcp.timestamps=false"]
    assert unseen_keys(load_scenario({}, [f"engine={engine}", *seen])) == ()
    keys = ["transport.congestion_control=cubic", "transport.tcp.min_rto=1ms", "host.cores=2", "switch.buffer=1MB"]
    told = unseen_keys(load_scenario({}, [f"engine={engine}", *seen, *keys]))
    assert told == ("transport.congestion_control", "transport.tcp.min_rto", "host.cores", "switch.buffer")
    # the same in a file that is run over RoCE is put aside, and no key of the run
    both = {"transport": {"kind": "roce", "tcp": {"min_rto": "1ms"}}, "host": {"cores": 2}}
    assert unseen_keys(load_scenario(both, [f"engine={engine}"])) == ()


def test_the_packet_engine_sees_all() -> None:
    assert unseen_keys(load_scenario({}, CHANGES)) == ()


def test_flows_see_how_messages_use_queue_pairs() -> None:
    keys = ["transport.qps_per_peer=4", "transport.qp_policy=striped"]
    assert unseen_keys(load_scenario({}, ["engine=flow", *keys])) == ()
    assert unseen_keys(load_scenario({}, ["engine=analytic", *keys])) == ("transport.qp_policy",)


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_defaults_are_no_news(engine: str) -> None:
    assert unseen_keys(load_scenario({}, [f"engine={engine}"])) == ()


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize("loss", [0, 1e-6])
def test_links_lose_packets_alone(engine: str, loss: float) -> None:
    keys = [f"engine={engine}", "platform.ranks=4", f"platform.link_loss={loss}"]
    told = [note for note in one_collective(load_scenario({}, keys), "all_reduce", 1000).notes if "lose" in note]
    note = f"engine = {engine!r} has no packets to lose, and 4 links of the platform lose some"
    assert told == ([note] if engine != "packet" and loss else [])


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
@pytest.mark.parametrize("routing", ["spray", "least_loaded", "ecmp"])
def test_whole_messages_go_one_way(engine: str, routing: str) -> None:
    keys = [f"engine={engine}", "platform.kind=leaf_spine", "platform.ranks=8", f"platform.routing={routing}"]
    told = [note for note in one_collective(load_scenario({}, keys), "all_reduce", 1000).notes if "one way" in note]
    note = f"engine = 'analytic' sends a whole message one way, and platform.routing = {routing!r} many"
    assert told == ([note] if engine == "analytic" and routing != "ecmp" else [])
