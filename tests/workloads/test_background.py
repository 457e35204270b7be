# SPDX-License-Identifier: GPL-2.0-only
"""Background traffic: who sends to whom, how much, when, and sizes as they are distributed."""

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from astra_py.errors import WorkloadError
from astra_py.workloads.background import incast, permutation, poisson
from astra_py.workloads.flow_sizes import HADOOP, WEB_SEARCH, FlowSizes, read_flow_sizes

US = 10**6
SOME_RANKS = st.lists(st.integers(0, 500), min_size=2, max_size=40, unique=True).map(lambda each: np.array(each, "i4"))
SEEDS = st.integers(0, 2**32)


@given(SOME_RANKS, SEEDS, st.integers(1, 4), st.data())
def test_an_incast_is_so_many_senders_to_one_receiver_a_round(
    ranks: np.ndarray, seed: int, rounds: int, data: st.DataObject
) -> None:
    senders = data.draw(st.none() | st.integers(1, len(ranks) - 1))
    receiver = data.draw(st.none() | st.sampled_from(ranks.tolist()))
    flows = incast(
        ranks,
        np.random.default_rng(seed),
        size_bytes=9,
        senders=senders,
        receiver=receiver,
        rounds=rounds,
        period_ps=7,
        start_ps=5,
    )
    count = len(ranks) - 1 if senders is None else senders
    assert len(flows) == count * rounds
    assert set(flows.size_bytes.tolist()) == {9}
    for number in range(rounds):
        mine = slice(number * count, (number + 1) * count)
        assert set(flows.start_ps[mine].tolist()) == {5 + 7 * number}
        assert len(set(flows.src[mine].tolist())) == count
        (to,) = set(flows.dst[mine].tolist())
        assert receiver in (None, to)
        assert {to, *flows.src[mine].tolist()} <= set(ranks.tolist())


@given(SOME_RANKS, SEEDS, st.integers(1, 3))
def test_in_a_permutation_each_sends_once_and_receives_once(ranks: np.ndarray, seed: int, rounds: int) -> None:
    flows = permutation(ranks, np.random.default_rng(seed), size_bytes=9, rounds=rounds, period_ps=7)
    assert len(flows) == len(ranks) * rounds
    pairs = [(flows.src[i :: len(ranks)].tolist(), flows.dst[i :: len(ranks)].tolist()) for i in range(len(ranks))]
    assert all(len(set(src)) == len(set(dst)) == 1 for src, dst in pairs)
    assert sorted(src[0] for src, _ in pairs) == sorted(dst[0] for _, dst in pairs) == sorted(ranks.tolist())


@pytest.mark.parametrize("sizes", [WEB_SEARCH, HADOOP, FlowSizes.fixed(50_000)], ids=["web search", "hadoop", "fixed"])
def test_a_poisson_load_is_the_share_of_the_nics_that_was_asked_for(sizes: FlowSizes) -> None:
    ranks, rate = np.arange(16, dtype=np.int32), np.full(16, 100 * 10**9)
    start, stop = 1000 * US, 501_000 * US
    flows = poisson(ranks, np.random.default_rng(3), sizes=sizes, load=0.4, rate_bps=rate, start_ps=start, stop_ps=stop)
    load = 8 * flows.total_bytes / (float(rate.sum()) * (stop - start) / 1e12)
    assert load == pytest.approx(0.4, rel=0.03)
    assert start <= int(flows.start_ps.min()) <= int(flows.start_ps.max()) < stop
    gaps = np.diff(flows.start_ps)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)  # as of exponential gaps
    sent = np.bincount(flows.src, minlength=16)
    assert sent.max() < 1.3 * sent.mean()


def test_a_faster_nic_sends_the_more_flows() -> None:
    rate = np.array([100, 100, 300, 100]) * 10**9
    flows = poisson(
        np.arange(4, dtype=np.int32),
        np.random.default_rng(3),
        sizes=FlowSizes.fixed(10_000),
        load=0.5,
        rate_bps=rate,
        start_ps=0,
        stop_ps=10_000 * US,
    )
    assert np.bincount(flows.src)[2] / len(flows) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("sizes", [WEB_SEARCH, HADOOP])
def test_sizes_are_distributed_as_their_points_say(sizes: FlowSizes) -> None:
    drawn = sizes.draw(200_000, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(sizes.mean_bytes, rel=0.02)
    for size, percent in zip(sizes.size_bytes, sizes.percent, strict=True):
        assert 100 * (drawn <= size).mean() == pytest.approx(percent, abs=0.6)


def test_means_of_the_distributions() -> None:
    # sums over the steps of a step's share times the middle of its sizes; of Hadoop 920.75 B up to 30 kB, then 4,000,
    # 3,250, 3,000, 10,500, 16,250, 22,500 and 60,000 B
    assert WEB_SEARCH.mean_bytes == pytest.approx(1_711_250)
    assert HADOOP.mean_bytes == pytest.approx(120_420.75)
    assert FlowSizes.fixed(7).mean_bytes == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: incast(np.array([4], "i4"), rng, size_bytes=1), "at least two ranks, not 1"),
        (lambda rng: incast(np.array([4, 5], "i4"), rng, size_bytes=1, receiver=3), "receiver 3 is none of the ranks"),
        (lambda rng: incast(np.array([4, 5], "i4"), rng, size_bytes=1, senders=2), "2 senders, and there are 1 ranks"),
        (lambda rng: permutation(np.arange(99, dtype="i4"), rng, size_bytes=1, rounds=10**6), "about 99,000,000 flows"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: object, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        call(np.random.default_rng(1))  # type: ignore[operator]


def test_a_time_too_short_for_any_flow_is_refused() -> None:
    with pytest.raises(WorkloadError, match=r"no flow starts in 1 us: 1\.46e-06 were to be expected"):
        poisson(
            np.arange(2, dtype=np.int32),
            np.random.default_rng(1),
            sizes=WEB_SEARCH,
            load=0.01,
            rate_bps=np.full(2, 10**9),
            start_ps=0,
            stop_ps=US,
        )


def test_a_distribution_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text("0 0\n\n1000 25\n9000 100\n")
    assert read_flow_sizes(path) == FlowSizes((0, 1000, 9000), (0, 25, 100))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0\n1000\n", "line 2: '1000' is not a size in bytes and a percentage"),
        ("0 0\nx 100\n", "line 2: 'x 100' is not"),
        ("0 0\n5 101\n", "line 2: allowed are"),
        ("0 0\nnan 100\n", "line 2: allowed are"),
        ("0 0\n9 50\n8 100\n", "line 3: size and percentage have to be above"),
        ("0 0\n9 50\n10 50\n", "line 3: size and percentage have to be above"),
        ("0 0\n9 50\n", "the first of 0 % and the last of 100 %"),
        ("0 1\n9 100\n", "the first of 0 % and the last of 100 %"),
        ("", "at least two lines"),
        ("0 0\n0 100\n", "all of its flows would be of 0 B"),
        ("0 0\n\xff 100\n", "cannot be read: byte 4 is no ASCII"),
    ],
)
def test_what_is_no_distribution_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(WorkloadError, match=f"sizes.txt.*{message}"):
        read_flow_sizes(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match=r"sizes\.txt: cannot be read: No such file"):
        read_flow_sizes(tmp_path / "sizes.txt")
