# SPDX-License-Identifier: GPL-2.0-only
"""Every registered algorithm over many groups: data where it belongs, bytes as declared, and no two alike."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from astra_py.collectives import (
    EdgeOn,
    Group,
    SystemModel,
    Template,
    algorithm_names,
    build_template,
    check_dataflow,
    declared_level_bytes,
    declared_rank_bytes,
    lower,
)
from astra_py.collectives.registry import MATRIX_KINDS
from astra_py.collectives.views import data_views
from astra_py.errors import ConfigError
from astra_py.workloads import COLLECTIVE_KINDS, CollectiveCall, Trace, TraceBuilder
from collective_cases import CHOSEN_AT_ISSUE

GROUP_SIZES = [*range(2, 18), 24, 32, 33, 64]
SLOW_GROUP_SIZES = sorted({*range(2, 65), 128, 256} - set(GROUP_SIZES))
ALGORITHMS = [
    (kind, name)
    for kind in COLLECTIVE_KINDS
    for name in algorithm_names(kind)
    if kind != "sendrecv" and name not in CHOSEN_AT_ISSUE
]
every_algorithm = pytest.mark.parametrize(("kind", "algorithm"), ALGORITHMS)

#: Algorithms that look at machines; those that need as many members on each; and those for powers of two only.
BY_MACHINES = {"hierarchical", "pxn", "rail"}
EQUAL_MACHINES = {"rail"}
POWERS_OF_TWO = {"halving", "doubling"}

_ONE_EXCHANGE = "equal segments to everyone: which one shows in the data only"
_GIVEN_A_MATRIX = "the same algorithm, given an equal matrix"
#: Algorithms that send the same messages in the same order on 2 machines of 8, with the reason.
ALIKE = {
    ("all_to_all direct", "all_to_all_v direct"): _GIVEN_A_MATRIX,
    ("all_to_all ring", "all_to_all_v ring"): _GIVEN_A_MATRIX,
    ("all_to_all bruck", "all_to_all_v bruck"): _GIVEN_A_MATRIX,
    ("all_to_all hierarchical", "all_to_all_v hierarchical"): _GIVEN_A_MATRIX,
    ("all_to_all pxn", "all_to_all_v pxn"): _GIVEN_A_MATRIX,
    ("all_to_all direct", "reduce_scatter direct"): "both send segment d straight to rank d; the latter adds it up",
    ("all_to_all_v direct", "reduce_scatter direct"): "both send segment d straight to rank d; the latter adds it up",
    ("all_gather direct", "all_to_all direct"): _ONE_EXCHANGE,
    ("all_gather direct", "all_to_all_v direct"): _ONE_EXCHANGE,
    ("all_gather direct", "reduce_scatter direct"): _ONE_EXCHANGE,
    ("all_reduce hierarchical", "all_reduce themis"): "with one chunk there is nothing to choose: inside comes first",
    ("all_gather ring", "reduce_scatter ring"): "the same way round; the latter adds up what it passes on",
}


def payload_of(kind: str, ranks: int, size: int) -> int | NDArray[np.int64]:
    """``size`` bytes, none for a barrier; for all_to_all_v a matrix of up to that much an entry, a third of them 0."""
    if kind != "all_to_all_v":
        return 0 if kind == "barrier" else size
    random = np.random.default_rng(ranks)
    return random.integers(0, size + 1, (ranks, ranks)) * (random.random((ranks, ranks)) < 0.7)


def shapes_of(algorithm: str, ranks: int) -> list[NDArray[np.int32]]:
    """Machines of the members to try: equal and unequal ones; flat algorithms do not look at them."""
    if algorithm not in BY_MACHINES:
        return [np.arange(ranks, dtype=np.int32)]
    # a ring for each of many members of one machine is a million messages
    equal = [local for local in (1, 2, 4, 8, min(ranks, 16)) if ranks % local == 0]
    unequal = [] if algorithm in EQUAL_MACHINES else [3, 4, max(ranks - 1, 1)]
    return [np.arange(ranks, dtype=np.int32) // local for local in (*equal, *unequal)]


def is_allowed(algorithm: str, ranks: int) -> bool:
    return algorithm not in POWERS_OF_TWO or ranks & (ranks - 1) == 0


def systems_of(kind: str, algorithm: str) -> list[SystemModel]:
    if (kind, algorithm) == ("all_reduce", "hierarchical"):
        levels = [("direct", "ring", ()), ("ring", "direct", ()), ("direct", "halving_doubling", ())]
        levels += [("ring", "direct/ring", (2,)), ("direct", "ring/direct/halving_doubling", (3, 2))]
        return [SystemModel(all_reduce_inside=i, all_reduce_between=b, machines_per_group=g) for i, b, g in levels]
    if algorithm in ("ring", "ring_bidirectional", "double_binary_tree"):
        return [SystemModel(local_memory_bandwidth_bps=10**13), SystemModel(rings=3, piece_bytes=1000)]
    # a reduction for each message of a large direct exchange is more than the full check can follow in a test
    return [SystemModel(local_memory_bandwidth_bps=None if algorithm == "direct" else 10**13)]


def one_call(kind: str, algorithm: str, payload: int | NDArray[np.int64], group: tuple[int, ...]) -> Trace:
    build = TraceBuilder(max(group) + 1)
    what = {"matrix": payload} if kind == "all_to_all_v" else {"size_bytes": payload}
    build.collective(CollectiveCall(name="c", kind=kind, group=group, algorithm=algorithm, **what))  # type: ignore[arg-type]
    return build.build()


def check_all(kind: str, algorithm: str, payload: int | NDArray[np.int64], group: Group, system: SystemModel) -> None:
    """The data-flow check, and bytes per rank, inside and between machines, counted message by message."""
    ranks, machine = group.ranks, group.machines
    template = build_template(kind, algorithm, group, payload, system)
    check_dataflow(template, payload)
    trace = one_call(kind, algorithm, payload, ranks)
    rank_machine = np.full(trace.ranks, -1, dtype=np.int32)
    rank_machine[list(ranks)] = machine
    counted = np.zeros((4, trace.ranks), dtype=np.int64)
    for op in np.flatnonzero(template.is_send).tolist():
        src, dst, size = int(template.src[op]), int(template.dst[op]), int(template.size_bytes[op])
        assert size > 0 or kind == "barrier"
        first = 0 if machine[src] == machine[dst] else 2
        counted[first, ranks[src]] += size
        counted[first + 1, ranks[dst]] += size
    levels = declared_level_bytes(trace, rank_machine, system=system)
    declared = [levels.sent_inside, levels.received_inside, levels.sent_between, levels.received_between]
    assert [column.tolist() for column in declared] == counted.tolist()
    sent, received = declared_rank_bytes(trace, system=system, rank_machine=rank_machine)
    assert sent.tolist() == (counted[0] + counted[2]).tolist()
    assert received.tolist() == (counted[1] + counted[3]).tolist()


def check_sizes(kind: str, algorithm: str, ranks: int, sizes: tuple[int, ...]) -> None:
    if not is_allowed(algorithm, ranks):
        with pytest.raises(ConfigError, match=f"a power of two of ranks, not {ranks}; allowed for that many: ring"):
            build_template(kind, algorithm, ranks, 100)
        return
    for machine, system, size in product(shapes_of(algorithm, ranks), systems_of(kind, algorithm), sizes):
        check_all(kind, algorithm, payload_of(kind, ranks, size), Group(tuple(range(ranks)), machine), system)


@pytest.mark.parametrize("ranks", GROUP_SIZES)
@every_algorithm
def test_data_and_bytes(kind: str, algorithm: str, ranks: int) -> None:
    check_sizes(kind, algorithm, ranks, (0, 1, ranks - 1, ranks, 10_007) if ranks <= 8 else (10_007,))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", SLOW_GROUP_SIZES)
@every_algorithm
def test_data_and_bytes_of_any_size(kind: str, algorithm: str, ranks: int) -> None:
    check_sizes(kind, algorithm, ranks, (100_007,))


@st.composite
def groups(draw: st.DrawFn) -> Group:
    """Members of up to four machines, of up to four each, in any order; ranks with gaps."""
    members = [machine for machine in range(draw(st.integers(1, 4))) for _ in range(draw(st.integers(1, 4)))]
    shuffled = draw(st.permutations(members))
    ranks = draw(st.permutations(range(20)))[: len(members)]
    return Group(tuple(ranks), np.array(shuffled, dtype=np.int32))


@settings(deadline=None)
@given(
    which=st.sampled_from(ALGORITHMS),
    group=groups(),
    size=st.integers(0, 300),
    system=st.builds(
        SystemModel,
        local_memory_bandwidth_bps=st.sampled_from([None, 10**12]),
        notify_on=st.sampled_from([EdgeOn.DELIVERED, EdgeOn.ACKED]),
        in_flight=st.sampled_from([None, 1, 3]),
        chunks=st.integers(1, 4),
        endpoint_delay_ps=st.sampled_from([0, 10]),
        all_reduce_inside=st.sampled_from(["ring", "direct"]),
        all_reduce_between=st.sampled_from(["ring", "direct", "halving_doubling"]),
        machines_per_group=st.sampled_from([(), (3,)]),
        rings=st.integers(1, 3),
        piece_bytes=st.sampled_from([7, 100]),
    ),
)
def test_random_groups_sizes_and_systems(which: tuple[str, str], group: Group, size: int, system: SystemModel) -> None:
    algorithm, members = which[1], np.bincount(group.machines)
    is_named = algorithm in EQUAL_MACHINES and (members != members[0]).any() and group.size > 1
    if (group.size > 1 and not is_allowed(algorithm, group.size)) or is_named:
        with pytest.raises(ConfigError):
            build_template(*which, group, size, system)
        return
    check_all(*which, payload_of(which[0], group.size, size), group, system)


def test_unequal_machines_are_refused_by_name() -> None:
    group = Group(tuple(range(10)), np.array([7] * 4 + [3] * 6, dtype=np.int32))
    message = "all_reduce algorithm 'rail' needs equally many members of its group on each machine, not 4, 6"
    with pytest.raises(ConfigError, match=message):
        build_template("all_reduce", "rail", group, 100)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({"all_reduce_between": "ring/direct"}, "names 2 levels, and collective.machines_per_group makes 1"),
        ({"all_reduce_between": "rings"}, "collective.all_reduce_between = 'rings'; allowed: ring, direct"),
        ({"machines_per_group": (1,)}, "allowed are numbers above 1"),
        ({"rings": 0}, "collective.rings = 0"),
        ({"piece_bytes": 0}, "collective.tree_piece = 0"),
        ({"all_reduce_inside": "halving_doubling"}, "scatters among a power of two of members, not 3; allowed there"),
    ],
)
def test_levels_that_make_no_sense_are_refused(system: dict[str, Any], message: str) -> None:
    group = Group(tuple(range(6)), np.arange(6, dtype=np.int32) // 3)
    with pytest.raises(ConfigError, match=message):
        build_template("all_reduce", "hierarchical", group, 100, SystemModel(**system))


def messages(template: Template) -> list[tuple[int, ...]]:
    """Each message with its predecessors, as an engine sees it; of alternatives the first."""
    template = next(data_views(template))
    rows = []
    for op in np.flatnonzero(template.is_send).tolist():
        before = template.dep_op[template.dep_ptr[op] : template.dep_ptr[op + 1]].tolist()
        rows.append((template.src[op], template.dst[op], template.size_bytes[op], *before))
    return rows


def test_no_two_algorithms_send_the_same_messages() -> None:
    group, size = (tuple(range(16)), np.repeat(np.arange(2, dtype=np.int32), 8)), 16 * 1000
    found = {}
    for kind, algorithm in [*ALGORITHMS, ("all_reduce", "themis")]:
        payload = np.full((16, 16), size // 16) if kind == "all_to_all_v" else 0 if kind == "barrier" else size
        found[f"{kind} {algorithm}"] = messages(build_template(kind, algorithm, Group(*group), payload))
    alike = {tuple(sorted(pair)) for pair in combinations(found, 2) if found[pair[0]] == found[pair[1]]}
    assert alike == set(ALIKE)


def test_levels_of_an_all_reduce_differ() -> None:
    group = (tuple(range(16)), np.repeat(np.arange(4, dtype=np.int32), 4))
    systems = [
        SystemModel(all_reduce_inside=inside, all_reduce_between=between)
        for inside, between in product(("ring", "direct"), repeat=2)
    ]
    built = [messages(build_template("all_reduce", "hierarchical", Group(*group), 1600, system)) for system in systems]
    assert all(one != other for one, other in combinations(built, 2))


def test_figures_of_two_machines_of_eight() -> None:
    """32 MB: 28 MB scattered and 28 MB gathered inside, 4 MB between machines, of each rank."""
    group = Group(tuple(range(16)), np.repeat(np.arange(2, dtype=np.int32), 8))
    template = build_template("all_reduce", "hierarchical", group, 32 * 10**6)
    assert template.phase_names == ("reduce_scatter inside", "all_reduce between", "all_gather inside")
    for phase, size in enumerate((28_000_000, 4_000_000, 28_000_000)):
        is_part = template.is_send & (template.phase == phase)
        assert np.bincount(template.src[is_part], weights=template.size_bytes[is_part]).tolist() == [size] * 16
    template = build_template("all_to_all", "hierarchical", group, 32 * 10**6)
    assert template.phase_names == ("all_to_all inside", "all_to_all between")
    for phase, (size, count) in enumerate(((28_000_000, 7), (16_000_000, 1))):
        is_part = template.is_send & (template.phase == phase)
        assert np.bincount(template.src[is_part], weights=template.size_bytes[is_part]).tolist() == [size] * 16
        assert np.bincount(template.src[is_part]).tolist() == [count] * 16


def test_templates_are_shared_by_groups_of_the_same_machines() -> None:
    build = TraceBuilder(8)
    for group in ((0, 1, 4, 5), (2, 3, 6, 7), (0, 4, 1, 5), (0, 1, 2, 3)):
        build.collective(CollectiveCall(name="r", kind="all_reduce", group=group, size_bytes=800))
    trace, rank_machine = build.build(), np.repeat(np.arange(2, dtype=np.int32), 4)
    hierarchical = lower(trace, {"all_reduce": "hierarchical"}, rank_machine=rank_machine)
    assert hierarchical.instance_template.tolist() == [0, 0, 1, 2]
    assert lower(trace, rank_machine=rank_machine).instance_template.tolist() == [0] * 4


def test_a_large_group_is_built_without_a_loop_over_messages() -> None:
    group = Group(tuple(range(1024)), np.repeat(np.arange(128, dtype=np.int32), 8))
    template = build_template("all_reduce", "hierarchical", group, 2**30)
    assert template.is_send.sum() == 1024 * (7 + 2 * 127 + 7)
    assert len(template) == template.is_send.sum() + 2 * 1024


def test_matrix_kinds_are_those_with_a_matrix() -> None:
    assert {kind for kind, _ in ALGORITHMS} >= set(MATRIX_KINDS)
