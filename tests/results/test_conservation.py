# SPDX-License-Identifier: GPL-2.0-only
"""Numbers of different tables agree: each headline figure is derived once more from messages and operations."""

from __future__ import annotations

import re

import numpy as np
import pytest

import astra_py as ap
from astra_py.results.columns import TABLES
from astra_py.results.pages import page
from small_job import LAYERS, write_job


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ap.Result:
    # all-to-alls and all-reduces large enough for queues behind two of the eight ranks' spine links
    layers = LAYERS.replace("ALLTOALL 8000", "ALLTOALL 2000000").replace("ALLREDUCE 120000", "ALLREDUCE 2000000")
    job = write_job(tmp_path_factory.mktemp("job"), layers)
    keys = ["workload.iterations=2", "transport.congestion_control=dcqcn", "platform.ranks=8"]
    keys += ["platform.ranks_per_leaf=4", "platform.oversubscription=4"]
    return ap.load(job, *keys).run()


def test_collectives_from_their_operations_and_messages(run: ap.Result) -> None:
    parts = run.operations.query("collective >= 0").groupby("collective")
    time = parts.end_ps.max() - parts.start_ps.min()
    assert (run.collectives.time_ps.to_numpy() == time.to_numpy()).all()
    assert np.allclose(run.collectives.algbw_GBps, run.collectives.size_bytes / time * 1000)
    sent = run.messages.groupby(["collective", "src"]).size_bytes.sum().groupby("collective").max()
    assert (run.collectives.sent_bytes.to_numpy() == sent.to_numpy()).all()
    again = run.messages.groupby("collective").retransmitted_packets.sum()
    assert (run.collectives.retransmitted_packets.to_numpy() == again.to_numpy()).all()


def test_iterations_from_operations(run: ap.Result) -> None:
    rank = int(run.iterations["rank"].iloc[0])
    ends = run.operations[run.operations["rank"] == rank].groupby("iteration").end_ps.max().cummax()
    assert run.iterations.time_ps.tolist() == np.diff(ends, prepend=0).tolist()
    assert run.iterations.time_ps.sum() == run.operations.end_ps.max() == run.manifest["run"]["time_ps"]


def test_phases_and_pairs_from_messages(run: ap.Result) -> None:
    messages = run.messages
    assert run.phases.groupby("collective").messages.sum().equals(messages.groupby("collective").size())
    assert run.phases.groupby("collective").size_bytes.sum().equals(messages.groupby("collective").size_bytes.sum())
    assert run.phases.groupby("collective").end_ps.max().equals(messages.groupby("collective").delivered_ps.max())
    pairs = messages.groupby(["src", "dst"])
    assert run.pairs.size_bytes.tolist() == pairs.size_bytes.sum().tolist()
    assert run.pairs.messages.tolist() == pairs.size().tolist()
    longest = (messages.delivered_ps - messages.posted_ps).groupby([messages.src, messages.dst]).max()
    assert np.allclose(run.pairs.max_message_us, longest / 1e6)


def test_links_carry_what_messages_send(run: ap.Result) -> None:
    sent = run.messages.groupby("src").size_bytes.sum()
    first = run.links[run.links["from"].str.startswith("rank")]
    assert first.payload_bytes.tolist() == sent.tolist()
    arrived = run.links[run.links["to"].str.startswith("rank")]
    assert arrived.payload_bytes.tolist() == run.messages.groupby("dst").size_bytes.sum().tolist()


def test_links_from_their_bins(run: ap.Result) -> None:
    of = run.link_bins.groupby("channel")
    used = run.links.set_index("channel").loc[list(of.groups)]
    assert of.line_bytes.sum().tolist() == used.line_bytes.tolist()
    assert of.max_queue_bytes.max().tolist() == used.max_queue_bytes.tolist()


def test_queues_repeat_their_links(run: ap.Result) -> None:
    links = run.links.set_index("channel").loc[run.queues.channel]
    assert run.queues.frames.tolist() == links.frames.tolist()
    assert run.queues.max_queue_bytes.tolist() == links.max_queue_bytes.tolist()
    assert run.queues.marked_frames.sum() == run.counters["marked_frames"]


def test_congestion_has_a_row_for_each_slowed_flow(run: ap.Result) -> None:
    table = run.congestion
    assert len(table) == run.counters["flows_slowed"] > 0
    assert table.notifications.sum() == run.counters["cnps"]
    assert set(zip(table.src, table.dst, strict=True)) <= set(zip(run.pairs.src, run.pairs.dst, strict=True))
    assert (table.decreases > 0).all()
    assert (table.least_rate_Gbps <= table.last_rate_Gbps).all()
    assert (table.last_rate_Gbps <= table.line_rate_Gbps).all()
    assert (table.slow_ps > 0).all()


@pytest.mark.parametrize("table", TABLES)
def test_the_example_of_each_page_runs(run: ap.Result, table: str) -> None:
    example = re.search(r"```python\n(.*?)```", page(table), re.DOTALL)
    assert example is not None
    exec(example[1], {"run": run})
