# SPDX-License-Identifier: GPL-2.0-only
"""Formats by name and by content: each file is of one, what is none says what it is, and a further one is one file."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.errors import ConfigError, TopologyError, WorkloadError
from astra_py.formats import Kind, convert, find_format, format_names, inspect, read, recognise
from formats import samples

FOREIGN = {
    "empty": (b"", "is empty"),
    "kineto.json": (
        json.dumps({"schemaVersion": 1, "traceEvents": [{"ph": "X"}]}).encode(),
        r"is a Chrome trace, as Py",
    ),
    "gzip.json.gz": (gzip.compress(b'{"traceEvents": []}'), "is a Chrome trace"),
    "other.gz": (gzip.compress(b"anything"), "is a gzip of something"),
    "broken.gz": (b"\x1f\x8b\x08garbage", "is a gzip of something"),
    "pickle.pkl": (b"\x80\x04\x95\x00", "is a Python pickle"),
    "torch.pt": (b"PK\x03\x04rest", "is a zip archive"),
    "report.sqlite": (b"SQLite format 3\0", "is an SQLite database"),
    "table.parquet": (b"PAR1", "is a Parquet file"),
    "binary.bin": (bytes(range(256)), "is a binary file, perhaps protobuf"),
    "topology.xml": (b'<system version="1"></system>', "is a node's topology as NCCL writes it"),
    "model.toml": (
        b'name = "a"\nbottom = [13, 8]\n[[tables]]\nrows = 9\n',
        r"is a DLRM's description \(TOML\); .*'dlrm'",
    ),
    "drawn.toml": (
        b"bottom = [13, 8]\n[generator]\ncount = 9\n",
        r"is a DLRM's description \(TOML\)",
    ),
    "program.xml": (b'<algo name="ring"></algo>', r"is an MSCCL program .* collective\.KIND = 'file:PATH\.xml'"),
    "page.xml": (b"<html></html>", "is XML"),
    "other.json": (b'{"a": 1}', "is JSON of another sort"),
    "simai.txt": (b"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1\n2\n", "is a SimAI workload"),
    "mlps.toml": (b"# a model\nbottom=[13, 64]\ntop = [64, 1]\n", "is a DLRM's description .*workload.kind = 'dlrm'"),
    "tables.csv": (b"name, rows, dim, pooling, dtype\na,10,64,1,fp32\n", "is a DLRM's tables"),
    "prose.txt": (b"Dear reader,\n", "is not recognised"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_others_files_are_is_said(tmp_path: Path, name: str) -> None:
    data, message = FOREIGN[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(WorkloadError, match=rf"{name}: {message}.*; allowed: .*'astra_text'"):
        recognise(path)


@pytest.mark.parametrize("name", samples.NAMES)
def test_each_sample_is_of_one_format(tmp_path: Path, name: str) -> None:
    assert recognise(samples.write(tmp_path, name)).name == name


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_file_of_another_kind_is_named(tmp_path: Path, name: str) -> None:
    path = samples.write(tmp_path, name)
    found = find_format(name)
    other = Kind.PLAN if found.kind is not Kind.PLAN else Kind.MEASUREMENTS
    with pytest.raises(WorkloadError, match=f"a {found.kind} file, and a {other} file is needed"):
        recognise(path, other)
    with pytest.raises(ConfigError, match=f"format '{name}' is of {found.kind} files"):
        read(path, name, kinds=(other,))


@pytest.mark.parametrize("name", samples.NAMES)
def test_each_reader_says_that_a_file_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises((WorkloadError, TopologyError, ConfigError), match="nothing"):
        read(tmp_path / "nothing", name)


def test_a_platform_is_wanted_and_a_workload_given(tmp_path: Path) -> None:
    path = samples.write(tmp_path, "astra_text")
    with pytest.raises(TopologyError, match=r"is ASTRA-sim 1\.0 text, a workload file, and a platform file is needed"):
        ap.load({"platform": {"kind": "file", "file": str(path)}, "workload": {"file": str(path)}}).run()


def test_names() -> None:
    assert {"astra_text", "astra_network", "ns3_topology", "roce_config", "hpcc_flows"} <= set(format_names())
    assert format_names(Kind.FLOWS) == ("hpcc_flows",)
    with pytest.raises(ConfigError, match=r"unknown format 'astra_txt'; allowed: .*; did you mean 'astra_text'"):
        find_format("astra_txt")


OWN = """
from astra_py.formats import Document, Format, Kind, register_format
from astra_py.workloads import CollectiveCall, Job, TraceBuilder

def job(size):
    def make(scenario, ranks):
        build = TraceBuilder(ranks)
        build.collective(CollectiveCall(name="x", kind="all_reduce", group=tuple(range(ranks)), size_bytes=size))
        return Job(build.build())
    return make

def read(path, options):
    return Document(format="tiny", path=path, content=job(int(path.read_text())), summary=("tiny",))

register_format(Format(name="tiny", title="tiny", kind=Kind.WORKLOAD, recognises=lambda path, head: False, read=read))
"""


def test_a_format_of_ones_own_is_one_file(tmp_path: Path) -> None:
    own, workload = tmp_path / "own.py", tmp_path / "job.tiny"
    own.write_text(OWN)
    workload.write_text("4096")
    run = ap.load({"platform": {"ranks": 4}, "workload": {"file": str(workload), "format": f"file:{own}"}})
    assert run.run().collectives.size_bytes.tolist() == [4096]
    assert inspect(workload, f"file:{own}").format == "tiny"
    said = convert(workload, tmp_path / "out.et", format=f"file:{own}", ranks=4)
    assert said[-1] == f"{tmp_path}/out.0.et to out.3.et: 4 nodes of 4 ranks"


@pytest.mark.skipif("ASTRA_PY_SAMPLES" not in os.environ, reason="ASTRA_PY_SAMPLES names no folder of public samples")
def test_public_samples_are_read() -> None:
    folder = Path(os.environ.get("ASTRA_PY_SAMPLES", ""))
    expected = {
        "DLRM_HybridParallel.txt": "astra_text",
        "hgx_h100_16gpu.network.yml": "astra_network",
        "hgx_h100_16gpu.system.json": "astra_system",
    }
    for name, format in expected.items():
        assert inspect(folder / name).format == format
