# SPDX-License-Identifier: GPL-2.0-only
"""README's picture is what the product draws of the job that ``make run`` runs.

astra-py run workloads/zionex_2x8.toml --out results/zionex_2x8
astra-py plot timeline results/zionex_2x8 --out docs/pictures/timeline.svg
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl

import astra_py as ap
from astra_py.plots import plot_timeline, save_figure
from documents import ROOT

PICTURE = ROOT / "docs" / "pictures" / "timeline.svg"
MOST_BYTES = 200_000


def texts(svg: str) -> list[str]:
    """What is written in a picture: matplotlib draws letters as shapes, and has the text in a comment before them."""
    return re.findall(r"<!-- (.*?) -->", svg)


def test_the_timeline_is_that_of_the_job(tmp_path: Path) -> None:
    mpl.use("Agg")
    result = ap.load(ROOT / "workloads" / "zionex_2x8.toml").run()
    save_figure(plot_timeline(result), tmp_path / "timeline.svg")
    drawn, kept = ((folder / "timeline.svg").read_text(encoding="utf-8") for folder in (tmp_path, PICTURE.parent))
    assert texts(drawn) == texts(kept)
    if f"Matplotlib v{mpl.__version__}," in kept:
        # of one version the same to the byte; others round and place as they do
        assert drawn == kept


def test_the_picture_is_small_and_in_the_readme() -> None:
    assert PICTURE.stat().st_size < MOST_BYTES
    assert str(PICTURE.relative_to(ROOT)) in (ROOT / "README.md").read_text(encoding="utf-8")
