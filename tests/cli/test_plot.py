# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py plot``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from astra_py.cli.app import command
from astra_py.plots import KINDS
from plot_cases import flows_result, result_of

LOG = Path(__file__).parents[2] / "examples" / "all_reduce_a100_8.log"


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the results ``job`` and ``flows``, where one is."""
    result_of("packet").save(tmp_path / "job")
    flows_result().save(tmp_path / "flows")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(["plot", *arguments.split()])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        ("timeline job", "timeline.svg"),
        ("timeline job --rank 3 --iteration 0 --size column --out rank.pdf", "rank.pdf"),
        ("timeline job --rank all --out ranks.png", "ranks.png"),
        (f"busbw job --log {LOG} --size slide", "busbw.svg"),
        ("busbw job flows", "busbw.svg"),
        ("topology job", "topology.svg"),
        ("flows job", "flows.svg"),
        ("flows flows --of slowdown", "flows.svg"),
        ("traffic job", "traffic.svg"),
    ],
)
def test_each_kind_is_written(saved: Path, capsys: pytest.CaptureFixture[str], arguments: str, file: str) -> None:
    assert run(capsys, arguments) == (0, "", f"{arguments.split()[0]}: {file}\n")
    head = (saved / file).read_bytes()[:5]
    assert head == {".svg": b"<?xml", ".pdf": b"%PDF-", ".png": b"\x89PNG\r"}[Path(file).suffix]


def test_a_comparison_is_drawn(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "compare --collective all_to_all --sizes 4KiB platform.ranks=4 --out both"
    with pytest.raises(SystemExit):
        command(asked.split())
    capsys.readouterr()
    assert run(capsys, "why both")[0] == 0
    assert (saved / "why.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("timelin job", "plot 'timelin'; did you mean 'timeline'?; allowed: " + ", ".join(KINDS)),
        ("timeline absent", "absent: no results here: there is no manifest.json"),
        ("timeline job --rank first", "--rank 'first'; allowed: a number, or all"),
        ("timeline job flows", "plot timeline: 2 results are given; allowed: one; several with busbw"),
        ("timeline flows", "the run has no iterations"),
        ("timeline job --out timeline.gif", "allowed: .svg, .pdf, .png"),
        ("timeline job --size a4", "a figure of size 'a4'; allowed: column, paper, slide"),
        ("traffic job --rank 1", "plot traffic does not take rank; allowed: with timeline"),
        ("traffic job --ports 1", "plot traffic does not take ports; allowed: with queues"),
        ("flows job --of slowdown", "the run has no flows with a slowdown"),
        ("flows job --of rate", "flows: of 'rate'; allowed: time, slowdown"),
        ("why job", "job: no comparison here"),
        ("busbw flows", "no collective has a bus bandwidth"),
        ("busbw absent.json", "absent.json: cannot be read"),
    ],
)
def test_what_is_wrong_is_said(saved: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str) -> None:
    code, out, err = run(capsys, arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not list(saved.glob("*.svg"))


def test_without_matplotlib(saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    code, _, err = run(capsys, "timeline job")
    assert (code, err) == (2, "error: a plot needs matplotlib: pip install 'astra-py[plot]'\n")
