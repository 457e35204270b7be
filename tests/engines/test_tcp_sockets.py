# SPDX-License-Identifier: GPL-2.0-only
"""What is counted of TCP is what ns-3's own trace sources tell, heard by a library that is compiled here."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import astra_py as ap
from astra_py import interop
from behaviour.flows import Flow, FlowRun, incast

SOURCE = Path(__file__).parent.parent / "tcp_sockets.cc"
COUNTS = (
    "sockets",
    "data_segments",
    "empty_segments",
    "sent_bytes",
    "retransmissions",
    "received_segments",
    "received_empty",
    "received_bytes",
    "echoed_marks",
)
#: As the wheel was built; the classes' layouts depend on it.
DEFINED = ("NS3_BUILD_PROFILE_RELEASE", "NS3_LOG_ENABLE", "NS3_ASSERT_ENABLE")
TCP = ("transport.kind=tcp", "platform.ranks=5", "transport.tcp.mtu=1500B")
CASES = {
    "clean": ([Flow(0, 1, 1_000_000), Flow(2, 3, 1), Flow(3, 2, 50_000)], ()),
    "marked": (incast(4, 1_000_000), ("switch.ecn_kmin=50kB", "switch.ecn_kmax=50kB", "switch.buffer=16MB")),
    "refused": (
        incast(4, 1_000_000),
        ("transport.congestion_control=cubic", "transport.tcp.ecn=false", "switch.buffer=100kB"),
    ),
    "lost": (incast(4, 1_000_000), ("platform.link_loss=0.01",)),
    "several": (
        [Flow(src, dst, 100_000) for src in range(5) for dst in range(5) if src != dst for _ in range(4)],
        ("transport.tcp.sockets_per_peer=3", "transport.tcp.delayed_ack=1"),
    ),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Our ear, in this process and on its ns-3."""
    compiler = shutil.which("g++")
    wheel = find_spec("ns3")
    if compiler is None or wheel is None or not wheel.submodule_search_locations:
        pytest.skip("there is no g++ to compile with, or no ns3 wheel to compile against")
    root = Path(wheel.submodule_search_locations[0])
    made = tmp_path_factory.mktemp("tcp") / "libtcp_sockets.so"
    command = [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-isystem", str(root / "include"), str(SOURCE)]
    command += ["-o", str(made), f"-L{root / 'lib64'}", "-lns3.44-internet", "-lns3.44-core"]
    command += ["-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{root / 'lib64'}", *(f"-D{name}" for name in DEFINED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    import astra_py._ns3_ext  # noqa: F401  (its ns-3 first: it sets the resolution of time)

    loaded = ctypes.CDLL(str(made))
    loaded.SocketCounts.restype = ctypes.POINTER(ctypes.c_uint64 * len(COUNTS))
    return loaded


def heard(library: ctypes.CDLL, case: str) -> tuple[ap.Result, dict[str, int]]:
    """A run, and what sockets told meanwhile."""
    flows, keys = CASES[case]
    own = {key.partition("=")[0]: key for key in (*TCP, *keys)}
    with interop.built(FlowRun(flows, *own.values())) as simulation:
        library.ConnectSockets()
        result = simulation.run()
    return result, dict(zip(COUNTS, library.SocketCounts().contents, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_segments_acks_and_repetitions_are_those_of_ns3(case: str, library: ctypes.CDLL) -> None:
    result, counts = heard(library, case)
    counters = result.counters
    assert counts["sockets"] > 0
    assert counts["data_segments"] == counters["packets"] + counters["repeated_packets"]
    assert counts["empty_segments"] == counters["acks"]
    assert counts["retransmissions"] == counters["repeated_packets"]
    assert (counts["retransmissions"] > 0) == (case in ("refused", "lost"))
    assert counts["echoed_marks"] > 0 or case != "marked"
    dropped = int(result.links["dropped_frames"].sum() + result.queues["refused_frames"].sum())
    sent, received = (counts[f"{one}_segments"] for one in ("data", "received"))
    # what comes a second time and is below the window, ns-3 answers without telling of it
    missed = sent + counts["empty_segments"] - received - counts["received_empty"] - dropped
    assert 0 <= missed <= counters["repeated_packets"]
    sizes = int(result.messages["size_bytes"].sum())
    assert counts["received_bytes"] >= sizes if case in ("refused", "lost") else counts["received_bytes"] == sizes


@pytest.mark.parametrize("case", CASES)
def test_the_table_of_sockets_adds_up_to_them(case: str, library: ctypes.CDLL) -> None:
    result, counts = heard(library, case)
    sockets = result.sockets
    assert sockets["segments"].sum() == counts["data_segments"]
    assert sockets["acks"].sum() == counts["received_empty"]
    assert sockets["retransmitted_segments"].sum() == counts["retransmissions"]
    assert sockets["timeouts"].sum() == result.counters["timeouts"]


def test_who_listens_changes_nothing(library: ctypes.CDLL) -> None:
    result, _ = heard(library, "lost")
    flows, keys = CASES["lost"]
    assert FlowRun(flows, *TCP, *keys).run().messages.equals(result.messages)
