# SPDX-License-Identifier: GPL-2.0-only
"""What notebooks show: the figures, in the notebook's own colours, whatever names the user's files have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import astra_py as ap
from astra_py.config import load_scenario
from astra_py.platforms import build_platform
from astra_py.platforms.node_kind import NodeKind
from astra_py.report.html import table_html
from astra_py.report.notebook import _columns_html
from html_cases import Page, read_page
from small_job import LAYERS, write_job

HOSTILE = "</td><script>alert(1)</script>&amp;<img/src=x>"


def piece(shown: Any) -> Page:
    """A piece as a notebook has it, inside of a page."""
    return read_page(f"<section id='piece'>{shown._repr_html_()}</section>", is_whole=False)


def test_nodes_have_the_names_of_their_kinds() -> None:
    platform = build_platform(load_scenario({"platform": {"kind": "pcie_servers", "nodes": 2}}).platform)
    text = piece(platform).text
    for kind in ("accelerator", "host", "nic", "switch"):
        count = sum(NodeKind(each).name.lower() == kind for _, each in platform.graph.nodes(data="kind"))
        assert count
        assert f"nodes: {kind}{count}" in text


def test_numbers_are_aligned_at_their_right() -> None:
    html = table_html(
        ["name", "time us", "share", "text"], [["a", "1,234.5", "-0.3 (+2.0 %)", "1 of 2"], ["b", "", "0", "x"]]
    )
    assert re.findall(r"text-align:(\w+)\">([^<]*)<", html) == [
        *[("left", "name"), ("right", "time us"), ("right", "share"), ("left", "text")],
        *[("left", "a"), ("right", "1,234.5"), ("right", "-0.3 (+2.0 %)"), ("left", "1 of 2")],
        *[("left", "b"), ("right", ""), ("right", "0"), ("left", "x")],
    ]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    scenario = write_job(tmp_path_factory.mktemp("job"))
    vary = {
        "transport.window": ["none", "bdp"],
        "transport.payload": ["1024B", "4096B"],
        "platform.link_rate": ["100Gbps", "200Gbps"],
    }
    return ap.compare(scenario, vary=vary, engines=["analytic"])


def test_each_of_eight_variants_is_a_row(compared: Any) -> None:
    assert len(compared.labels) == 8
    page = piece(compared)
    table = compared.iterations
    for label in compared.labels:
        first = compared.labels[0]
        times = table[f"{label}_us"].tolist()
        shares = [] if label == first else (100 * table[f"{label}_difference"]).tolist()
        cells = [
            f"{time:,.3f}" + (f" ({share:+.1f} %)" if shares else "")
            for time, share in zip(times, shares or times, strict=True)
        ]
        assert label + "".join(cells) in page.text
    assert "iteration 0 µsiteration 1 µs" in page.text


def test_colours_are_those_of_the_notebook(compared: Any, tmp_path: Path) -> None:
    run = ap.load(write_job(tmp_path), "engine=analytic")
    for shown in (run.scenario, run.platform, run.schedule, run.run(), compared):
        styles = ";".join(re.findall(r'style="([^"]*)"', shown._repr_html_()))
        assert "padding" in styles
        # on light and dark ground alike
        assert not re.search(r"colou?r|background|#[0-9a-fA-F]{3}|rgb", styles)


def test_hostile_names_of_a_user_s_files_are_text(tmp_path: Path) -> None:
    write_job(tmp_path, LAYERS.replace("Top", HOSTILE))
    scenario = (tmp_path / "job.toml").rename(tmp_path / "<script>alert(2)&lt;.toml")
    run = ap.load(scenario, "engine=analytic")
    result = run.run()
    compared = ap.compare(scenario, engines=["analytic"])
    platform = run.platform
    platform.name = HOSTILE
    assert HOSTILE in " ".join(result.collectives["name"])
    pages = {type(shown).__name__: piece(shown) for shown in (run.scenario, platform, run.schedule, result, compared)}
    for page in pages.values():
        assert page.scripts == []
    assert "<script>alert(2)&lt;.toml" in pages["Scenario"].text
    assert HOSTILE in pages["Platform"].text
    assert HOSTILE in pages["Result"].text
    table = compared.iterations.assign(job=HOSTILE)
    assert (
        HOSTILE in read_page(f"<section id='piece'>{_columns_html(['analytic'], table)}</section>", is_whole=False).text
    )
