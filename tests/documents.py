# SPDX-License-Identifier: GPL-2.0-only
"""The project's Markdown as steps: what a reader would type, in the order of the page.

A block is fenced with its language. An HTML comment on the line before it, which no reader sees, says what else is to
be known of it:

- ``<!-- file: NAME -->``: what NAME holds, which the commands of the page then read.
- ``<!-- run: NAME -->``: code about a result ``run``, which is the one of that name in ``document_runs.py``.
- ``<!-- slow -->``: commands that take longer than ten seconds; a slow test runs them.
- ``<!-- not run: REASON -->``: commands or code that no test can run, for one of the reasons of :data:`NOT_RUN`; they
  are checked without.
- ``<!-- astra-py ... -->``: what that command prints, where a line of three dots stands for any lines.
- ``<!-- slow: astra-py ... -->``: the same of one that takes longer than ten seconds.
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
#: Why a block is not run where pages are tested, and where what it says is tested instead, if anywhere.
NOT_RUN = {
    "root": None,
    "other hosts": "tests/batch/test_dask.py",
    "docker": "tests/containers/test_image.py",
    "TorchRec": "tests/workloads/dlrm/test_plan_files.py",
    "ns-3's Python bindings": "tests/test_interop.py",
}
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
        """Whether the test of its page runs it; reasons against it are given."""
        return not self.is_slow and not self.comment.startswith("not run: ")

    @property
    def is_slow(self) -> bool:
        """Whether a slow test of its own runs it."""
        return self.comment == "slow"

    @property
    def result_name(self) -> str | None:
        """The name of the result that its code is about, None where it makes its own."""
        return self.comment.removeprefix("run: ") if self.comment.startswith("run: ") else None


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
