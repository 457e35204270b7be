# SPDX-License-Identifier: GPL-2.0-only
"""The files that a path in a scenario names: one file, or one for each rank."""

from __future__ import annotations

import re
from pathlib import Path

from astra_py.errors import ConfigError

__all__ = ["input_files"]

_RANKED = re.compile(r"[._-]?(?P<rank>[0-9]{1,7})(?P<suffix>(\.[A-Za-z][A-Za-z0-9]*)+)")


def input_files(path: Path) -> dict[int, Path]:
    """Return the files that ``path`` names, by rank and in its order.

    That is the file itself, as rank 0, where there is one. Else it is what the names of one file a rank begin with:
    ``job`` names ``job.0.et``, ``job.1.et``, and so on, and ``trace/rank`` names ``trace/rank0.json``. Empty where
    there is nothing of the sort.

    Raises
    ------
    ConfigError : two files are those of one rank.
    """
    if path.is_file():
        return {0: path}
    found: dict[int, Path] = {}
    if not path.parent.is_dir():
        return found
    for file in sorted(path.parent.glob(f"{_escaped(path.name)}*")):
        match = _RANKED.fullmatch(file.name.removeprefix(path.name))
        if match is None or not file.is_file():
            continue
        if (other := found.setdefault(int(match["rank"]), file)) is not file:
            raise ConfigError(
                f"{str(path)!r} begins the names of {other.name} and of {file.name}, both of rank {match['rank']}; "
                "allowed: one file a rank"
            )
    return dict(sorted(found.items()))


def _escaped(name: str) -> str:
    """``name`` without a meaning for glob."""
    return re.sub(r"([*?[])", r"[\1]", name)
