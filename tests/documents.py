# SPDX-License-Identifier: GPL-2.0-only
"""The project's Markdown as steps: what a reader would type, in the order of the page.

A block is fenced with its language. An HTML comment on the line before it, which no reader sees, says what else is to
be known of it:

- ``<!-- file: NAME -->``: what NAME holds, which the commands of the page then read.
- ``<!-- not run: REASON -->``: commands or code that no test can run; they are checked without.
- ``<!-- astra-py ... -->``: what that command prints, where a line of three dots stands for any lines.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Every page, the sources of the documentation and what stands beside it.
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md"))
    if "_build" not in path.parts
)
_FENCE = re.compile(
    r"(?:^<!-- (?P<comment>[^\n]*?) -->\n)?^```(?P<language>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the comment before it (empty without one), its text, and its line in the page."""

    language: str
    comment: str
    text: str
    line: int

    @property
    def is_run(self) -> bool:
        """Whether it is for running; reasons against it are given."""
        return not self.comment.startswith("not run: ")


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found["language"], found["comment"] or "", found["text"], text.count("\n", 0, found.start("language")) + 1
        )
        for found in _FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[tuple[list[str], int]]:
    """The commands of a block of ``sh``: each one's words, and the exit code that a comment behind it names, or 0.

    A backslash at a line's end joins the next one.
    """
    for line in block.text.replace("\\\n", " ").splitlines():
        if words := shlex.split(line, comments=True):
            code = re.search(r"#.*\bexit code (\d+)", line)
            yield words, int(code[1]) if code else 0


def prose(page: Path) -> str:
    """The text of a page without its blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def name_of(page: Path) -> str:
    """A page's path from the project's root, without its ending: the name of its tests."""
    return str(page.relative_to(ROOT).with_suffix(""))
