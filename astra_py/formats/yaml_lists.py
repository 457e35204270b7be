# SPDX-License-Identifier: GPL-2.0-only
"""YAML files of lists by key, whose entries say in which line they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import yaml

from astra_py.errors import TopologyError
from astra_py.formats.lines import DECIMAL, WHOLE, read_text

__all__ = ["Entry", "read_lists"]

#: Longest file: networks have a few lines, and a parser in Python takes its time.
_MOST_BYTES = 2**20


@dataclass(frozen=True)
class Entry:
    """One entry of a list: its text, and where it stands."""

    path: Path
    line: int
    text: str

    def error(self, what: str) -> TopologyError:
        """Make an error about this entry."""
        return TopologyError(f"{self.path}, line {self.line}: {what}")

    def whole(self, what: str, least: int, most: int) -> int:
        """The entry as a whole number."""
        if not WHOLE.fullmatch(self.text) or not least <= int(self.text) <= most:
            raise self.error(f"{what} is {self.text!r}; allowed: a whole number from {least} to {most}")
        return int(self.text)

    def decimal(self, what: str) -> Fraction:
        """The entry as an exact decimal number."""
        if not DECIMAL.fullmatch(self.text):
            raise self.error(f"{what} is {self.text!r}; allowed: a decimal number")
        return Fraction(self.text)


def read_lists(path: Path) -> dict[str, list[Entry]]:
    """Read the lists of a YAML file by key; a single value is a list of one.

    Raises
    ------
    TopologyError : it cannot be read, is no YAML, a key is there twice, or a value is no list of plain values.
    """
    text = read_text(path, TopologyError)
    if len(text) > _MOST_BYTES:
        raise TopologyError(f"{path}: is {len(text)} characters long; allowed: at most {_MOST_BYTES}")
    # what YAML has beyond this format, and what a parser may take long about
    if (found := re.search(r"(?m)^[^#\n]*?(?<![\w\"'])([&*!|>%@`][^\s#]*)", text)) is not None:
        line = text.count("\n", 0, found.start(1)) + 1
        raise TopologyError(f"{path}, line {line}: {found[1]!r} is not expected here; allowed: lists of plain values")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise TopologyError(f"{path}{where}: is no YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise TopologyError(f"{path}: is no YAML: {type(error).__name__}") from None
    if not isinstance(root, yaml.MappingNode):
        raise TopologyError(f"{path}: has no keys; allowed: 'key: [values]' in each line")
    lists: dict[str, list[Entry]] = {}
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise TopologyError(f"{path}, line {line}: a key is a list or a table; allowed: a word")
        if key.value in lists:
            raise TopologyError(f"{path}, line {line}: key {key.value!r} is there twice")
        nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
        for node in nodes:
            if not isinstance(node, yaml.ScalarNode):
                raise TopologyError(
                    f"{path}, line {node.start_mark.line + 1}: {key.value!r} has a table or a list in it; allowed: "
                    "plain values"
                )
        lists[key.value] = [Entry(path, node.start_mark.line + 1, node.value) for node in nodes]
    return lists
