# SPDX-License-Identifier: GPL-2.0-only
"""The parameter table: complete, and true to the models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from astra_py.config import Parameter, load_scenario, parameter_table

every_parameter = pytest.mark.parametrize("row", parameter_table(), ids=lambda row: row.key)


def key_paths(tree: dict[str, Any], table: str = "") -> Iterator[str]:
    """Key path of each value in a tree of tables; ns-3's attributes are one value."""
    for key, value in tree.items():
        path = f"{table}{key}"
        if isinstance(value, dict) and path != "ns3.defaults":
            yield from key_paths(value, f"{path}.")
        else:
            yield path


def test_every_key_of_a_resolved_scenario_is_a_parameter() -> None:
    controls = ("dcqcn", "hpcc", "timely", "swift", "dctcp")
    kinds = ("zion", "ring", "torus", "fat_tree", "dgx_h100")
    also = [
        "platform.routing=hook",
        "system.max_active_collectives=2",
        "collective.all_reduce=hierarchical",
        "collective.chunks=2",
        "transport.qps_per_peer=2",
        "switch.lossless=[0]",
        "switch.scheduling=dwrr",
        "switch.forwarding=cut_through",
        "pcap.ports=all",
        "pcap.folder=captures",
    ]
    scenarios = [load_scenario({}, [f"platform.kind={kind}", *also]) for kind in kinds]
    scenarios += [load_scenario({}, [f"transport.congestion_control={control}"]) for control in controls]
    scenarios.append(load_scenario({}, also[1:]))  # with the hash that a hook is in place of
    tcp = ["transport.kind=tcp", "transport.tcp.sockets_per_peer=2", "host.preset=kernel_tcp_tso_gro"]
    scenarios.append(load_scenario({}, tcp))
    background = ["background.NAME.kind=incast", "background.NAME.kind=poisson background.NAME.stop=1ms"]
    scenarios += [load_scenario({}, given.split()) for given in background]
    scenarios.append(load_scenario({"platform": {"kind": "file", "file": __file__}}))
    scenarios.append(load_scenario({"background": {"NAME": {"kind": "file", "file": __file__}}}))
    scenarios.append(load_scenario({"jobs": {"NAME": {"workload": {"file": __file__}}}}))
    keys = {key for scenario in scenarios for key in key_paths(scenario.resolved())}
    keys = {key for key in keys if not key.startswith("jobs.NAME.workload.")}
    listed = {row.key for row in parameter_table() if not row.key.startswith("workload.")}
    assert keys == listed


def test_keys_are_there_once() -> None:
    keys = [row.key for row in parameter_table()]
    assert len(keys) == len(set(keys))


@every_parameter
def test_a_parameter_says_what_it_is(row: Parameter) -> None:
    assert row.description.endswith((".", "."))
    assert row.allowed
    if row.type in ("size", "rate", "time"):
        assert row.unit == {"size": "B", "rate": "bit/s", "time": "ps"}[row.type]
    if row.type in ("size", "rate", "time", "integer", "number"):
        assert row.source, "a figure has a source, or is assumed"


@every_parameter
def test_a_default_is_what_one_would_write(row: Parameter) -> None:
    table, _, key = row.key.rpartition(".")
    if row.only or table == "workload" or ".NAME" in table:
        return
    scenario = load_scenario({table: {key: row.default}} if table else {key: row.default})
    assert scenario == load_scenario({})


@pytest.mark.parametrize("row", [row for row in parameter_table() if ".NAME" in row.key], ids=lambda row: row.key)
def test_a_default_of_a_named_table_is_what_one_would_write(row: Parameter) -> None:
    table, _, key = row.key.split(".")
    if row.only or row.default is None:
        return
    least = {"kind": "incast"} if table == "background" else {"workload": {"file": __file__}}
    assert load_scenario({table: {"x": {**least, key: row.default}}}) == load_scenario({table: {"x": least}})


def test_attributes_of_ns3_stand_for_one_parameter() -> None:
    names = [name for row in parameter_table() for name in row.ns3]
    assert len(names) == len(set(names))
    assert {"ns3::RoceNic::Payload", "ns3::RoceNic::AckEvery", "ns3::Fabric::TimeRounding"} <= set(names)
