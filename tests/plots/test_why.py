# SPDX-License-Identifier: GPL-2.0-only
"""Bars of a comparison are its parts, from memory and from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astra_py as ap
from astra_py.analysis.comparison import Comparison
from astra_py.analysis.stretches import Part
from astra_py.errors import ConfigError
from astra_py.plots import plot_why, read_why
from astra_py.plots.style import PARTS
from plot_cases import variants_of


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    sizes = [2**12, 2**16]
    return ap.compare({}, "platform.ranks=4", engines=["packet", "analytic"], collective="all_to_all", sizes=sizes)


def widths(axes: Any) -> dict[str, list[float]]:
    return {bars.get_label(): [bar.get_width() for bar in bars] for bars in axes.containers}


def test_each_part_has_a_fill_of_its_own() -> None:
    assert list(PARTS) == list(Part)
    assert len(set(PARTS.values())) == len(PARTS)


def test_bars_are_the_parts(comparison: Comparison) -> None:
    axes = plot_why(comparison)
    why = comparison.why
    seen = [part for part in Part if why[f"{part}_us"].any()]
    assert widths(axes) == {part.replace("_", " "): pytest.approx(list(why[f"{part}_us"])) for part in seen}
    whole = np.sum(list(widths(axes).values()), axis=0)
    assert list(whole) == pytest.approx(list(why["packet_us"]))
    assert axes.get_xlabel() == "time on the critical path (µs)"


def test_what_is_saved_draws_the_same(comparison: Comparison, tmp_path: Path) -> None:
    drawn, again = plot_why(comparison), plot_why(read_why(comparison.save(tmp_path / "saved")))
    assert widths(again) == widths(drawn)
    for axes in (drawn, again):
        assert [label.get_text() for label in axes.get_yticklabels()] == [
            *(f"all_to_all of {size} B: all_to_all" for size in (4096, 65536))
        ]
        (legend,) = axes.figure.legends
        assert legend.get_title().get_text() == "iteration 0"
    captions = [axes.figure.get_supxlabel() for axes in (drawn, again)]
    assert captions[0] == captions[1]
    assert "single_switch of 4 ranks, engine packet, seed 1, digest" in captions[0].replace("\n", " ")


def test_the_longest_are_drawn_where_they_are_many(comparison: Comparison, tmp_path: Path) -> None:
    saved = read_why(comparison.save(tmp_path / "saved"))
    rows = [{**saved.rows[0], "packet_us": float(number % 97)} for number in range(100)]
    axes = plot_why(saved._replace(rows=rows, names=[str(number) for number in range(100)]))
    assert [label.get_text() for label in axes.get_yticklabels()] == [str(number) for number in range(64, 97)]
    (legend,) = axes.figure.legends
    assert legend.get_title().get_text() == "the 33 of 100 collectives that take longest"


@pytest.mark.parametrize(("size", "fits"), [("slide", 1), ("paper", 4), ("column", 5)])
def test_eight_variants_stand_together(comparison: Comparison, tmp_path: Path, size: str, fits: int) -> None:
    source = variants_of(read_why(comparison.save(tmp_path / "saved")))
    axes = plot_why(source, size=size)
    assert [label.get_text() for label in axes.get_yticklabels()] == list("ABCDEFGH") * fits
    shown = [f"top_{number}.weight_gradient" for number in range(9 - fits, 9)]
    assert [text.get_text() for text in axes.texts] == shown
    (bars,) = axes.containers
    by_name = {name: row["packet_us"] for name, row in zip(source.names, source.rows, strict=True)}
    (legend,) = axes.figure.legends
    title, *key = legend.get_title().get_text().splitlines()
    assert title == f"iteration 0, the {fits} of 9 collectives that take longest"
    assert key[3] == "D  window=none, congestion_control=dcqcn, payload=4096B"
    variants = list(dict.fromkeys(row["variant"] for row in source.rows))
    wanted = [by_name[f"{name}, iteration 0, {variant}"] for name in shown for variant in variants]
    assert [bar.get_width() for bar in bars] == pytest.approx(wanted)


def test_keys_that_would_be_one_keep_their_tables(comparison: Comparison, tmp_path: Path) -> None:
    saved = read_why(comparison.save(tmp_path / "saved"))
    variants = ["switch.buffer=1MB, nic.buffer=1MB", "switch.buffer=2MB, nic.buffer=1MB", ""]
    rows = [{**saved.rows[0], "variant": variant} for variant in variants]
    axes = plot_why(saved._replace(rows=rows, names=[", ".join(filter(None, ("x", each))) for each in variants]))
    (legend,) = axes.figure.legends
    assert legend.get_title().get_text().splitlines() == [
        *("A  switch.buffer=1MB, nic.buffer=1MB", "B  switch.buffer=2MB, nic.buffer=1MB", "C  as it is")
    ]


def test_what_explains_nothing_is_said(comparison: Comparison, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is nothing to draw"):
        plot_why(read_why(comparison.save(tmp_path / "saved", has_why=False)))
    with pytest.raises(ConfigError, match=r"no comparison here: there is no comparison\.json"):
        read_why(tmp_path)
    (tmp_path / "comparison.json").write_text("{}")
    with pytest.raises(ConfigError, match="not a comparison"):
        read_why(tmp_path)
