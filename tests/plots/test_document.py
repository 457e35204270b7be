# SPDX-License-Identifier: GPL-2.0-only
"""The pictures of docs/plots.md are what the commands above them draw."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from astra_py.plots import KINDS
from document_pictures import DOCUMENT, PICTURES, ROOT, commands, draw_pictures

TEXT = DOCUMENT.read_text(encoding="utf-8")
SHOWN = re.findall(r"!\[[^]]+\]\((pictures/plots/[\w.]+)\)", TEXT)


def test_each_picture_is_shown_once_below_its_command() -> None:
    drawn = re.findall(r"--out docs/(pictures/plots/\S+)", TEXT)
    assert sorted(drawn) == sorted(SHOWN)
    assert [(DOCUMENT.parent / name).is_file() for name in SHOWN] == [True] * len(SHOWN)
    assert sorted(path.name for path in (ROOT / PICTURES).iterdir()) == sorted(Path(name).name for name in SHOWN)
    assert all(TEXT.index(f"--out docs/{name}") < TEXT.index(f"({name})") for name in SHOWN)


def test_each_kind_has_a_section_and_a_picture() -> None:
    assert re.findall(r"^## `(\w+)`", TEXT, re.MULTILINE) == list(KINDS)
    assert {line.split()[2] for line in commands(TEXT) if line.startswith("astra-py plot")} == set(KINDS)


def test_the_code_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", f"import matplotlib\nmatplotlib.use('Agg')\n{code}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("incast.pdf in, single_switch of 8 ranks, engine packet, seed 1, digest")


def words(svg: str) -> list[str]:
    """What is written in a picture, as matplotlib notes beside the outlines of its letters; digests are left out."""
    return [re.sub(r"digest [0-9a-f/]+|[0-9a-f]{12}", "digest", text) for text in re.findall(r"<!-- (.*?) -->", svg)]


def shapes(svg: str) -> list[np.ndarray]:
    """Coordinates of what is drawn, without letters."""
    without_letters = re.sub(r'<g id="text_\d+">.*?\n   ? ? ?</g>|<defs>.*?</defs>', "", svg, flags=re.DOTALL)
    return [
        np.array(re.findall(r"-?\d+\.?\d*", path), dtype=float) for path in re.findall(r' d="([^"]*)"', without_letters)
    ]


def test_the_commands_draw_these_pictures(tmp_path: Path) -> None:
    redraw = "draw them anew: python tools/document_pictures.py"
    for path in draw_pictures(tmp_path):
        drawn, kept = (each.read_text(encoding="utf-8") for each in (path, ROOT / PICTURES / path.name))
        assert words(drawn) == words(kept), f"{path.name}: {redraw}"
        version = f"Matplotlib v{mpl.__version__}"
        if version in kept:
            assert len(shapes(drawn)) == len(shapes(kept))
            for one, other in zip(shapes(drawn), shapes(kept), strict=True):
                np.testing.assert_allclose(one, other, atol=1e-3, err_msg=f"{path.name}: {redraw}")
