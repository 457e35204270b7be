# SPDX-License-Identifier: GPL-2.0-only
"""The portable network interface: matching, moments, timers, errors, and the same times as a run of an engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines import network as network_module
from astra_py.errors import CheckError, ConfigError, DeadlockError, SimulationError

ENGINES = ("packet", "flow", "analytic")


@contextmanager
def network(*overrides: str, ranks: int = 4, engine: str = "packet") -> Iterator[ap.NetworkInterface]:
    scenario = load_scenario({"engine": engine, "platform": {"ranks": ranks}}, overrides)
    with ap.NetworkInterface(scenario) as net:
        yield net


def nothing() -> None:
    """A callback that does nothing."""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_message_has_the_moments_of_a_sendrecv(engine: str) -> None:
    scenario = load_scenario({"engine": engine, "platform": {"ranks": 3}}, ["transport.receive_latency=40ns"])
    moments: dict[str, int] = {}
    with ap.NetworkInterface(scenario) as net:
        net.send(0, 2, 100_000, 7, on_sent=lambda: moments.update(sent=net.now()))
        net.recv(2, 0, 100_000, 7, lambda: moments.update(received=net.now()))
        net.run()
    message = one_collective(scenario, "sendrecv", 100_000, (0, 2)).run().messages.iloc[0]
    assert moments == {"sent": message["sent_ps"], "received": message["delivered_ps"]}
    assert net.messages.iloc[0]["acked_ps"] == message["acked_ps"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_receiver_is_told_at_the_transports_moment(engine: str) -> None:
    told: list[int] = []
    with network("transport.notify_on=acked", engine=engine) as net:
        net.send(0, 1, 5000, 0)
        net.recv(1, 0, 5000, 0, lambda: told.append(net.now()))
        net.run()
    assert told == [net.messages["acked_ps"].iloc[0]]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_receive_that_comes_late_is_told_at_once(engine: str) -> None:
    told: list[int] = []
    with network(engine=engine) as net:
        net.send(0, 1, 5000, 0)
        net.schedule(10**9, lambda: net.recv(1, 0, 5000, 0, lambda: told.append(net.now())))
        net.run()
    assert net.messages["delivered_ps"].iloc[0] < 10**9
    assert told == [10**9]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([(0, 1), (1, 0), (0, 2)])), min_size=1, max_size=12),
    st.data(),
)
def test_equal_calls_match_in_their_order_whichever_comes_first(
    messages: list[tuple[int, tuple[int, int]]], data: st.DataObject
) -> None:
    # the size tells which send it was, so that a receive out of order would be refused
    calls: list[tuple[str, int]] = [(what, i) for i in range(len(messages)) for what in ("send", "recv")]
    order: list[tuple[str, int]] = data.draw(st.permutations(calls))
    for what in ("send", "recv"):
        # those of one kind keep their order, in new places
        places = [k for k, call in enumerate(order) if call[0] == what]
        for i, place in enumerate(places):
            order[place] = (what, i)
    got: list[int] = []
    with network(engine="analytic", ranks=3) as net:
        for what, i in order:
            tag, (src, dst) = messages[i]
            if what == "send":
                net.send(src, dst, 1000 + i, tag)
            else:
                net.recv(dst, src, 1000 + i, tag, lambda i=i: got.append(i))  # type: ignore[misc]
        net.run()
    assert sorted(got) == list(range(len(messages)))


def test_a_message_of_nothing_arrives() -> None:
    told: list[int] = []
    with network() as net:
        net.send(0, 1, 0, 0)
        net.recv(1, 0, 0, 0, lambda: told.append(net.now()))
        net.run()
    assert len(told) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_timers_go_off_in_order_and_those_of_one_instant_as_they_were_set(engine: str) -> None:
    seen: list[tuple[str, int]] = []
    with network(engine=engine) as net:

        def note(name: str) -> Callable[[], None]:
            return lambda: seen.append((name, net.now()))

        net.schedule(20, note("c"))
        net.schedule(10, note("a"))
        net.schedule(10, note("b"))
        net.schedule(0, lambda: net.schedule(30, note("d")))
        net.run()
    assert seen == [("a", 10), ("b", 10), ("c", 20), ("d", 30)]


@pytest.mark.parametrize("engine", ENGINES)
def test_it_runs_on_after_a_run(engine: str) -> None:
    ends: list[int] = []
    with network(engine=engine) as net:
        for _ in range(3):
            net.send(0, 1, 4096, 1)
            net.recv(1, 0, 4096, 1, lambda: ends.append(net.now()))
            net.run()
        starts = net.messages["posted_ps"].tolist()
    durations = [end - start for start, end in zip(starts, ends, strict=True)]
    assert starts[0] < ends[0] <= starts[1] < ends[1] <= starts[2]
    assert durations[1] == durations[2]


def test_a_run_of_nothing_is_over() -> None:
    with network() as net:
        net.run()
        assert net.now() == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_calls_without_their_match_are_listed(engine: str) -> None:
    with network(engine=engine) as net:
        net.send(0, 1, 5000, 7)
        net.send(2, 1, 5, 7)
        net.recv(1, 2, 5, 7, nothing)
        net.recv(3, 2, 10, 8, nothing)
        with pytest.raises(DeadlockError) as caught:
            net.run()
    lines = str(caught.value).splitlines()
    assert "2 calls unfinished" in lines[0]
    assert lines[1:] == [
        "  send of 5,000 B from rank 0 to rank 1, tag 7, called at 0.000000 us: delivered, and no receive matches it",
        "  recv of 10 B from rank 2 to rank 3, tag 8, called at 0.000000 us: no send matches it",
    ]


def test_a_long_list_is_cut() -> None:
    with network() as net:
        for tag in range(50):
            net.recv(0, 1, 1, tag, nothing)
        with pytest.raises(DeadlockError, match=r"50 calls unfinished(?s:.*)and 10 more"):
            net.run()


def test_sizes_that_differ_are_refused_on_either_side() -> None:
    with network() as net:
        net.send(0, 1, 10, 3)
        with pytest.raises(ConfigError, match=r"recv of 11 B at rank 1 from rank 0, tag 3: its send has 10 B"):
            net.recv(1, 0, 11, 3, nothing)
        net.recv(2, 0, 7, 3, nothing)
        with pytest.raises(ConfigError, match=r"send of 8 B from rank 0 to rank 2, tag 3: its receive wants 7 B"):
            net.send(0, 2, 8, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda net: net.send(0, 4, 1, 0), "send: rank 4 is not on the platform; allowed: 0 to 3"),
        (lambda net: net.recv(-1, 0, 1, 0, nothing), "recv: rank -1 is not on the platform"),
        (lambda net: net.send(2, 2, 1, 0), "from rank 2 to itself"),
        (lambda net: net.send(0, 1, -1, 0), "a size of -1 B; allowed: 0 or more"),
        (lambda net: net.send(0, 1, 1.5, 0), "send: size_bytes is 1.5; allowed: a whole number"),
        (lambda net: net.send(0, 1, 1, "x"), "send: tag is 'x'"),
        (lambda net: net.send(0, 1, 1, 2**63), "send: tag is 9223372036854775808"),
        (lambda net: net.send(True, 1, 1, 0), "send: src is True"),
        (lambda net: net.send(0, 1, 1, 0, 5), "send: on_sent is 5; allowed: a callable"),
        (lambda net: net.recv(0, 1, 1, 0, None), "recv: on_received is None; allowed: a callable"),
        (lambda net: net.schedule(-1, nothing), "schedule: a delay of -1 ps"),
        (lambda net: net.schedule(2**60, nothing), "schedule: a delay of 1152921504606846976 ps"),
        (lambda net: net.schedule(1, None), "schedule: function is None"),
    ],
)
def test_what_is_not_allowed_says_so(call: Callable[[Any], None], message: str) -> None:
    with network() as net, pytest.raises(ConfigError) as caught:
        call(net)
    assert message in str(caught.value)


def test_numbers_of_numpy_are_numbers() -> None:
    with network() as net:
        net.send(np.int32(0), np.int64(1), np.int64(8), np.uint8(1))  # type: ignore[arg-type]
        net.recv(1, 0, 8, 1, nothing)
        net.run()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("where", ["sent", "received", "timer"])
def test_what_a_callback_raises_comes_out_of_run(engine: str, where: str) -> None:
    def fail() -> None:
        raise ZeroDivisionError(where)

    with network(engine=engine) as net:
        net.send(0, 1, 10_000, 0, fail if where == "sent" else None)
        net.recv(1, 0, 10_000, 0, fail if where == "received" else nothing)
        net.schedule(5, fail if where == "timer" else nothing)
        with pytest.raises(ZeroDivisionError, match=where):
            net.run()
        with pytest.raises(ConfigError, match="ended by an exception"):
            net.run()
        with pytest.raises(ConfigError, match="ended by an exception"):
            net.send(0, 1, 1, 0)
    # ns-3 is free again
    with network() as net:
        net.run()


def test_run_is_not_for_callbacks_nor_is_close() -> None:
    for call in ("run", "close"):
        with network() as net:
            net.schedule(1, getattr(net, call))
            with pytest.raises(ConfigError, match=r"under way|while it runs"):
                net.run()


def test_another_thread_cannot_use_it_while_it_runs() -> None:
    errors: list[str] = []

    def elsewhere() -> None:
        def use() -> None:
            try:
                net.send(0, 1, 1, 0)
            except ConfigError as error:
                errors.append(str(error))

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()

    with network() as net:
        net.schedule(1, elsewhere)
        net.run()
    assert errors == ["the network runs in another thread; only its callbacks can use it meanwhile"]


def test_it_holds_ns3_until_it_is_closed() -> None:
    with network() as net:
        with pytest.raises(ConfigError, match="already under way"), network():
            pass
        with network(engine="analytic") as beside:
            beside.run()
        net.run()
        assert len(net.node_ids) == 5
    net.close()
    with pytest.raises(ConfigError, match="closed"):
        net.now()
    with pytest.raises(ConfigError, match="closed"):
        net.run()
    assert net.messages.empty
    with network() as net:
        net.run()


@pytest.mark.parametrize(
    ("limit", "reason"), [("limits.max_time=2us", "time_limit"), ("limits.max_events=20", "event_limit")]
)
@pytest.mark.parametrize("engine", ENGINES)
def test_limits_hold(engine: str, limit: str, reason: str) -> None:
    with network(limit, engine=engine) as net:

        def again() -> None:
            net.schedule(10**6, again)

        again()
        net.send(0, 1, 10**6, 0)
        net.recv(1, 0, 10**6, 0, nothing)
        with pytest.raises(SimulationError) as caught:
            net.run()
    assert caught.value.reason == reason
    assert "tag 0, called at 0.000000 us: on its way" in str(caught.value)


def test_ns3_defaults_are_for_the_packet_engine() -> None:
    scenario = load_scenario({"engine": "analytic"}, ["ns3.defaults.ns3::TcpSocket::ConnCount=1000"])
    with pytest.raises(ConfigError, match="the analytic engine has no ns-3"):
        ap.NetworkInterface(scenario)


def test_a_network_is_that_of_a_scenario() -> None:
    with pytest.raises(ConfigError, match=r"as load_scenario\(\) makes one, not of \{'platform': 5\}"):
        ap.NetworkInterface({"platform": 5})  # type: ignore[arg-type]


def test_ways_of_a_hook_are_for_known_flows() -> None:
    scenario = load_scenario({"platform": {"ranks": 4}}, ["platform.routing=hook", "platform.routing_hook=mine.py:way"])
    with pytest.raises(ConfigError, match="'hook' chooses ways of flows that are known before a run, and a script's"):
        ap.NetworkInterface(scenario)


def test_switches_keep_room_for_the_priorities_in_use_only() -> None:
    scenario = load_scenario({"platform": {"ranks": 4}})
    with ap.NetworkInterface(scenario) as net:
        net.send(0, 1, 5000, 0)
        net.recv(1, 0, 5000, 0, nothing)
        net.run()
        found = net._native.counts()["node_buffer_bytes"]
    assert found.max() == one_collective(scenario, "sendrecv", 5000, (0, 1)).run().queues["buffer_bytes"].max()


@pytest.mark.parametrize("engine", ENGINES)
def test_conservation_is_checked(engine: str) -> None:
    with network(engine=engine) as net:
        net.send(0, 1, 10_000, 0)
        net.recv(1, 0, 10_000, 0, nothing)
        net.run()
        messages, counts = net._native.messages(), net._native.counts()
    require = network_module._require_conserved
    require(messages, counts)
    for name, error in (("rank_sent_payload_bytes", "rank 0"), ("rank_received_payload_bytes", "rank 1")):
        with pytest.raises(CheckError, match=rf"{error}: its messages have 10,000 B .* counted 9,999 B"):
            require(messages, {**counts, name: np.where(counts[name] > 0, 9999, 0)})
    with pytest.raises(CheckError, match=r"message 0 .*sent 10,000 B, delivered 9,999 B"):
        require({**messages, "delivered_bytes": np.array([9999])}, counts)


def test_lost_frames_are_sent_again_and_counted() -> None:
    with network("platform.link_loss=0.02", "seed=3") as net:
        for tag in range(20):
            net.send(0, 1, 40_000, tag)
            net.recv(1, 0, 40_000, tag, nothing)
        net.run()
        assert net.counters["dropped_frames"] > 0
        assert net.messages["retransmitted_packets"].sum() > 0
    assert (net.messages["delivered_bytes"] == 40_000).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_scenarios_workload_is_not_run(engine: str, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text('[workload]\nkind = "dlrm"\npreset = "dlrm_s"\n[platform]\nranks = 2\n')
    with ap.load(tmp_path / "job.toml", f"engine={engine}").network() as net:
        assert net.ranks == 2
        net.run()
        assert net.now() == 0
