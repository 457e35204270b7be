# SPDX-License-Identifier: GPL-2.0-only
"""The large job: ``dlrm_a_net`` on 16 nodes of eight accelerators, what it costs and one iteration of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astra_py as ap
from astra_py.cli.app import command

RANKS = 128
#: 512 samples x 970 tables of 93 x 2 B, which each rank receives forward and sends backward, its own part included.
EXCHANGE_BYTES = 92_375_040
JOB: dict[str, dict[str, Any]] = {
    "platform": {"kind": "zionex", "nodes": 16, "accelerator": "A100-40", "link_rate": "200Gbps"},
    "collective": {"all_reduce": "hierarchical", "all_to_all_v": "hierarchical"},
    "workload": {"kind": "dlrm", "preset": "dlrm_a_net", "iterations": 1},
}


def test_a_dry_run_says_what_it_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        for table, keys in JOB.items()
    )
    path = tmp_path / "a_net.toml"
    path.write_text(text)
    with pytest.raises(SystemExit) as ended:
        command(["run", str(path), "--dry-run"])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.err) == (0, "")
    words = {line.split()[0]: line for line in printed.out.splitlines()[1:] if line}
    assert {"ranks", "messages", "packets", "packet-hops", "CPU", "memory"} <= set(words)
    assert words["ranks"].split()[-1] == "128"
    assert words["packets"].split()[-1] == "104,166,372"


def test_each_rank_receives_and_sends_92_4_mb() -> None:
    calls = {call.name: call.matrix for call in ap.load(JOB).trace.calls if call.kind == "all_to_all_v"}
    pooled, gradients = calls["embedding.pooled"], calls["embedding.gradients"]
    assert pooled is not None
    assert gradients is not None
    assert pooled.sum(axis=0).tolist() == [EXCHANGE_BYTES] * RANKS
    assert gradients.sum(axis=1).tolist() == [EXCHANGE_BYTES] * RANKS
    # what it sends forward depends on its 7 or 8 tables; together it is as much
    assert pooled.sum() == gradients.sum() == EXCHANGE_BYTES * RANKS
    assert 0.9 * EXCHANGE_BYTES < pooled.sum(axis=1).min() < pooled.sum(axis=1).max() < 1.1 * EXCHANGE_BYTES


def require_whole(job: ap.Run) -> None:
    """Run one iteration at packet level: it ends, every check passes, and packets are those that were foreseen."""
    estimate = job.estimate()
    result = job.run()
    assert all(check.passed for check in result.checks)
    assert len(result.iterations) == 1
    counters = result.manifest["counters"]
    assert counters["packets"] == estimate.packets
    assert counters["packet_hops"] == estimate.packet_hops
    assert len(result.messages) == estimate.messages
    links = result.links[result.links["link_class"] == "host"]
    up = links[links["from"].str.startswith("rank")]["payload_bytes"].to_numpy()
    down = links[links["to"].str.startswith("rank")]["payload_bytes"].to_numpy()
    assert np.array_equal(up.sum(), down.sum())
    assert up.sum() == result.phases.set_index("level").loc["between", "size_bytes"].sum()


def test_an_iteration_of_a_thousandth_of_the_bytes_ends() -> None:
    require_whole(ap.load(JOB, "workload.comm_scale=0.001"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_whole_iteration_ends() -> None:
    """104 million packets: about 150 s of CPU."""
    require_whole(ap.load(JOB))
