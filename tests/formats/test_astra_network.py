# SPDX-License-Identifier: GPL-2.0-only
"""ASTRA-sim's networks and system settings: shapes, units, ids, what acts and what is named, refusals, damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.routes import route_paths
from astra_py.errors import TopologyError, WorkloadError
from astra_py.formats import ASTRA_LOGICAL_DIMS, ASTRA_NETWORK, ASTRA_SYSTEM, Options, read, recognise
from astra_py.platforms import Platform, build_platform
from formats.mutations import FEW, MANY, survives

NETWORK = """\
# two dimensions
topology: [ Switch, Ring ]   # Ring, Switch, FullyConnected
npus_count: [4, 3]
bandwidth:
  - 400
  - 50.5  # GB/s
latency: [ 936.25, 1000 ]
"""
SYSTEM = {
    "scheduling-policy": "LIFO",
    "endpoint-delay": 10,
    "active-chunks-per-dimension": 2,
    "preferred-dataset-splits": 4,
    "all-reduce-implementation": ["ring", "direct"],
    "all-gather-implementation": ["ring", "ring"],
    "reduce-scatter-implementation": ["ring", "ring"],
    "all-to-all-implementation": ["direct", "direct"],
    "collective-optimization": "localBWAware",
    "local-mem-bw": 1600.5,
    "boost-mode": 0,
    "roofline-enabled": 1,
}


def _file(folder: Path, text: str, name: str = "network.yml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def _system(folder: Path, **changes: object) -> Path:
    return _file(folder, json.dumps(SYSTEM | changes, indent=2), "system.json")


def _platform(path: Path) -> Platform:
    platform: Platform = read(path).content()
    return platform


def _hops(platform: Platform, src: int, dst: int) -> int:
    ptr, _ = route_paths(platform, 1, [src], [dst], [0])
    return int(ptr[1])


def test_units_and_shapes(tmp_path: Path) -> None:
    path = _file(tmp_path, NETWORK)
    assert recognise(path) is ASTRA_NETWORK
    platform = _platform(path)
    arrays = platform.arrays()
    assert platform.ranks == 12
    classes = [arrays.class_names[kind] for kind in arrays.link_class]
    # three switches of four ranks, four rings of three
    assert (classes.count("dim0"), classes.count("dim1")) == (12, 12)
    assert set(arrays.link_rate_bps[:12]) == {400 * 8 * 2**30}
    assert set(arrays.link_rate_bps[12:]) == {int(50.5 * 8 * 2**30)}
    assert set(arrays.link_delay_ps.tolist()) == {936_250, 1_000_000}
    assert not arrays.node_latency_ps.any()
    assert arrays.rank_machine.tolist() == [rank // 4 for rank in range(12)]


def test_ways_are_as_long_as_the_format_says(tmp_path: Path) -> None:
    platform = _platform(_file(tmp_path, NETWORK))
    assert _hops(platform, 0, 3) == 2  # through the switch
    assert _hops(platform, 0, 4) == _hops(platform, 0, 8) == 1  # either way round the ring
    assert _hops(platform, 0, 5) == 3


def test_a_ring_takes_the_shorter_way_and_a_fully_connected_one_hop(tmp_path: Path) -> None:
    ring = "topology: [Ring]\nnpus_count: [7]\nbandwidth: [1]\nlatency: [1]\n"
    platform = _platform(_file(tmp_path, ring))
    assert [_hops(platform, 0, rank) for rank in range(1, 7)] == [1, 2, 3, 3, 2, 1]
    full = _platform(_file(tmp_path, ring.replace("Ring", "FullyConnected")))
    assert full.graph.number_of_edges() == 21
    assert {_hops(full, 2, rank) for rank in range(7) if rank != 2} == {1}


@settings(max_examples=25, deadline=None)
@given(
    shapes=st.lists(
        st.tuples(st.sampled_from(["Ring", "FullyConnected", "Switch"]), st.integers(1, 4)), min_size=1, max_size=3
    )
)
def test_every_network_of_these_shapes_is_built(
    shapes: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    ones = [1] * len(shapes)
    names, sizes = [name for name, _ in shapes], [size for _, size in shapes]
    text = f"topology: {names}\nnpus_count: {sizes}\nbandwidth: {ones}\nlatency: {ones}\n".replace("'", "")
    platform = _platform(_file(tmp_path_factory.mktemp("network"), text))
    hops = {"Ring": lambda a, b, n: min((a - b) % n, (b - a) % n), "FullyConnected": lambda a, b, n: int(a != b)}
    hops["Switch"] = lambda a, b, n: 2 * int(a != b)
    for dst in range(1, platform.ranks):
        expected, rest = 0, dst
        for name, size in shapes:
            expected += hops[name](0, rest % size, size)
            rest //= size
        assert _hops(platform, 0, dst) == expected


BAD = [
    (
        "npus_count: [4, 3]",
        "npus_count: [4]",
        r"dimensions do not agree: 2 of topology, 1 of npus_count, 2 of bandwidth",
    ),
    ("npus_count", "npu_count", r"network\.yml: 'npus_count' is missing; did you mean 'npu_count'\?"),
    ("Switch, Ring ]", "Switch, Rings ]", r"line 2: unknown topology 'Rings'; did you mean 'Ring'\?; allowed: Ring, "),
    ("[4, 3]", "[4, 0]", r"line 3: npus_count is '0'; allowed: a whole number from 1 to 1048576"),
    ("[4, 3]", "[40000, 3000]", r"npus_count makes 120000000 ranks; allowed: at most 1048576"),
    ("- 400", "- fast", r"line 5: bandwidth in GB/s is 'fast'"),
    ("- 400", "- 0", r"line 5: bandwidth is 0 GB/s; allowed: above 0"),
    ("936.25", "936.2512", r"line 7: latency is 936.2512 ns; allowed: whole picoseconds"),
    ("[ 936.25", "[ [936.25]", r"line 7: 'latency' has a table or a list in it"),
    ("latency: [ 936.25, 1000 ]", "latency: [ 936.25", r"network\.yml, line 8: is no YAML"),
    ("topology: [", "topology: &a [", r"line 2: '&a' is not expected here"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in NETWORK
    path = _file(tmp_path, NETWORK.replace(old, new, 1))
    with pytest.raises(TopologyError, match=message):
        read(path, "astra_network")


def test_ignored_keys_are_named(tmp_path: Path) -> None:
    document = read(_file(tmp_path, NETWORK + "link_cost: [1, 2]\n"))
    assert document.ignored == ("key 'link_cost'",)


def test_system_settings_become_keys(tmp_path: Path) -> None:
    path = _system(tmp_path)
    assert recognise(path) is ASTRA_SYSTEM
    platform = {"kind": "file", "file": str(_file(tmp_path, NETWORK))}
    scenario = load_scenario({"platform": platform, "system": {"file": str(path)}})
    collective, system = scenario.collective, scenario.system
    assert (collective.chunks, collective.active_chunks, system.endpoint_delay) == (4, 2, 10_000)
    assert system.local_memory_bandwidth == 8 * 1_600_500_000_000
    assert (collective.all_reduce, collective.all_reduce_inside, collective.all_reduce_between) == (
        "hierarchical",
        "ring",
        "direct",
    )
    assert (collective.all_gather, collective.all_to_all) == ("ring", "direct")
    assert load_scenario(scenario.resolved()) == scenario
    over = load_scenario(
        {"platform": platform, "system": {"file": str(path), "endpoint_delay": "0ns"}, "collective": {"chunks": 1}}
    )
    assert (over.system.endpoint_delay, over.collective.chunks, over.collective.active_chunks) == (0, 1, 1)


def test_the_order_of_collectives_acts_where_they_are_limited(tmp_path: Path) -> None:
    system = {"file": str(_system(tmp_path))}
    assert read(system["file"]).ignored == ("key 'scheduling-policy'", "key 'boost-mode'", "key 'roofline-enabled'")
    limited = load_scenario({"system": {**system, "max_active_collectives": 1}})
    assert limited.system.scheduling == "lifo"


def test_lists_agree_with_the_networks_dimensions(tmp_path: Path) -> None:
    path = _system(tmp_path, **{"all-gather-implementation": ["ring", "ring", "ring"]})
    with pytest.raises(WorkloadError, match=r"line 10: all-gather-implementation: 3 names for 2 dimensions \(4x3\)"):
        read(path, options=Options(dims=(4, 3)))


def test_three_dimensions_make_two_levels_between_machines(tmp_path: Path) -> None:
    lists = {key: ["ring", "direct", "ring"] for key in ("all-reduce-implementation",)}
    keys = {key: value for key, value in SYSTEM.items() if not key.endswith("-implementation")} | lists
    path = _file(tmp_path, json.dumps(keys), "system.json")
    collective = read(path, options=Options(dims=(8, 4, 2))).content["collective"]
    assert collective["all_reduce_between"] == "direct/ring"
    assert collective["machines_per_group"] == "4"
    with pytest.raises(WorkloadError, match="3 dimensions need"):
        read(path)


BAD_SYSTEMS = [
    ({"all-reduce-implementation": ["rings"]}, r"line 6: .*unknown algorithm 'rings'; did you mean 'ring'\?"),
    ({"all-to-all-implementation": ["halvingDoubling"]}, r"unknown algorithm 'halvingDoubling'; allowed: ring, direct"),
    ({"all-gather-implementation": ["ring", "direct"]}, r"all-gather-implementation: ring, direct differ by dimension"),
    (
        {"collective-optimization": "baseline"},
        r"collective-optimization: an all-reduce over several dimensions with 'bas",
    ),
    ({"scheduling-policy": "RANDOM"}, r"line 2: scheduling-policy: 'RANDOM' is unknown; allowed: 'LIFO' or 'FIFO'"),
    ({"endpoint-delay": -1}, r"line 3: endpoint-delay: is out of range"),
    ({"endpoint-delay": "1"}, r"line 3: endpoint-delay: '1' is no number"),
    ({"preferred-dataset-splits": 0}, r"line 5: preferred-dataset-splits: 0 is out of range"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_SYSTEMS)
def test_wrong_system_settings_are_said_with_their_line(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(WorkloadError, match=message):
        read(_system(tmp_path, **changes), "astra_system")


def test_a_key_that_is_nearly_one_that_acts_is_warned_of(tmp_path: Path) -> None:
    path = _system(tmp_path, **{"endpoint-delays": 5})
    assert "key 'endpoint-delays' is ignored; did you mean 'endpoint-delay'?" in "".join(read(path).warnings)
    with pytest.raises(WorkloadError, match="strict: an error"):
        read(path, options=Options(is_strict=True))


def test_logical_dims(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"logical-dims": ["4", "3"]}', "logical.json")
    assert recognise(path) is ASTRA_LOGICAL_DIMS
    assert read(path).content == {"platform": {"dims": "4x3"}}
    flat = _file(tmp_path, "topology: [Switch]\nnpus_count: [12]\nbandwidth: [1]\nlatency: [1]\n")
    platform = {"kind": "file", "file": str(flat)}
    machines = build_platform(load_scenario({"platform": {**platform, "dims": "4x3"}}).platform).arrays().rank_machine
    assert machines.tolist() == [rank // 4 for rank in range(12)]
    with pytest.raises(TopologyError, match=r"has 12 ranks, and platform.dims = '4x4' makes 16"):
        build_platform(load_scenario({"platform": {**platform, "dims": "4x4"}}).platform)


def test_chunks_that_are_active_together_end_no_later(tmp_path: Path) -> None:
    system = _system(tmp_path, **{key: ["ring"] for key in SYSTEM if key.endswith("implementation")})
    base = {"platform": {"ranks": 4}, "system": {"file": str(system)}, "transport": {"congestion_control": "none"}}
    ends = {}
    for active in (1, 2, 4):
        scenario = load_scenario({**base, "collective": {"active_chunks": active}})
        ends[active] = one_collective(scenario, "all_reduce", 2**18).run().collectives.time_us.iloc[0]
    assert ends[4] <= ends[2] < ends[1]


def _damaged(tmp_path: Path, count: int) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    dims = _file(tmp_path, '{"logical-dims": ["4", "3"], "x": [1, {}]}', "logical.json")
    for format, path in (
        (ASTRA_NETWORK, _file(tmp_path, NETWORK)),
        (ASTRA_SYSTEM, _system(tmp_path)),
        (ASTRA_LOGICAL_DIMS, dims),
    ):
        survives(format, [path], folder, count)


def test_they_survive_damage(tmp_path: Path) -> None:
    _damaged(tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_they_survive_much_damage(tmp_path: Path) -> None:
    _damaged(tmp_path, MANY)
