# SPDX-License-Identifier: GPL-2.0-only
"""Memory of long runs: a collective that is over leaves a row a message, and nothing else.

Each run has a process of its own, whose peak is its own: ``VmHWM``, as ``getrusage`` counts what started it, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

#: Chained all-reduces on a platform, then the most memory of the process in kB and the number of messages.
CHAIN = """
import json, sys
from pathlib import Path
from astra_py.collectives import lower
from astra_py.config import load_scenario
from astra_py.engines.registry import make_engine
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.platforms import build_platform
from astra_py.workloads import CollectiveCall, TraceBuilder

engine, count, algorithm, *overrides = sys.argv[1:]
scenario = load_scenario({}, overrides)
platform = build_platform(scenario.platform)
build, done, group = TraceBuilder(platform.ranks), None, tuple(range(platform.ranks))
for _ in range(int(count)):
    call = CollectiveCall(name="r", kind="all_reduce", group=group, size_bytes=10**6, algorithm=algorithm)
    done = build.collective(call, after=done)
schedule = lower(build.build(), rank_machine=platform.arrays().rank_machine)
columns = make_engine(engine).run(schedule, platform, transport_model(scenario), engine_options(scenario))
status = Path("/proc/self/status").read_text()
peak_kb = int(status.partition("VmHWM:")[2].split()[0])
print(json.dumps([peak_kb, len(columns.message_op), columns.exit_reason, columns.counters["peak_instances"]]))
"""
#: 11 columns of the table of messages; the log has its room from the start.
ROW_BYTES = 72


def chain(engine: str, count: int, algorithm: str, *overrides: str) -> tuple[int, int]:
    """Most memory in bytes, and messages."""
    command = [sys.executable, "-c", CHAIN, engine, str(count), algorithm, *overrides]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    peak_kb, messages, reason, instances = json.loads(printed)
    assert reason == "completed"
    assert instances <= 2, "a rank may be in the next one when another still is in the last"
    return peak_kb * 1024, messages


@pytest.mark.parametrize("engine", ["packet", "flow", "analytic"])
def test_a_hundred_all_reduces_need_no_more_memory_than_ten(engine: str) -> None:
    (ten, _), (hundred, messages) = (chain(engine, count, "ring", "platform.ranks=8") for count in (10, 100))
    assert messages == 100 * 8 * 14
    assert hundred < 1.05 * ten


def test_a_hundred_hierarchical_ones_neither() -> None:
    (ten, _), (hundred, _) = (chain("packet", count, "hierarchical", "platform.kind=zionex") for count in (10, 100))
    assert hundred < 1.05 * ten


def test_a_collective_that_is_over_leaves_its_messages_rows() -> None:
    few, many = (chain("packet", count, "direct", "platform.ranks=32") for count in (10, 100))
    rows = (many[1] - few[1]) * ROW_BYTES
    assert many[0] - rows < 1.05 * few[0]


def test_peak_memory_is_that_of_the_run_not_of_what_started_it(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text("[workload]\nkind = 'dlrm'\npreset = 'astra2020'\n")
    held = np.ones(50_000_000)
    code = "import sys; from astra_py.cli import main; main()"
    command = [sys.executable, "-c", code, "run", str(scenario), "--json", "--quiet"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (row,) = printed.splitlines()
    assert json.loads(row)["run"]["peak_rss_bytes"] < held.nbytes / 2
