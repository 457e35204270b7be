# SPDX-License-Identifier: GPL-2.0-only
"""What makes pages of declarations and docstrings: the project's own extensions of Sphinx."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("sphinx")

import astra_py
from astra_py.cli.app import COMMANDS
from astra_py.config import parameter_table
from declared import PAGES, commands, parameters, public_names
from docstrings import sections_as_lists
from documents import ROOT


def test_every_parameter_has_a_heading_and_an_anchor() -> None:
    page = parameters()
    for parameter in parameter_table():
        assert f"({parameter.key})=\n### `{parameter.key}`\n" in page
    # one that has everything: a unit, a default under another transport, a source, an attribute of ns-3
    assert "- default: `dcqcn`; under `tcp`: `dctcp`" in page
    assert "- source: assumed" in page
    assert "ns3::RoceNic::Window" in page


def test_every_command_has_its_help() -> None:
    page = commands()
    assert re.findall(r"^## `astra-py (\w+)`$", page, re.MULTILINE) == list(COMMANDS)
    assert page.count("Usage: astra-py ") == len(COMMANDS)
    assert max(map(len, page.splitlines())) <= 80


def test_every_public_name_is_described_once() -> None:
    described = re.findall(r"^\.\. (?:auto\w+|py:data):: (\S+)$", public_names(), re.MULTILINE)
    assert len(described) == len(set(described))
    assert {f"astra_py.{name}" for name in astra_py.__all__ if name != "__version__"} <= set(described)
    # what the package itself has is not described again where it comes from
    assert "astra_py.results.Result" not in described
    assert "astra_py.results.TABLES" in described


def test_every_declared_page_has_a_place() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert set(re.findall(r"^<!-- declared: (\w+) -->$", pages, re.MULTILINE)) == set(PAGES)


def test_sections_of_docstrings_become_lists() -> None:
    lines = [
        "What it does.",
        "",
        "Parameters",
        "----------",
        "a, b : two sizes in bytes; of",
        "    the same rank.",
        "**rest : further ones.",
        "",
        "Raises",
        "------",
        "ConfigError, OSError : it",
        "    failed.",
        "",
        "Returns",
        "-------",
        "i64[ranks], bytes.",
    ]
    assert [line for line in sections_as_lists(lines) if line] == [
        "What it does.",
        ".. rubric:: Parameters",
        "``a``, ``b``",
        "    two sizes in bytes; of",
        "    the same rank.",
        "``**rest``",
        "    further ones.",
        ".. rubric:: Raises",
        ":class:`ConfigError`, :class:`OSError`",
        "    it",
        "    failed.",
        ".. rubric:: Returns",
        "i64[ranks], bytes.",
    ]


def test_prose_with_a_colon_is_no_entry() -> None:
    assert sections_as_lists(["Notes", "-----", "a : b", "  more"])[2:] == ["a : b", "  more"]
