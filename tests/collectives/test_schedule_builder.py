# SPDX-License-Identifier: GPL-2.0-only
"""ScheduleBuilder: what batches become, and what it refuses."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from astra_py.collectives import Dep, EdgeOn, Hold, OpKind, PoolOrder, ScheduleBuilder, SystemModel
from astra_py.errors import ConfigError


def builder(ranks: int = 4, **system: object) -> ScheduleBuilder:
    return ScheduleBuilder("all_reduce", "test", ranks, SystemModel(**system))  # type: ignore[arg-type]


def rows(ptr: np.ndarray, *columns: np.ndarray) -> list[list[tuple[int, ...]]]:
    """Compressed rows as lists of tuples."""
    entries = list(zip(*(column.tolist() for column in columns), strict=True))
    return [entries[a:b] for a, b in pairwise(ptr)]


def test_scalars_broadcast_to_a_batch() -> None:
    build = builder()
    ids = build.send(0, [1, 2, 3], [10, 20, 30], phase="spread")
    more = build.compute(2, 99)
    template = build.build()
    assert ids.tolist() == [0, 1, 2]
    assert more.tolist() == [3]
    assert template.src.tolist() == [0, 0, 0, 2]
    assert template.dst.tolist() == [1, 2, 3, 2]
    assert template.size_bytes.tolist() == [10, 20, 30, 0]
    assert template.duration_ps.tolist() == [0, 0, 0, 99]
    assert template.kind.tolist() == [OpKind.SEND] * 3 + [OpKind.COMPUTE]
    assert template.phase_names == ("spread", "all_reduce")
    assert template.phase.tolist() == [0, 0, 0, 1]
    assert template.chunk.tolist() == [0, 0, 0, 0]
    dtypes = ("kind", "u1"), ("src", "i4"), ("size_bytes", "i8"), ("dep_ptr", "i8"), ("dep_op", "i4"), ("dep_on", "u1")
    for column, dtype in (*dtypes, ("block", "i4"), ("pool_capacity", "i4"), ("release_on", "u1"), ("combine", "u1")):
        assert getattr(template, column).dtype == np.dtype(dtype), column


def test_dependencies_are_elementwise_several_or_for_all() -> None:
    build = builder(notify_on=EdgeOn.ACKED)
    first = build.send([0, 1, 2], [1, 2, 3], 8)
    local = build.compute([1, 2], 5, after=first[:2])
    several = build.send([1, 2], [2, 3], 8, after=[local, Dep(first[:2], on=EdgeOn.SENT)])
    build.send([3, 3], [0, 1], 8, after=Dep(np.array([[2, -1], [2, several[1]]])))
    build.send(3, [0, 1], 8, after=2)
    build.send([0, 1], [2, 3], 8, after=np.array([-1, 0]))
    template = build.build()
    sent, acked = int(EdgeOn.SENT), int(EdgeOn.ACKED)
    assert rows(template.dep_ptr, template.dep_op, template.dep_on) == [
        *([[]] * 3),
        [(0, acked)],
        [(1, acked)],
        [(3, acked), (0, sent)],
        [(4, acked), (1, sent)],
        [(2, acked)],
        [(2, acked), (6, acked)],
        [(2, acked)],
        [(2, acked)],
        [],
        [(0, acked)],
    ]
    assert template.notify_on == EdgeOn.ACKED


def test_reductions_take_three_passes_or_do_not_exist() -> None:
    build = builder(local_memory_bandwidth_bps=12_800 * 10**9)
    sent = build.send(0, 1, 3201)
    reduced = build.reduce(1, 3201, sent)
    build.send(1, 2, 1, after=reduced)
    template = build.build()
    assert template.kind.tolist() == [OpKind.SEND, OpKind.REDUCE, OpKind.SEND]
    assert template.duration_ps.tolist() == [0, 6002, 0]  # 3 x 3,201 B at 1.6 B/ps is 6,001.875 ps
    assert template.dep_op.tolist() == [0, 1]

    build = builder()
    sent = build.send([0, 2], [1, 1], 3201)
    assert build.reduce(1, 3201, [sent[:1], sent[1:]]) == [sent[:1], sent[1:]]
    build.send(1, 3, 1, after=build.reduce(1, 3201, [sent[:1], sent[1:]]))
    assert rows(build.build().dep_ptr, build.build().dep_op)[2] == [(0,), (1,)]


def test_pools_belong_to_ranks_and_are_released_at_a_moment() -> None:
    build = builder()
    narrow = build.pool([0, 1], 2)
    wide = build.pool(3, 7, PoolOrder.LIFO)
    build.send([0, 1], [2, 2], 8, pools=narrow)
    build.send([3, 3], [0, 1], 8, pools=[Hold(wide, release_on=EdgeOn.SENT)])
    build.send([0, 1], [3, 3], 8, pools=np.array([-1, narrow[1]]))
    template = build.build()
    assert template.pool_owner.tolist() == [0, 1, 3]
    assert template.pool_capacity.tolist() == [2, 2, 7]
    assert template.pool_order.tolist() == [PoolOrder.FIFO, PoolOrder.FIFO, PoolOrder.LIFO]
    acked, sent = int(EdgeOn.ACKED), int(EdgeOn.SENT)
    assert rows(template.use_ptr, template.use_pool, template.release_on) == [
        [(0, acked)],
        [(1, acked)],
        [(2, sent)],
        [(2, sent)],
        [],
        [(1, acked)],
    ]


def test_blocks_may_be_one_or_several_a_message() -> None:
    build = builder()
    build.send([0, 1], 2, 8, blocks=np.array([3, 4]))
    build.send([0, 1], 3, 8, blocks=np.array([[5, 6], [7, -1]]), combine=True)
    build.send([0, 1], 3, 0)
    template = build.build()
    assert rows(template.block_ptr, template.block) == [[(3,)], [(4,)], [(5,), (6,)], [(7,)], [], []]
    assert template.combine.tolist() == [0, 0, 1, 1, 0, 0]


def test_nothing_added_is_an_empty_template() -> None:
    template = builder(1).build()
    assert len(template) == 0
    assert template.dep_ptr.tolist() == template.use_ptr.tolist() == template.block_ptr.tolist() == [0]
    assert template.to_pandas().empty


def test_empty_batches_add_nothing() -> None:
    build = builder()
    none = np.empty(0, dtype=np.int64)
    assert build.send(none, none, none, after=none, blocks=none).tolist() == []
    assert len(build.build()) == 0


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda b: b.send(0, 4, 1), "dst is outside the group's coordinates, 0 to 3"),
        (lambda b: b.send(-1, 0, 1), "src is outside"),
        (lambda b: b.send([0, 2], [1, 2], 1), "rank 2 sends to itself"),
        (lambda b: b.send(0, 1, -5), "size_bytes is negative: -5"),
        (lambda b: b.send(0, 1, 1.5), "algorithm 'test': size_bytes is of float64, and a schedule is made of integers"),
        (lambda b: b.send([0, 1], [1, 2, 3], 1), "different lengths"),
        (lambda b: b.send(0, 1, 1, phase=5), "a phase is a name, not 5"),
        (lambda b: b.send([[0, 1]], 2, 1), r"not an array of shape \(1, 2\)"),
        (lambda b: b.compute(0, -1), "duration_ps is negative"),
        (lambda b: b.send(0, 1, 1, after=0), "after has a number outside the 0"),
        (lambda b: b.send(0, 1, 1, after=-2), "after has a number outside"),
        (lambda b: b.send([0, 1], 2, 1, after=np.arange(3)), r"after is of shape \(3,\); 2 operations"),
        (lambda b: b.send(0, 1, 1, pools=0), "pools has a number outside the 0"),
        (lambda b: b.pool(4, 1), "owner is outside 0 to 3"),
        (lambda b: b.pool(0, 0), "capacity of at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(use: Callable[[ScheduleBuilder], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        use(builder())


def test_a_rank_waits_only_for_what_it_is_told() -> None:
    build = builder()
    sent = build.send(0, 1, 8)
    build.send(2, 3, 8, after=sent)
    with pytest.raises(ConfigError, match="operation 1 waits for operation 0, rank 0 to 1, of which its own rank 2"):
        build.build()


def test_a_group_has_a_rank() -> None:
    with pytest.raises(ConfigError, match="at least one rank"):
        builder(0)
