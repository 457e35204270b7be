# SPDX-License-Identifier: GPL-2.0-only
"""A share of a sweep's points, for array jobs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from astra_py.errors import ConfigError

__all__ = ["WHOLE", "Shard"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Shard:
    """Every ``count``-th run of a sweep, from the ``number``-th on.

    Parameters
    ----------
    number : from 1 to ``count``.
    count : how many shards there are; one is the whole sweep.

    Raises
    ------
    ConfigError : there is no such shard.
    """

    number: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise ConfigError(f"shard {self.number}/{self.count}: allowed: i/n with i from 1 to n, such as 1/8")

    @classmethod
    def of(cls, text: str) -> Shard:
        """The shard that ``text`` names, as ``i/n``.

        Raises
        ------
        ConfigError : it is no shard.
        """
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
        if match is None:
            raise ConfigError(f"shard {text!r}: allowed: i/n with i from 1 to n, such as 1/8")
        return cls(int(match[1]), int(match[2]))

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the sweep."""
        return self.count == 1

    @property
    def suffix(self) -> str:
        """What its files have in their names; nothing where it is all of the sweep."""
        return "" if self.is_whole else f".{self.number}-of-{self.count}"

    def share(self, runs: Sequence[_T]) -> list[_T]:
        """Its part of ``runs``; the parts of all shards are all of it, each once."""
        return list(runs[self.number - 1 :: self.count])


#: The whole sweep.
WHOLE = Shard()
