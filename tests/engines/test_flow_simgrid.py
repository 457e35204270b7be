# SPDX-License-Identifier: GPL-2.0-only
"""The flow engine beside the fluid network model of SimGrid (CM02), a program of which is compiled here.

CM02 is told to be what flows are here: no traffic on the way back, no limit by a TCP window, no weights by latency or
rate, no factors. Debian's libsimgrid-dev 3.32 has what is needed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.flow import FlowEngine
from astra_py.engines.resolve import engine_options
from astra_py.platforms.platform import Platform
from flow_cases import MB, PLAIN, Message, flows_of, network, of_messages, rates_of, run_messages, star
from reference_flow import Flow

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parent.parent / "simgrid_flows.cc"
MODEL = {
    "network/model": "CM02",
    "network/crosstraffic": "0",
    "network/TCP-gamma": "0",
    "network/weight-S": "0",
    "network/latency-factor": "1",
    "network/bandwidth-factor": "1",
    "surf/precision": "1e-15",
    "maxmin/precision": "1e-12",
}


@pytest.fixture(scope="module")
def simgrid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++ to compile a SimGrid program with")
    program = tmp_path_factory.mktemp("simgrid") / "flows"
    command = [compiler, "-std=c++17", "-O1", str(SOURCE), "-o", str(program), "-lsimgrid"]
    probe = subprocess.run(
        [compiler, "-E", "-x", "c++", "-"], input="#include <simgrid/s4u.hpp>", capture_output=True, text=True
    )
    if probe.returncode != 0:
        pytest.skip("SimGrid's headers are not installed (Debian: libsimgrid-dev)")
    subprocess.run(command, check=True, capture_output=True)
    return program


def ends_in_simgrid_s(
    program: Path, flows: Sequence[Flow], ends: Sequence[tuple[int, int]], rates: dict[int, int]
) -> list[float]:
    """When each flow ends in SimGrid, of flows with the source and destination ``ends``."""
    routes = {pair: flow.channels for pair, flow in zip(ends, flows, strict=True)}
    lines = [f"{1 + max(max(pair) for pair in ends)} {len(rates)} {len(routes)} {len(flows)}"]
    lines += [repr(rates[channel] / 8) for channel in range(len(rates))]
    lines += [f"{a} {b} {len(way)} {' '.join(map(str, way))}" for (a, b), way in routes.items()]
    lines += [f"{a} {b} {flow.start_ps / 1e12!r} {flow.line_bytes}" for (a, b), flow in zip(ends, flows, strict=True)]
    options = [f"--cfg={key}:{value}" for key, value in MODEL.items()]
    done = subprocess.run([program, *options], input="\n".join(lines), capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    found = {int(number): float(end) for number, end in rows}
    return [found[i] for i in range(len(flows))]


def require_agreement(program: Path, platform: Platform, messages: list[Message]) -> None:
    flows = flows_of(platform, messages, 0)
    ends = [(message.src, message.dst) for message in messages]
    theirs = ends_in_simgrid_s(program, flows, ends, rates_of(platform))
    columns = run_messages(platform, messages, replace(PLAIN, qps_per_peer=0))
    ours = of_messages(platform, messages, columns, "sent_ps") / 1e12
    assert ours.tolist() == pytest.approx(theirs, rel=1e-6)


def test_sharing_by_hand(simgrid: Path) -> None:
    require_agreement(simgrid, star([100] * 3), [Message(0, 2, MB), Message(1, 2, 2 * MB, 10_000_000)])
    chain = network(3, 3, [(0, 3, 400), (1, 4, 400), (2, 5, 400), (3, 4, 100), (4, 5, 40)])
    require_agreement(simgrid, chain, [Message(0, 2, MB), Message(0, 1, MB), Message(1, 2, MB)])
    require_agreement(simgrid, star([100] * 9), [Message(rank, 8, MB, rank * 7_000_000) for rank in range(8)])


@pytest.mark.parametrize("seed", range(5))
def test_random_networks_and_arrivals(simgrid: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks, leaves, spines = 16, 4, int(rng.integers(1, 4))
    rates = [25, 40, 100, 400]
    links = [(rank, ranks + rank % leaves, int(rng.choice(rates))) for rank in range(ranks)]
    links += [
        (ranks + leaf, ranks + leaves + spine, int(rng.choice(rates)))
        for leaf in range(leaves)
        for spine in range(spines)
    ]
    messages = [
        Message(src, dst, int(rng.integers(10**4, 10**7)), int(rng.integers(0, 10**9)))
        for src, dst in (rng.choice(ranks, 2, replace=False).tolist() for _ in range(300))
    ]
    require_agreement(simgrid, network(ranks, leaves + spines, links), messages)


def test_an_all_to_all_over_colliding_ways(simgrid: Path) -> None:
    """A whole collective on a leaf-spine platform, headers and hashed routes as in any run."""
    keys = ["engine=flow", "platform.kind=leaf_spine", "platform.ranks=32", "platform.ranks_per_leaf=8"]
    job = one_collective(load_scenario({}, keys), "all_to_all", 32 * 8192)
    columns = FlowEngine().run(job.schedule, job.platform, job.transport, engine_options(job.scenario))
    messages = [
        Message(int(a), int(b), 2 * (4096 + 82) + 16)
        for a, b in zip(columns.message_src, columns.message_dst, strict=True)
    ]
    ends = [(message.src, message.dst) for message in messages]
    theirs = ends_in_simgrid_s(simgrid, flows_of(job.platform, messages, 0), ends, rates_of(job.platform))
    assert (columns.message_sent_ps / 1e12).tolist() == pytest.approx(theirs, rel=1e-6)
