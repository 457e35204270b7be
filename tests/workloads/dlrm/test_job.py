# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM job from a scenario: overrides, and what a run says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import astra_py as ap
from astra_py.cli.app import command
from astra_py.errors import WorkloadError
from dlrm_cases import job

MINE = Path(__file__).parents[3] / "workloads" / "dlrm_uneven_40.toml"


def test_the_scenarios_local_batch_wins() -> None:
    assert job(2, preset="dlrm_s").model.local_batch == 2048
    assert job(2, preset="dlrm_s", local_batch=64).model.local_batch == 64


def test_a_file_in_place_of_a_preset() -> None:
    one = job(16, file=str(MINE), iterations=1)
    assert one.model.name == "uneven_40"
    assert len(one.model.tables) == 40
    assert one.trace.iterations == 1
    with pytest.raises(WorkloadError, match=r"dlrm_2020\.txt: not TOML"):
        _ = job(2, file=str(MINE.with_name("dlrm_2020.txt"))).model


def test_the_shipped_model_is_uneven_on_16_ranks() -> None:
    one = job(16, file=str(MINE))
    sent = one.exchanges.pooled().copy()
    np.fill_diagonal(sent, 0)
    assert sent.sum(axis=1).max() / sent.sum(axis=1).min() == one.plan.imbalance == 2.75
    assert sent.sum(axis=1).tolist() == (15 * 512 * 2 * one.plan.rank_dims).tolist()


def test_notes_say_what_was_taken() -> None:
    model, plan, volumes, times, scaling = job(16, preset="dlrm_a_net", local_batch=256).notes
    assert "preset dlrm_a_net: DLRM dlrm_a_net, bottom MLP 3994x11, 970 tables" in model
    assert "sum of dims of 90,210, concatenation to 94,204, projected to 3,994, top MLP 3994x10" in model
    assert "local batch 256, global 4096" in model
    assert "60 to 61 tables a rank, sum of dims 5,580 to 5,673" in plan
    assert "max/min over ranks 1.02" in plan
    assert "of an accelerator's 40 GB" in plan
    assert "pooled vectors in 46.19 MB (256 x 90210 x 2 B)" in volumes
    assert "(15892480 x 8 B + 248320 x 4 B), sent before the lookup" in volumes
    assert "20 all-reduces of 1.276 GB together" in volumes
    assert "roofline of A100-40: 0.705 of 156 TFLOP/s tf32, 0.836 of 1555 GB/s" in times
    assert times.endswith("no time for: biases, projections, the dense weights' update")
    assert "with the number of ranks go: the global batch" in scaling
    assert "fixed by the description: the local batch, tables, MLPs" in scaling


def test_notes_of_ranks_without_tables_and_of_scales() -> None:
    _, plan, volumes, times, _ = job(
        16, preset="dlrm_s", comm_scale=0.5, compute_scale=2, index_exchange="prefetched"
    ).notes
    assert "8 of 16 ranks send no all-to-all-v forward, the others up to" in plan
    assert "sums of dims by rank: 64 64 64 64 64 64 64 64 0 0 0 0 0 0 0 0" in plan
    # 64 dims of 2,048 samples to 15 others, 4 B each, halved
    assert "the others up to 3.932 MB" in plan
    assert "scaled by 0.5" in volumes
    assert "sent in the iteration before" in volumes
    assert "scaled by 2" in times
    assert "B), not sent: workload.index_exchange" in job(2, preset="dlrm_s", index_exchange="none").notes[2]
    assert "fixed by the model's file" in job(2, preset="astra2020").notes[3]


def test_tables_that_do_not_fit() -> None:
    with pytest.raises(
        WorkloadError, match=r"preset dlrm_a_net: 970 tables need 375.3 GB of memory on 8 ranks.* at least 11 ranks"
    ):
        _ = job(8, preset="dlrm_a_net").trace


def test_tables_in_many_ways_are_summed_up() -> None:
    one = job(8, preset="criteo_terabyte", sharding="row_wise", volumes="pooled")
    plan, volumes, by_rows = one.notes[1:4]
    assert plan.startswith("tables are 26 row_wise, costliest table first: 2")
    assert "no rank sends vectors in an all-to-all-v forward, all are added up" in plan
    assert volumes.startswith("a rank and iteration, its own part included: indices and lengths out")
    # 8 ranks x 2,048 samples x 64 x 4 B of each of 26 tables, by those that have as many rows as ranks or fewer
    assert "together forward and all-gather as many elements backward" in by_rows
    whole = job(8, preset="criteo_terabyte", sharding="data_parallel")
    assert "tables are 26 data_parallel" in whole.notes[1]
    assert "and 26 data-parallel tables of" in whole.notes[2]
    assert "data-parallel tables" in whole.notes[3]


def test_volumes_that_are_not_physical_are_said_to_be() -> None:
    notes = job(8, preset="dlrm_s", volumes="mad_max").notes
    assert any(
        "workload.volumes = 'mad_max': bytes of vectors are those of all looked-up rows" in note for note in notes
    )


def test_dlrm_f_needs_rows_and_host_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = (Path(__file__).parents[3] / "workloads" / "dlrm_f_128.toml").read_text()
    for removed, reason in (
        (("host_memory = ",), r"64 tables need 23.99 TB of memory on 128 ranks, and an accelerator has 40 GB"),
        (("host_memory = ", "sharding = "), r"table 'table_0' needs 374.8 GB of one rank's memory"),
    ):
        scenario = tmp_path / "f.toml"
        scenario.write_text("\n".join(line for line in base.splitlines() if not line.startswith(removed)))
        with pytest.raises(SystemExit) as ended:
            command(["run", str(scenario), "--dry-run"])
        assert ended.value.code == 2
        assert reason in " ".join(capsys.readouterr().err.split())


def test_dlrm_f_runs_with_both() -> None:
    run = ap.load(Path(__file__).parents[3] / "workloads" / "dlrm_f_128.toml")
    assert any("38" in note and "GB in its host's memory" in note for note in run.notes)
    names = {call.name for call in run.trace.calls}
    assert {"embedding.indices", "embedding.partial_sums", "embedding.gathered_gradients"} <= names
    scattered = next(call for call in run.trace.calls if call.name == "embedding.partial_sums")
    assert scattered.size_bytes == 128 * 512 * 64 * 256 * 2


def test_tables_too_narrow_for_columns_are_told_of() -> None:
    """No shard has fewer than 128 columns: those of 256 alone are divided."""
    one = job(16, file=str(MINE), sharding="column_wise")
    narrow = sum(table.dim < 256 for table in one.model.tables)
    assert 0 < narrow < 40
    assert f"tables are 40 column_wise ({narrow} of those column_wise in one piece)" in " ".join(one.notes)
    assert "in one piece" not in " ".join(job(16, file=str(MINE)).notes)
