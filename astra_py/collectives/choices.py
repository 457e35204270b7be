# SPDX-License-Identifier: GPL-2.0-only
"""Alternatives of a template in the making, and what they have to have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from astra_py.collectives.schedule import Template
from astra_py.errors import ConfigError

__all__ = ["Choices"]


class Choices:
    """Which alternative each batch of operations is of, and which levels each alternative visits."""

    def __init__(self) -> None:
        self._choice_ptr = [0]
        self._visits: list[Sequence[tuple[int, int]]] = []
        self._of_batch: list[int] = []
        self._current = -1

    def begin_alternative(self, visits: Sequence[tuple[int, int]]) -> None:
        """Let batches from here on be of a new alternative, of the choice that is open or of a new one."""
        if self._current < 0:
            self._choice_ptr.append(self._choice_ptr[-1])
        self._choice_ptr[-1] += 1
        self._current = len(self._visits)
        self._visits.append(visits)

    def end(self) -> None:
        """Let batches from here on be of no alternative."""
        self._current = -1

    def add(self) -> None:
        """Add a batch."""
        self._of_batch.append(self._current)

    def columns(self, batch_sizes: Sequence[int]) -> dict[str, Any]:
        """The columns of a template; none where there is no choice.

        Parameters
        ----------
        batch_sizes : how many operations each batch has.
        """
        if not self._visits:
            return {}
        return {
            "alternative": np.repeat(np.array(self._of_batch, dtype=np.int32), batch_sizes),
            "choice_ptr": np.array(self._choice_ptr, dtype=np.int64),
            "visit_ptr": np.cumsum([0, *map(len, self._visits)], dtype=np.int64),
            "visit_level": np.array([level for each in self._visits for level, _ in each], dtype=np.int32),
            "visit_load_ps": np.array([load for each in self._visits for _, load in each], dtype=np.int64),
        }

    @staticmethod
    def check(template: Template, error: Callable[[str], ConfigError]) -> None:
        """Require what makes the alternatives of a choice exchangeable.

        Raises
        ------
        ConfigError : one waits for another one's operations, or they differ in the number of their messages or in the
            bytes that a rank sends or receives.
        """
        if not template.choices:
            return
        alternatives = int(template.choice_ptr[-1])
        choice = np.repeat(np.arange(template.choices), np.diff(template.choice_ptr))
        before = template.alternative[template.dep_op]
        after = np.repeat(template.alternative, np.diff(template.dep_ptr))
        is_across = (before >= 0) & (after >= 0) & (before != after)
        if (choice[before[is_across]] == choice[after[is_across]]).any():
            raise error("an operation waits for one of another alternative, of which only one will be there")
        of = np.flatnonzero(template.is_send & (template.alternative >= 0))
        moved = np.zeros((3, alternatives, template.ranks), dtype=np.int64)
        np.add.at(moved[0], (template.alternative[of], template.src[of]), template.size_bytes[of])
        np.add.at(moved[1], (template.alternative[of], template.dst[of]), template.size_bytes[of])
        moved[2, :, 0] = np.bincount(template.alternative[of], minlength=alternatives)
        first = template.choice_ptr[choice]
        for what, table in zip(("sends", "receives", "messages"), moved, strict=True):
            if len(wrong := np.argwhere(table != table[first])):
                number, rank = (int(i) for i in wrong[0])
                whose = "" if what == "messages" else f"rank {rank} {what} "
                raise error(
                    f"alternative {number}: {whose}{table[number, rank]}{' messages' if not whose else ' bytes'}, and "
                    f"{table[first[number], rank]} in the first one of its choice; these are the same in all"
                )
