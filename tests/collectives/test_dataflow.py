# SPDX-License-Identifier: GPL-2.0-only
"""The data-flow check: every kind of broken template is caught, and named."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra_py.collectives import (
    Dep,
    EdgeOn,
    Group,
    OpKind,
    ScheduleBuilder,
    SystemModel,
    Template,
    build_template,
    check_dataflow,
)
from astra_py.collectives.schedule import Combine
from astra_py.errors import CheckError, ConfigError

MEMORY = SystemModel(local_memory_bandwidth_bps=10**12)


def with_dependencies(template: Template, keep: Iterable[bool], on: EdgeOn | None = None) -> Template:
    """The template with some of its dependencies, or with all at another moment."""
    kept = np.array(list(keep), dtype=np.bool_)
    op = np.repeat(np.arange(len(template)), np.diff(template.dep_ptr))[kept]
    return replace(
        template,
        dep_ptr=np.searchsorted(op, np.arange(len(template) + 1)),
        dep_op=template.dep_op[kept],
        dep_on=template.dep_on[kept] if on is None else np.full(kept.sum(), on, dtype=np.uint8),
    )


def without_data(template: Template, op: int) -> Template:
    """The template with one message emptied: it is still there for its dependants, and brings nothing."""
    size_bytes = template.size_bytes.copy()
    size_bytes[op] = 0
    count = np.diff(template.block_ptr)
    keep = np.repeat(np.arange(len(template)) != op, count)
    count[op] = 0
    return replace(
        template,
        size_bytes=size_bytes,
        block_ptr=np.concatenate([[0], np.cumsum(count)]),
        block=template.block[keep],
    )


def ring(ranks: int, size: int, system: SystemModel = MEMORY) -> Template:
    return build_template("all_reduce", "ring", ranks, size, system)


@settings(deadline=None)
@given(ranks=st.integers(2, 7), data=st.data())
def test_a_lost_message_is_caught(ranks: int, data: st.DataObject) -> None:
    size = 10 * ranks + 3
    template = ring(ranks, size)
    op = data.draw(st.sampled_from(np.flatnonzero(template.is_send).tolist()))
    with pytest.raises(CheckError, match="all_reduce ring"):
        check_dataflow(without_data(template, op), size)


def test_a_lost_block_is_named_with_its_rank() -> None:
    template = build_template("all_to_all", "direct", 4, 400)
    op = int(np.flatnonzero((template.src == 1) & (template.dst == 3))[0])
    with pytest.raises(CheckError, match="rank 3 ends without the block of rank 1 for rank 3"):
        check_dataflow(without_data(template, op), 400)
    template = ring(2, 10)
    with pytest.raises(CheckError, match="rank 0 ends with segment 1 lacking the contribution of rank 1"):
        check_dataflow(without_data(template, 1), 10)


@settings(deadline=None)
@given(ranks=st.integers(2, 7), data=st.data())
def test_swapped_sizes_are_caught(ranks: int, data: st.DataObject) -> None:
    size = 10 * ranks + 1
    template = ring(ranks, size)
    is_larger = template.size_bytes == template.size_bytes.max()
    one = data.draw(st.sampled_from(np.flatnonzero(template.is_send & is_larger).tolist()))
    other = data.draw(st.sampled_from(np.flatnonzero(template.is_send & ~is_larger).tolist()))
    swapped = template.size_bytes.copy()
    swapped[[one, other]] = swapped[[other, one]]
    with pytest.raises(CheckError, match="bytes, and its blocks have"):
        check_dataflow(replace(template, size_bytes=swapped), size)


@settings(deadline=None)
@given(ranks=st.integers(2, 6), has_memory=st.booleans(), data=st.data())
def test_a_removed_dependency_is_caught(ranks: int, has_memory: bool, data: st.DataObject) -> None:
    template = ring(ranks, 100, MEMORY if has_memory else SystemModel())
    edges = len(template.dep_op)
    removed = data.draw(st.integers(0, edges - 1))
    with pytest.raises(CheckError, match=r"may not have|no certain order"):
        check_dataflow(with_dependencies(template, (edge != removed for edge in range(edges))), 100)


def test_sent_is_not_arrived() -> None:
    template = ring(3, 99, SystemModel())
    everything = [True] * len(template.dep_op)
    check_dataflow(with_dependencies(template, everything, on=EdgeOn.ACKED), 99)
    with pytest.raises(CheckError, match="rank 0 sends segment 2 and may not have got operation 2 yet"):
        check_dataflow(with_dependencies(template, everything, on=EdgeOn.SENT), 99)


def test_a_contribution_is_added_once() -> None:
    build = ScheduleBuilder("all_reduce", "twice", 3)
    build.send([1, 2, 1], 0, 8, blocks=0, combine=True)
    with pytest.raises(
        CheckError, match=r"operation 2, .*adds the contribution of rank 1 to segment 0 of rank 0 twice"
    ):
        check_dataflow(build.build(), 8)


def test_an_exchange_needs_a_copy_of_what_was_sent() -> None:
    """Two ranks that add into the very buffer they are sending from may send the sum back."""
    build = ScheduleBuilder("all_reduce", "exchange", 2)
    build.send([0, 1], [1, 0], 8, blocks=0, combine=True)
    with pytest.raises(
        CheckError, match="operation 1, rank 1 to 0: rank 1 sends segment 0 and may not have got operation 0"
    ):
        check_dataflow(build.build(), 8)


def recursive_doubling(moment: EdgeOn | None, combine: Combine = Combine.EXCHANGE) -> Template:
    """Four ranks exchange all that they have with the one beside them, and then two further."""
    build, rank = ScheduleBuilder("all_reduce", "exchange", 4), np.arange(4)
    first = build.send(rank, rank ^ 1, 8, blocks=0, combine=combine)
    after = [Dep(first[rank ^ 1])] + ([] if moment is None else [Dep(first, on=moment)])
    build.send(rank, rank ^ 2, 8, after=after, blocks=0, combine=combine)
    return build.build()


def test_an_exchange_adds_once_the_own_is_sent() -> None:
    check_dataflow(recursive_doubling(EdgeOn.SENT), 8)
    check_dataflow(recursive_doubling(EdgeOn.ACKED), 8)
    with pytest.raises(
        CheckError, match=r"operation 4, .*with what operation 1 brought, and may not have sent its own in operation 0"
    ):
        check_dataflow(recursive_doubling(None), 8)
    with pytest.raises(CheckError, match="rank 1 sends segment 0 and may not have got operation 0"):
        check_dataflow(recursive_doubling(EdgeOn.SENT, Combine.ADD), 8)


def test_an_exchange_adds_only_what_is_known_to_be_there() -> None:
    """The second message does not wait for the first one, so that it cannot have its contribution."""
    build = ScheduleBuilder("all_reduce", "too_soon", 3)
    build.send([0, 1], [1, 2], 8, blocks=0, combine=Combine.EXCHANGE)
    with pytest.raises(CheckError, match="rank 0 ends with segment 0 lacking the contribution of rank 1, 2"):
        check_dataflow(build.build(), 8)
    build = ScheduleBuilder("reduce", "too_soon", 3)
    build.send([2, 1], [1, 0], 8, blocks=0, combine=Combine.EXCHANGE)
    with pytest.raises(CheckError, match="rank 0 ends with segment 0 lacking the contribution of rank 2"):
        check_dataflow(build.build(), 8)


def test_an_exchange_adds_a_contribution_once() -> None:
    build = ScheduleBuilder("all_reduce", "twice", 3)
    first = build.send([0, 1], [1, 0], 8, blocks=0, combine=Combine.EXCHANGE)
    build.send(1, 0, 8, after=[Dep(first[:1]), Dep(first[1:], on=EdgeOn.SENT)], blocks=0, combine=Combine.EXCHANGE)
    with pytest.raises(CheckError, match="the end: adds the contribution of rank 0, 1 to segment 0 of rank 0 twice"):
        check_dataflow(build.build(), 8)


def test_what_replaces_an_exchange_needs_an_order() -> None:
    build = ScheduleBuilder("all_reduce", "race", 3)
    build.send([1, 2], [0, 0], 8, blocks=0, combine=Combine.EXCHANGE)
    build.send(1, 0, 8, blocks=0)
    with pytest.raises(CheckError, match="operation 2, rank 1 to 0: writes segment 0 of rank 0 in no certain order"):
        check_dataflow(build.build(), 8)


@pytest.mark.parametrize(
    ("kind", "sends", "error"),
    [
        ("broadcast", [(0, 1, 0), (0, 2, 0)], None),
        ("broadcast", [(0, 1, 0)], "rank 2 ends without segment 0"),
        ("broadcast", [(1, 2, 0)], "rank 1 sends segment 0, which it does not hold"),
        ("gather", [(1, 0, 1), (2, 0, 2)], None),
        ("gather", [(1, 0, 1)], "rank 0 ends without segment 2"),
        ("scatter", [(0, 1, 1), (0, 2, 2)], None),
        ("scatter", [(0, 1, 1), (0, 2, 1)], "rank 2 ends without segment 2"),
    ],
)
def test_rooted_promises(kind: str, sends: list[tuple[int, int, int]], error: str | None) -> None:
    build = ScheduleBuilder(kind, "flat", 3)
    for src, dst, block in sends:
        build.send(src, dst, 5 if kind == "broadcast" else [4, 3, 3][block], blocks=block)
    size = 5 if kind == "broadcast" else 10
    if error is None:
        check_dataflow(build.build(), size)
    else:
        with pytest.raises(CheckError, match=error):
            check_dataflow(build.build(), size)


def test_a_barrier_is_news_of_everyone() -> None:
    build, rank = ScheduleBuilder("barrier", "ring_of_two", 3), np.arange(3)
    first = build.send(rank, (rank + 1) % 3, 0, blocks=rank)
    template = build.build()
    with pytest.raises(CheckError, match="rank 0 ends without the news of rank 1"):
        check_dataflow(template, 0)
    build.send(rank, (rank + 1) % 3, 0, after=np.roll(first, 1), blocks=(rank - 1) % 3)
    check_dataflow(build.build(), 0)


def test_a_block_may_not_change_before_it_is_sent() -> None:
    """Rank 1 may or may not have rank 0's contribution in what it sends, as both messages are free to go first."""
    build = ScheduleBuilder("all_reduce", "hurry", 3)
    build.send([1, 0], [2, 1], 8, blocks=0, combine=True)
    with pytest.raises(
        CheckError, match="operation 1, rank 0 to 1: changes segment 0 of rank 1, which operation 0 may not"
    ):
        check_dataflow(build.build(), 8)


