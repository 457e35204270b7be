# SPDX-License-Identifier: GPL-2.0-only
"""A strict reader of the HTML that is written: what a browser would repair is an error here."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "br", "img", "hr", "input"}
#: What loads something, and from where.
LOADING = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("image", "href")}
BLOCKS = {"p", "h1", "h2", "h3", "h4", "dl", "ul", "div", "table", "section", "figure", "details", "nav"}


@dataclass
class Page:
    """What a page has.

    Attributes
    ----------
    ids : text of each element with an id.
    headings : level and text, in order.
    tables : fields as texts by the id of the section that the table is in; the header first.
    links : where anchors lead to.
    scripts : what is in script elements.
    text : all that is shown.
    """

    ids: dict[str, str] = field(default_factory=dict)
    headings: list[tuple[int, str]] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[tuple[str, str | None]] = []
        self.heard: list[str] = []

    def handle_decl(self, decl: str) -> None:
        assert decl == "DOCTYPE html"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in [name for name, _ in self.open], f"<{tag}/> does not close itself"
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice: {names}"
        given = dict(attrs)
        assert not any(name.startswith("on") for name in names), f"<{tag}> has a script in an attribute"
        for name, value in attrs:
            if (tag, name) in LOADING:
                assert value.startswith("data:"), f"<{tag}> loads {value}"
        inside = [name for name, _ in self.open]
        if "p" in inside:
            assert tag not in BLOCKS, f"<{tag}> in a paragraph"
        if tag == "img":
            assert given.get("alt"), "a picture without words"
        if tag == "svg":
            assert given.get("aria-label")
            assert given.get("role") == "img"
        if tag == "a":
            self.page.links.append(given["href"] or "")
        if tag == "th":
            assert given.get("scope") in ("col", "row")
        identity = given.get("id")
        if identity is not None:
            assert identity not in self.page.ids, f"id {identity} is there twice"
            self.page.ids[identity] = ""
        if tag == "tr":
            self._rows().append([])
        if tag in ("td", "th"):
            self._rows()[-1].append("")
        if tag not in VOID:
            self.open.append((tag, identity))
        if tag in ("h1", "h2", "h3", "h4"):
            self.heard = []

    def _rows(self) -> list[list[str]]:
        section = next(name for tag, name in reversed(self.open) if tag == "section" and name)
        return self.page.tables.setdefault(section, [])

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        opened, _ = self.open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"
        if tag in ("h1", "h2", "h3", "h4"):
            self.page.headings.append((int(tag[1]), "".join(self.heard).strip()))

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self.open]
        if tags and tags[-1] == "script":
            self.page.scripts.append(data)
            return
        if "style" in tags:
            return
        self.page.text += data
        self.heard.append(data)
        for _, identity in self.open:
            if identity is not None:
                self.page.ids[identity] += data
        if "td" in tags or "th" in tags:
            self._rows()[-1][-1] += data


def read_page(text: str, *, is_whole: bool = True) -> Page:
    """Read a page, or a piece of one, and check it; an AssertionError says what is wrong with it."""
    assert text.startswith("<!DOCTYPE html>") or not is_whole
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open, f"never closed: {reader.open}"
    page = reader.page
    for link in page.links:
        assert link.removeprefix("#") in page.ids, f"a link to {link}, which is nowhere"
    if is_whole:
        levels = [level for level, _ in page.headings]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels)), levels
        assert all(text for _, text in page.headings)
    for rows in page.tables.values():
        assert len({len(row) for row in rows}) <= 1 or not is_whole, "rows of different lengths"
    return page
