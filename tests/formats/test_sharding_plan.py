# SPDX-License-Identifier: GPL-2.0-only
"""Sharding plans as files: all of their forms are recognised, and survive damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from astra_py.formats import SHARDING_PLAN, convert, read, recognise
from formats import samples
from formats.mutations import FEW, MANY, survives

#: As TorchRec prints a plan, and as our exporter writes one.
PRINTED = """\
module: sparse.ebc

param    sharding type    compute kernel    ranks
-------  ---------------  ----------------  -------
a        row_wise         fused_uvm         [0, 2]
b        column_wise      fused             [0, 1]

param    shard offsets    shard sizes    placement
-------  ---------------  -------------  -------------
a        [0, 0]           [600, 8]       rank:0/cuda:0
a        [600, 0]         [400, 8]       rank:2/cuda:2
b        [0, 0]           [1000, 12]     rank:0/cuda:0
b        [0, 12]          [1000, 4]      rank:1/cuda:1
"""
EXPORTED = {
    "a": {
        "sharding_type": "row_wise",
        "compute_kernel": "fused",
        "shards": [
            {"rank": 0, "offsets": [0, 0], "sizes": [600, 8]},
            {"rank": 1, "offsets": [600, 0], "sizes": [400, 8]},
        ],
    }
}


def forms(folder: Path) -> list[Path]:
    """Our CSV and JSON, and TorchRec's two."""
    csv = samples.write(folder, "sharding_plan")
    convert(csv, folder / "own.json")
    (folder / "printed.txt").write_text(PRINTED)
    (folder / "exported.json").write_text(json.dumps(EXPORTED))
    return [csv, folder / "own.json", folder / "printed.txt", folder / "exported.json"]


def test_all_forms_are_recognised(tmp_path: Path) -> None:
    for path, ranks in zip(forms(tmp_path), (2, 2, 3, 2), strict=True):
        assert recognise(path) is SHARDING_PLAN
        assert read(path).ranks == ranks


def damaged(tmp_path: Path, count: int) -> None:
    (folder := tmp_path / "damaged").mkdir()
    survives(SHARDING_PLAN, forms(tmp_path), folder, count)


def test_they_survive_damage(tmp_path: Path) -> None:
    damaged(tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_they_survive_much_damage(tmp_path: Path) -> None:
    damaged(tmp_path, MANY)