def test_what_is_not_added_replaces() -> None:
    build = ScheduleBuilder("all_reduce", "overwrite", 2)
    there = build.send(0, 1, 8, blocks=0)
    build.send(1, 0, 8, after=there, blocks=0)
    with pytest.raises(CheckError, match="rank 0 ends with segment 0 lacking the contribution of rank 1"):
        check_dataflow(build.build(), 8)


def test_two_writers_need_an_order() -> None:
    build = ScheduleBuilder("all_reduce", "race", 3)
    reduced = build.send([1, 2], [0, 0], 8, blocks=0, combine=True)
    build.send(0, [1, 2], 8, after=Dep(np.array([[0, 1], [0, 1]])), blocks=0)
    check_dataflow(build.build(), 8)
    build.send(0, 1, 8, after=Dep(reduced[np.newaxis]), blocks=0)
    with pytest.raises(CheckError, match="operation 4, rank 0 to 1: writes segment 0 of rank 1 in no certain order"):
        check_dataflow(build.build(), 8)


def test_a_block_that_was_never_held_cannot_be_sent() -> None:
    build = ScheduleBuilder("all_to_all", "guess", 2)
    build.send([0, 1], [1, 0], 5, blocks=np.array([2, 1]))
    with pytest.raises(CheckError, match="rank 0 sends the block of rank 1 for rank 0, which it does not hold"):
        check_dataflow(build.build(), 10)


