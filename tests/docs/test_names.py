# SPDX-License-Identifier: GPL-2.0-only
"""What pages name there is: links and their anchors, keys of scenarios, commands, files of the checkout."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from astra_py.cli.app import COMMANDS
from astra_py.config import parameter_table
from astra_py.config.params import rule_at
from documents import PAGES, ROOT, name_of, prose

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PARAMETERS = [parameter.key for parameter in parameter_table()]
TABLES = {key.partition(".")[0] for key in PARAMETERS if "." in key}


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges and Sphinx make them."""
    found: set[str] = set()
    for title in re.findall(r"^#{1,6} +(.*?) *$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        base = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 0
        while (anchor := f"{base}-{number}" if number else base) in found:
            number += 1
        found.add(anchor)
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(prose(page)):
        target = page.parent / path if path else page
        assert target.exists(), f"{path}: there is no such file"
        if anchor and "<!-- declared: " not in target.read_text(encoding="utf-8"):
            assert anchor in anchors(target), f"{path}#{anchor}: the headings are {sorted(anchors(target))}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_keys_of_scenarios_are_declared(page: Path) -> None:
    if page.name in ("CHANGELOG.md", "borders.md") or "adr" in page.parts:
        return  # what was, and what is inside
    for code in CODE.findall(prose(page)):
        found = re.fullmatch(r"((?:[a-z0-9_]+\.)+[a-z0-9_]+)(?: ?= ?\S.*)?", code)
        if not found or found[1].endswith((".csv", ".json", ".parquet", ".py", ".toml", ".txt")):
            continue
        if found[1].partition(".")[0] in TABLES and not is_a_key(found[1]):
            pytest.fail(f"`{code}`: there is no such key of a scenario")


def is_a_key(name: str) -> bool:
    """Whether a name is that of a key or of a table of keys."""
    return rule_at(name) is not None or any(key.startswith(f"{name}.") for key in PARAMETERS)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_files_that_are_named_are_there(page: Path) -> None:
    if page.name == "borders.md":
        return  # what parts agree on before they are built
    for code in CODE.findall(prose(page)):
        if (command := re.match(r"astra-py ([a-z]\w*)", code)) is not None:
            assert command[1] in COMMANDS, code
        if re.fullmatch(r"(astra_py|benchmarks|docker|docs|examples|ns3_ext|tests|tools|workloads)/[\w./-]*\w", code):
            assert code.startswith("docs/_build/") or (ROOT / code).exists(), code  # made by `make docs`


def test_pages_that_sources_name_are_there() -> None:
    named = {
        (str(source.relative_to(ROOT)), page)
        for folder in ("astra_py", "benchmarks", "docker", "examples", "ns3_ext", "tools", "workloads")
        for source in (ROOT / folder).rglob("*")
        if source.suffix in {"", ".py", ".cc", ".h", ".sh", ".toml", ".yaml"} and source.is_file()
        for page in re.findall(r"(?<![\w/])docs/[\w/-]+\.md", source.read_text(encoding="utf-8", errors="replace"))
    }
    assert len(named) > 10
    assert [each for each in named if not (ROOT / each[1]).is_file()] == []
