# SPDX-License-Identifier: GPL-2.0-only
"""Alternatives picked at issue: which one, what becomes of the others, and Themis, which is made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from astra_py.collectives import ScheduleBuilder, SystemModel, build_template, check_dataflow, collective
from astra_py.collectives import registry as algorithms
from astra_py.collectives.closed_forms import pair_totals
from astra_py.collectives.level_forms import level_form
from astra_py.collectives.partition import chunk_payloads
from astra_py.collectives.registry import Group
from astra_py.collectives.system import LEVEL_ALGORITHMS, LevelFigures
from astra_py.collectives.views import data_views
from astra_py.engines.base import EngineColumns, ExitReason
from astra_py.errors import CheckError, ConfigError
from astra_py.workloads import TraceBuilder
from shared_jobs import ENGINES, call_of, message_column, run_trace, together

MACHINES = (
    "platform.kind=zionex",
    "platform.nodes=4",
    "platform.accelerators_per_node=4",
    "platform.ranks_per_leaf=16",
)
EVEN = SystemModel(chunks=8, inside=LevelFigures(10**11, 0), between=LevelFigures(10**11, 0))


@pytest.fixture(autouse=True)
def two_ways() -> Iterator[None]:
    """A message that rank 0 sends or rank 1 forwards for it, by which of levels 0 and 1 has less to do."""

    @collective("sendrecv", name="two_ways")
    def two_ways(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
        build.begin_alternative([(0, 1000)])
        build.send(0, 1, size_bytes, phase="first", blocks=0)
        build.begin_alternative([(1, 1000)])
        build.send(0, 1, size_bytes, phase="second", blocks=0)

    yield
    del algorithms._algorithms["sendrecv"]._known["two_ways"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_alternative_of_the_least_load_is_picked(engine: str) -> None:
    """Of five at once every other one goes the other way; what is over is no load any more."""
    calls = [call_of("sendrecv", 1000, (0, 1), "two_ways") for _ in range(5)]
    schedule, columns = run_trace(engine, together(2, calls))
    assert columns.exit_reason == ExitReason.COMPLETED
    assert columns.choice_picks.tolist() == [0, 1, 0, 1, 0]
    assert message_column(schedule, columns, "phase").tolist() == [0, 1, 0, 1, 0]
    assert len(columns.message_op) == schedule.message_count == 5


@pytest.mark.parametrize("engine", ENGINES)
def test_loads_are_those_of_the_ranks_concerned(engine: str) -> None:
    calls = [call_of("sendrecv", 1000, (2 * i, 2 * i + 1), "two_ways") for i in range(3)]
    _, columns = run_trace(engine, together(6, calls))
    assert columns.choice_picks.tolist() == [0, 0, 0]


def test_what_is_over_is_no_load() -> None:
    build = TraceBuilder(2)
    done = build.collective(call_of("sendrecv", 1000, (0, 1), "two_ways"))
    build.collective(
        call_of("sendrecv", 1000, (0, 1), "two_ways"), after=build.compute([0, 1], 10**9, name="w", after=done)
    )
    _, columns = run_trace("packet", build.build())
    assert columns.choice_picks.tolist() == [0, 0]


def themis_job(engine: str, algorithm: str, system: SystemModel, *overrides: str) -> tuple[np.ndarray, EngineColumns]:
    trace = together(16, [call_of("all_reduce", 16 * 50_000 * system.chunks, range(16), algorithm)])
    _, columns = run_trace(engine, trace, *MACHINES, *overrides, system=system)
    assert columns.exit_reason == ExitReason.COMPLETED
    return columns.choice_picks, columns


@pytest.mark.parametrize("engine", ENGINES)
def test_themis_with_one_chunk_is_the_hierarchical_all_reduce(engine: str) -> None:
    picks, themis = themis_job(engine, "themis", SystemModel())
    _, fixed = themis_job(engine, "hierarchical", SystemModel())
    assert picks.tolist() == [0]
    for name in ("src", "dst", "size_bytes", "posted_ps", "delivered_ps"):
        assert np.array_equal(getattr(themis, f"message_{name}"), getattr(fixed, f"message_{name}")), name


@pytest.mark.parametrize("engine", ENGINES)
def test_even_levels_share_the_chunks(engine: str) -> None:
    picks, _ = themis_job(engine, "themis", EVEN, "platform.scale_up.rate=100Gbps")
    assert picks.tolist() == [0, 1] * 4


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fast_level_comes_first_in_all_chunks(engine: str) -> None:
    system = SystemModel(chunks=8, inside=LevelFigures(24 * 10**11, 0), between=LevelFigures(10**11, 0))
    picks, _ = themis_job(engine, "themis", system)
    assert picks.tolist() == [0] * 8


def test_levels_have_equal_bytes_to_carry() -> None:
    """Of a fixed order one level carries four times what the other one does."""
    system = EVEN
    carried = {}
    for algorithm in ("hierarchical", "themis"):
        _, columns = themis_job("packet", algorithm, system, "platform.scale_up.rate=100Gbps")
        is_inside = columns.message_src // 4 == columns.message_dst // 4
        size = columns.message_size_bytes
        carried[algorithm] = size[is_inside].sum() / size[~is_inside].sum()
    assert carried == {"hierarchical": 4.0, "themis": 1.0}


def test_themis_uses_both_levels_to_the_full() -> None:
    """Of even levels each carries half of 2 x 15/16 of the buffer, where a fixed order has 2 x 3/4 on one of them."""
    times = {
        algorithm: themis_job("packet", algorithm, EVEN, "platform.scale_up.rate=100Gbps")[1].op_end_ps.max()
        for algorithm in ("hierarchical", "themis")
    }
    on_line_ps = 16 * 50_000 * EVEN.chunks * 8 * 10 / 0.94
    assert times["themis"] == pytest.approx(15 / 16 * on_line_ps, rel=0.03)
    assert times["hierarchical"] == pytest.approx(2 * 3 / 4 * on_line_ps, rel=0.03)


@pytest.mark.parametrize("size_bytes", [16 * 24, 16 * 24 + 5])
def test_every_alternative_is_followed(size_bytes: int) -> None:
    group = Group(tuple(range(16)), np.repeat(np.arange(4, dtype=np.int32), 4))
    template = build_template("all_reduce", "themis", group, size_bytes, SystemModel(chunks=3))
    assert template.choices == (3 if size_bytes % 16 == 0 else 2), "a chunk of uneven parts has no choice"
    check_dataflow(template, size_bytes)
    assert len([*data_views(template)]) == 2
    broken = template.block.copy()
    second = np.repeat(template.alternative, np.diff(template.block_ptr)) == 1
    broken[np.flatnonzero(second)[0]] ^= 1
    with pytest.raises(CheckError):
        check_dataflow(dataclasses.replace(template, block=broken), size_bytes)


@pytest.mark.parametrize("ranks", range(2, 18))
def test_each_alternative_does_it_with_the_bytes_of_any_all_reduce(ranks: int) -> None:
    """2(n-1)/n of the buffer for each rank; of sizes that do not divide what the hierarchical all-reduce has."""
    for local, chosen in product(range(1, ranks + 1), product(LEVEL_ALGORITHMS, repeat=2)):
        if ranks % local or ("halving_doubling" in chosen and not {local, ranks // local} <= {1, 2, 4, 8, 16}):
            continue
        group = Group(tuple(range(ranks)), np.arange(ranks, dtype=np.int32) // local)
        inside, between = chosen
        for size_bytes, chunks in ((ranks * 8, 1), (ranks * 7 + 1, 3), (1, 2)):
            system = SystemModel(all_reduce_inside=inside, all_reduce_between=between, chunks=chunks)
            template = build_template("all_reduce", "themis", group, size_bytes, system)
            check_dataflow(template, size_bytes)
            form = level_form("all_reduce", "hierarchical")
            parts = chunk_payloads(size_bytes, chunks, ranks)
            fixed = np.sum([pair_totals(ranks, form.pair_bytes(group.machines, p, system)) for p in parts], axis=0)
            if size_bytes % ranks == 0:
                assert set(fixed.ravel().tolist()) == {2 * (ranks - 1) * size_bytes // ranks}
            for view in data_views(template):
                sent, received = (
                    np.bincount(end[view.is_send], view.size_bytes[view.is_send], ranks) for end in (view.src, view.dst)
                )
                assert [sent.tolist(), received.tolist()] == fixed.tolist()


def test_themis_has_two_levels() -> None:
    with pytest.raises(ConfigError, match=r"'themis' has two levels, .*collective\.machines_per_group makes more"):
        build_template("all_reduce", "themis", 8, 800, SystemModel(machines_per_group=(2,)))


def test_alternatives_are_exchangeable() -> None:
    def build_of(*sizes: int) -> ScheduleBuilder:
        build = ScheduleBuilder("sendrecv", "mine", 3)
        for size in sizes:
            build.begin_alternative([(0, 1)])
            build.send(0, 1, size)
        return build

    assert build_of(10, 10).build().choices == 1
    with pytest.raises(ConfigError, match="alternative 1: rank 0 sends 20 bytes, and 10 in the first one"):
        build_of(10, 20).build()
    build = build_of(10, 10)
    build.send(1, 2, 0)
    with pytest.raises(ConfigError, match="alternative 1: 2 messages, and 1 in the first one"):
        build.build()
    build = build_of(10)
    build.begin_alternative([(1, 1)])
    build.send(0, 1, 10, after=0)
    with pytest.raises(ConfigError, match="waits for one of another alternative"):
        build.build()
