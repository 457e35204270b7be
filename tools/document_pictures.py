# SPDX-License-Identifier: GPL-2.0-only
"""Draw the pictures of ``docs/plots.md`` by the commands that stand there: ``python tools/document_pictures.py``."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "plots.md"
#: Where a command of the document writes, from the checkout.
PICTURES = Path("docs", "pictures", "plots")


def commands(text: str) -> Iterator[str]:
    """Each command line of the document's shell blocks, in order."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield from (line for line in block.replace("\\\n", " ").splitlines() if line.startswith("astra-py "))


def draw_pictures(folder: Path) -> list[Path]:
    """Run the document's commands in ``folder``, which is empty; gives the pictures, in order of their names.

    Raises
    ------
    RuntimeError : a command fails.
    """
    for name in ("workloads", "examples"):
        (folder / name).symlink_to(ROOT / name)
    (folder / PICTURES).mkdir(parents=True)
    with contextlib.chdir(folder):
        for line in commands(DOCUMENT.read_text(encoding="utf-8")):
            _run(line)
    return sorted((folder / PICTURES).iterdir())


def _run(line: str) -> None:
    """Run one command line in this process; what it prints goes to the file after ``>``, or nowhere."""
    from astra_py.cli.app import command

    text, _, file = line.partition(">")
    with open(file.strip() or os.devnull, "w", encoding="utf-8") as printed, contextlib.redirect_stdout(printed):
        try:
            command(shlex.split(text)[1:])
        except SystemExit as left:
            if left.code:
                raise RuntimeError(f"{line}: exit code {left.code}") from None


def main() -> None:
    """Draw them all, and put them where the document shows them."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = draw_pictures(Path(folder))
        shutil.rmtree(ROOT / PICTURES, ignore_errors=True)
        (ROOT / PICTURES).mkdir()
        for picture in pictures:
            shutil.copy(picture, ROOT / PICTURES)
            print(PICTURES / picture.name, file=sys.stderr)


if __name__ == "__main__":
    main()