def test_relayed_blocks_are_followed() -> None:
    """An all-to-all of three ranks one way round a ring, two hops for every second block."""
    build = ScheduleBuilder("all_to_all", "one_way", 3)
    rank = np.arange(3)
    following, beyond = (rank + 1) % 3, (rank + 2) % 3
    blocks = np.stack([rank * 3 + following, rank * 3 + beyond], axis=1)
    first = build.send(rank, following, 20, blocks=blocks)
    build.send(following, beyond, 10, after=first, blocks=blocks[:, 1])
    template = build.build()
    check_dataflow(template, 30)
    with pytest.raises(CheckError, match="may not have got"):
        check_dataflow(with_dependencies(template, [False] * 3), 30)


def test_blocks_are_needed_and_must_exist() -> None:
    build = ScheduleBuilder("sendrecv", "blind", 2)
    build.send(0, 1, 8)
    with pytest.raises(CheckError, match=r"not said which blocks .* blocks=.* combine=True"):
        check_dataflow(build.build(), 8)
    build = ScheduleBuilder("sendrecv", "odd", 2)
    build.send(0, 1, 8, blocks=1)
    with pytest.raises(CheckError, match=r"blocks \[1\], of which there are 1"):
        check_dataflow(build.build(), 8)


def test_finer_blocks_are_allowed() -> None:
    """Two ranks, each the root of half of the buffer, cut in four."""
    build = ScheduleBuilder("all_reduce", "halves", 2)
    gathered = build.send([0, 1], [1, 0], [5, 6], blocks=np.array([[2, 3], [0, 1]]), combine=True)
    build.send([1, 0], [0, 1], [5, 6], after=gathered, blocks=np.array([[2, 3], [0, 1]]))
    check_dataflow(build.build(), 11)


