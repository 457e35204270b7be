# SPDX-License-Identifier: GPL-2.0-only
"""Bad scenarios of ``workload.kind = "dlrm"``: each is refused with its key path, its value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra_py.cli.app import command
from astra_py.config import load_scenario
from astra_py.config.workload import dlrm_presets
from astra_py.errors import ConfigError

DLRM = "workload.kind=dlrm"
PRESET = "workload.preset=dlrm_s"

BAD = {
    "kind unknown": (("workload.kind=dlmr",), "workload.kind: 'dlmr'", "did you mean 'dlrm'?", "'file' or 'dlrm'"),
    "no model": (
        (DLRM,),
        "workload.file: missing",
        "astra2020, criteo_1tb_torchrec, criteo_terabyte, dlrm_a, dlrm_a_net, dlrm_f, dlrm_i, dlrm_s",
    ),
    "preset unknown": ((DLRM, "workload.preset=dlrm_b"), "workload.preset: 'dlrm_b'", "did you mean 'dlrm_", "'none'"),
    "preset of a file job": (
        (PRESET, "workload.file=x"),
        "workload.preset: 'dlrm_s'",
        "only with workload.kind = 'dlrm'",
    ),
    "preset and file": ((DLRM, PRESET, "workload.file=x"), "workload.file: 'x'", "only with workload.preset = 'none'"),
    "file absent": ((DLRM, "workload.file=no/such.toml"), "workload.file: 'no/such.toml' is not a file"),
    "format of a model": ((DLRM, PRESET, "workload.format=astra_text"), "workload.format", "workload.kind = 'file'"),
    "unit of a model": ((DLRM, PRESET, "workload.compute_unit=1us"), "workload.compute_unit: '1us'", "kind = 'file'"),
    "batch of a file": (("workload.file=x", "workload.local_batch=4"), "workload.local_batch: 4", "kind = 'dlrm'"),
    "batch of 0": ((DLRM, PRESET, "workload.local_batch=0"), "workload.local_batch: 0", "'model' or a whole number"),
    "peak of 0": ((DLRM, PRESET, "workload.flops_efficiency=0"), "workload.flops_efficiency: 0", "above 0 to 1"),
    "above the peak": ((DLRM, PRESET, "workload.memory_efficiency=1.1"), "memory_efficiency: 1.1", "above 0 to 1"),
    "index order": ((DLRM, PRESET, "workload.index_exchange=prefetch"), "'prefetch'", "mean 'prefetched'?"),
    "two batches": (
        (DLRM, PRESET, "workload.local_batch=4", "workload.global_batch=64"),
        "workload.global_batch: 64 beside workload.local_batch = 4",
        "one of the two",
    ),
    "remainder of nothing": (
        (DLRM, PRESET, "workload.remainder=drop"),
        "workload.remainder: 'drop' would mean nothing with workload.global_batch = 'none'",
        "only with a workload.global_batch",
    ),
    "remainder unknown": (
        (DLRM, PRESET, "workload.global_batch=64", "workload.remainder=pad"),
        "workload.remainder: 'pad'",
        "'error' or 'spread' or 'drop'",
    ),
    "no micro-batch": ((DLRM, PRESET, "workload.micro_batches=0"), "workload.micro_batches: 0", "from 1 to 1024"),
    "ordering of a file": (("workload.file=x", "workload.ordering=neo"), "workload.ordering: 'neo'", "kind = 'dlrm'"),
    "ordering unknown": ((DLRM, PRESET, "workload.ordering=madmax"), "'madmax'", "did you mean 'mad_max'?"),
    "bucket of nothing": ((DLRM, PRESET, "workload.bucket=0B"), "workload.bucket: '0B'", "'layer' or a size"),
    "optimizer unknown": ((DLRM, PRESET, "workload.optimizer=adamw"), "'adamw'", "did you mean 'adam'?"),
    "unit of a rate": ((DLRM, PRESET, "workload.host_memory_bandwidth=25"), "host_memory_bandwidth: 25", "a rate"),
    "rate of no host memory": (
        (DLRM, PRESET, "workload.host_memory_bandwidth=1GB/s"),
        "workload.host_memory_bandwidth: '8Gbps' would mean nothing",
        "a workload.host_memory",
    ),
    "least columns of whole tables": (
        (DLRM, PRESET, "workload.sharding=row_wise", "workload.min_shard_dim=64"),
        "workload.min_shard_dim: 64 would mean nothing",
        "workload.sharding = 'column_wise'",
    ),
    "unknown key": ((DLRM, PRESET, "workload.local_bach=3"), "workload.local_bach", "mean 'workload.local_batch'?"),
}

every_bad_dlrm = pytest.mark.parametrize("rule", BAD, ids=lambda rule: rule.replace(" ", "-"))


@every_bad_dlrm
def test_refused(rule: str) -> None:
    overrides, *parts = BAD[rule]
    with pytest.raises(ConfigError) as caught:
        load_scenario({}, overrides)
    for part in parts:
        assert part in str(caught.value), str(caught.value)


@every_bad_dlrm
def test_exit_code_2(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overrides, *parts = BAD[rule]
    scenario = tmp_path / "scenario.toml"
    scenario.write_text("")
    with pytest.raises(SystemExit) as exit_of:
        command(["run", str(scenario), *overrides, "--dry-run"])
    printed = capsys.readouterr()
    assert exit_of.value.code == 2
    assert parts[0] in printed.err
    assert printed.out == ""


def test_a_bad_model_file_is_exit_2_with_file_and_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.toml"
    model.write_text('bottom = [4, 2]\ntop = [1]\ninteraction = "dott"\n')
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('[workload]\nkind = "dlrm"\nfile = "model.toml"\n')
    with pytest.raises(SystemExit) as exit_of:
        command(["run", str(scenario), "--dry-run"])
    assert exit_of.value.code == 2
    assert "model.toml: interaction: 'dott' is unknown; did you mean 'dot'?" in capsys.readouterr().err


@pytest.mark.parametrize("preset", dlrm_presets())
def test_a_resolved_scenario_loads_to_the_same(preset: str) -> None:
    scenario = load_scenario({}, [DLRM, f"workload.preset={preset}"])
    assert load_scenario(scenario.resolved()) == scenario
    assert "file" not in scenario.resolved()["workload"]
    assert len({scenario.digest, load_scenario({}, [DLRM, PRESET, "workload.local_batch=7"]).digest}) == 2


def test_the_digest_is_that_of_the_models_bytes(tmp_path: Path) -> None:
    texts = ["bottom = [1, 2]", "bottom = [1, 3]"]
    digests = set()
    for text in texts:
        (tmp_path / "model.toml").write_text(text)
        digests.add(load_scenario({}, [DLRM, f"workload.file={tmp_path / 'model.toml'}"]).digest)
    assert len(digests) == 2
