# SPDX-License-Identifier: GPL-2.0-only
"""The example notebook runs from top to bottom, and shows what it says; without a kernel, cell by cell."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from html_cases import read_page

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_look.ipynb"


def shown_by(cells: list[str]) -> list[Any]:
    """What each cell's last expression is, as a kernel would show it."""
    names: dict[str, Any] = {}
    shown = []
    for source in cells:
        *statements, last = ast.parse(source).body
        assert isinstance(last, ast.Expr)
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    return shown


def test_the_notebook_runs_and_each_cell_shows_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in notebook["cells"])
    monkeypatch.chdir(NOTEBOOK.parent)
    shown = shown_by(code)
    names = ["Scenario", "Platform", "Schedule", "Result", "DataFrame", "Comparison"]
    assert [type(each).__name__ for each in shown] == names
    for each in shown:
        assert "<table" in each._repr_html_()


def test_what_a_notebook_shows_is_valid_and_has_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    import astra_py as ap

    monkeypatch.chdir(NOTEBOOK.parent)
    run = ap.load("../workloads/zionex_2x8.toml", "platform.nodes=1", "platform.ranks=8", "engine=analytic")
    result = run.run()
    pieces = [run.scenario, run.platform, run.schedule, result]
    scenario, platform, schedule, shown = (
        read_page(f"<section id='piece'>{each._repr_html_()}</section>", is_whole=False).text for each in pieces
    )
    assert "engineanalyticpacket" in scenario
    assert run._repr_html_() == run.scenario._repr_html_()
    assert f"nvlink{result.manifest['platform']['links']['nvlink']}2.4Tbps" in platform
    assert f"messages{len(result.messages):,}" in schedule
    row = result.collectives.loc[result.collectives["exposed_us"].idxmax()]
    assert f"The most exposed collective is {row['name']} " in shown
    assert f"{result.iterations['exposed_us'][0]:,.3f}" in shown


def test_hostile_names_are_escaped() -> None:
    from astra_py.report.html import facts_html, table_html

    name = "</td><script>alert(1)</script>"
    for text in (facts_html(name, {name: name}), table_html([name], [[name]], name)):
        page = read_page(f"<section id='piece'>{text}</section>", is_whole=False)
        assert page.scripts == []
        assert name in page.text
