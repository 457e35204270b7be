# SPDX-License-Identifier: GPL-2.0-only
"""The study of HOTI 2020: what is run, its trends, and what it leaves in a folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

import astra_py as ap

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
WORKLOADS = ROOT / "workloads"


@pytest.fixture(scope="module")
def study() -> ModuleType:
    """The example as a module, which its processes can import by name."""
    spec = importlib.util.spec_from_file_location("hoti2020_study", ROOT / "examples" / "hoti2020_study.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["hoti2020_study"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def quick(study: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path]:
    """Its smallest table with every packet simulated, and the folder that it was written to."""
    folder = tmp_path_factory.mktemp("study") / "new"
    return study.main(["--quick", "--processes", "1", "--out", str(folder)]), folder


@pytest.mark.parametrize("size", ["quick", "default", "full"])
def test_every_point_changes_one_thing(study: ModuleType, size: str) -> None:
    """All points are scenarios, no two of an axis are the same, and most axes have the base point among them."""
    digests = {point: point.load().digest for point in study.points_of(study.AXES, (), size=size)}
    base = {digest for point, digest in digests.items() if (point.axis, point.setting) == ("mtu", "9000")}
    assert len(base) == 2
    for axis in dict.fromkeys(point.axis for point in digests):
        own = [digest for point, digest in digests.items() if point.axis == axis]
        assert len(set(own)) == len(own), axis
        if size == "default":
            assert base <= set(own) or axis in ("accelerators_large", "host", "cores", "platform"), axis


def _exposed(table: pd.DataFrame, axis: str, transport: str = "tcp") -> dict[str, float]:
    rows = table[(table["axis"] == axis) & (table["transport"] == transport)]
    return dict(zip(rows["setting"], rows["exposed_us"], strict=True))


@pytest.mark.parametrize("transport", ["tcp", "roce"])
def test_trends(quick: tuple[pd.DataFrame, Path], transport: str) -> None:
    """What has to come out whatever the figures are."""
    table = quick[0]
    assert _exposed(table, "accelerators", transport)["8"] < _exposed(table, "accelerators", transport)["16"]
    assert _exposed(table, "link_rate", transport)["400"] < _exposed(table, "link_rate", transport)["10"] / 4
    assert _exposed(table, "nics_per_node", transport)["8"] < _exposed(table, "nics_per_node", transport)["1"]
    assert _exposed(table, "mtu", transport)["9000"] < _exposed(table, "mtu", transport)["1500"]


def test_the_table_is_consistent_and_written(quick: tuple[pd.DataFrame, Path]) -> None:
    table, folder = quick
    rest = table["time_us"] - table["compute_us"]
    pd.testing.assert_series_equal(rest, table["exposed_us"], check_names=False)
    assert (table["failed"] == "").all()
    written = pd.read_csv(folder / "exposed.csv", dtype={"setting": str}, keep_default_na=False)
    pd.testing.assert_frame_equal(written, table)
    assert (folder / "exposed.png").stat().st_size > 10_000


def test_a_point_that_fails_is_a_row_with_its_reason(study: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    table = study.main(["--quick", "--axis", "mtu", "--engine", "flow", "--processes", "1", "limits.max_events=10"])
    assert (table["failed"] != "").all()
    assert "mtu 1500 over tcp failed: " in capsys.readouterr().err


def test_a_folder_that_is_there_is_refused(study: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        study.main(["--quick", "--out", str(tmp_path)])


def test_the_published_run_line() -> None:
    """128 hosts, 8 a server, payloads of 1,460 B, and a hundredth of the bytes, which the report states."""
    run = ap.load(WORKLOADS / "hoti2020_run_line.toml", "engine=analytic")
    assert (run.platform.ranks, run.transport.payload_bytes) == (128, 1460)
    assert any("0.01" in note for note in run.notes), run.notes
    declared = ap.load(WORKLOADS / "hoti2020_run_line.toml", "workload.comm_scale=1").declared_bytes[0].sum()
    assert run.declared_bytes[0].sum() == pytest.approx(declared / 100, rel=0.02)