def test_an_unknown_promise_is_refused() -> None:
    with pytest.raises(ConfigError, match="all_reduce with a ndarray"):
        check_dataflow(ring(2, 8), np.zeros((2, 2), dtype=np.int64))


def test_local_work_counts_as_an_order() -> None:
    template = ring(3, 30)
    assert (template.kind == OpKind.REDUCE).any()
    check_dataflow(template, 30)


MACHINES = Group(tuple(range(8)), np.repeat(np.arange(2, dtype=np.int32), 4))
BREAKABLE = [
    ("all_reduce", "direct"),
    ("all_reduce", "hierarchical"),
    ("reduce_scatter", "ring"),
    ("reduce_scatter", "direct"),
    ("all_gather", "ring"),
    ("all_gather", "direct"),
    ("all_to_all", "hierarchical"),
]


@settings(deadline=None)
@given(which=st.sampled_from(BREAKABLE), chunks=st.integers(1, 3), data=st.data())
def test_a_lost_message_of_any_algorithm_is_caught(which: tuple[str, str], chunks: int, data: st.DataObject) -> None:
    template = build_template(*which, MACHINES, 240, SystemModel(chunks=chunks))
    check_dataflow(template, 240)
    op = data.draw(st.sampled_from(np.flatnonzero(template.is_send).tolist()))
    with pytest.raises(CheckError, match=" ".join(which)):
        check_dataflow(without_data(template, op), 240)


@pytest.mark.parametrize(
    "which", [("all_reduce", "direct"), ("all_reduce", "hierarchical"), ("all_to_all", "hierarchical")]
)
def test_phases_without_their_order_are_caught(which: tuple[str, str]) -> None:
    template = build_template(*which, MACHINES, 240)
    is_after_gate = template.kind[template.dep_op] == OpKind.COMPUTE
    with pytest.raises(CheckError, match=r"may not have|no certain order|which it does not hold"):
        check_dataflow(with_dependencies(template, ~is_after_gate), 240)


def test_a_segment_at_the_wrong_rank_is_named() -> None:
    build = ScheduleBuilder("reduce_scatter", "swapped", 2)
    build.send([0, 1], [1, 0], 8, blocks=np.array([0, 1]), combine=True)
    with pytest.raises(CheckError, match="rank 0 ends with segment 0 lacking the contribution of rank 1"):
        check_dataflow(build.build(), 16)
    build = ScheduleBuilder("all_gather", "half", 2)
    build.send(0, 1, 8, blocks=0)
    with pytest.raises(CheckError, match="rank 0 ends without segment 1"):
        check_dataflow(build.build(), 16)


def test_more_chunks_than_bytes_are_refused_and_chunks_are_named() -> None:
    template = ring(2, 12, SystemModel(chunks=2))
    with pytest.raises(CheckError, match="2 chunks, and its bytes make 1"):
        check_dataflow(template, 2)
    lost = without_data(template, int(np.flatnonzero(template.is_send & (template.chunk == 1))[-1]))
    with pytest.raises(CheckError, match=r"segment \d in chunk 1"):
        check_dataflow(lost, 12)
