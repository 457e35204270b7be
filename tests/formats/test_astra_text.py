# SPDX-License-Identifier: GPL-2.0-only
"""The format of ASTRA-sim 1.0's text files: recognised, read, damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

import astra_py as ap
from astra_py.formats import ASTRA_TEXT, Kind, read, recognise
from formats.mutations import FEW, MANY, survives

TEXT = (
    "HYBRID_DLRM 1\n4\n"
    "embedding -1 300 ALLTOALL 98304 300 ALLTOALL 98304 300 NONE 0 98\n"
    "bottom -1 1280 NONE 0 794 NONE 0 896 ALLREDUCE 13312 13\n"
    "top_0\t-1\t6400\tNONE\t0\t6400\tNONE\t0\t4480\tALLREDUCE\t1064960\t1065\n"
    "top_1 -1 2560 NONE 0 2560 NONE 0 1792 REDUCESCATTER 524288 524"
)
#: The other parallelisms, of two layers each.
LAYERS = "a -1 3 ALLREDUCE 40 4 ALLTOALL 50 5 ALLGATHER 60 6{}\nb -1 3 NONE 0 4 NONE 0 5 ALLREDUCE 70 6{}\n"
OTHERS = {
    "MICRO": LAYERS.format("", ""),
    "MODEL": LAYERS.format("", ""),
    "HYBRID_TRANSFORMER model_parallel_NPU_group: 4": LAYERS.format("", ""),
    "HYBRID_CUSTOMIZED": LAYERS.format(" DATA", " HYBRID_MODEL_DATA"),
}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "job.txt"
    path.write_text(TEXT)
    return path


def test_it_is_recognised_and_read(text: Path) -> None:
    assert recognise(text) is ASTRA_TEXT
    document = read(text, kinds=(Kind.WORKLOAD,))
    assert "4 layers" in document.summary[0]
    assert "units of 1 ns" in document.summary[1]
    assert document.ignored == ("the reserved second field of each layer",)


def _others(folder: Path) -> list[Path]:
    paths = []
    for number, (header, layers) in enumerate(OTHERS.items()):
        paths.append(folder / f"other{number}.txt")
        paths[-1].write_text(f"{header}\n2\n{layers}")
    return paths


def test_all_parallelisms_are_recognised(tmp_path: Path) -> None:
    for path in _others(tmp_path):
        assert recognise(path) is ASTRA_TEXT
        assert "2 layers" in read(path).summary[0]


def test_collectives_that_are_never_issued_are_named(tmp_path: Path) -> None:
    micro = read(_others(tmp_path)[0])
    assert any("which MICRO never issues" in what for what in micro.ignored)


def _damaged(tmp_path: Path, text: Path, count: int) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    scenario = ap.load({"platform": {"ranks": 4}, "workload": {"file": str(text)}}).scenario
    files = [text, *_others(tmp_path)]
    survives(ASTRA_TEXT, files, folder, count, use=lambda content: content(scenario, 4))  # type: ignore[operator]


def test_it_survives_damage(tmp_path: Path, text: Path) -> None:
    _damaged(tmp_path, text, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_survives_much_damage(tmp_path: Path, text: Path) -> None:
    _damaged(tmp_path, text, MANY)
