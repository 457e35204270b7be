# SPDX-License-Identifier: GPL-2.0-only
"""One line of a validation table: what was published or follows exactly, what came out, and how far that may differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["RowKind", "ValidationRow"]


class RowKind(StrEnum):
    """How much of a row is its own data.

    EXACT: follows from definitions. PREDICTED: nothing of the row is in the model. CALIBRATED: rates of other
    measurements are. FITTED: a parameter was fitted to this row, which therefore predicts nothing.
    """

    EXACT = "exact"
    PREDICTED = "predicted"
    CALIBRATED = "calibrated"
    FITTED = "fitted"


@dataclass(frozen=True, kw_only=True)
class ValidationRow:
    """One comparison.

    Attributes
    ----------
    case : name of the case and what of it.
    source : where the expected value is printed, or the rule that it follows from.
    kind : see :class:`RowKind`.
    engine : what computed the value.
    quantity : the value's name, which ends in its unit.
    expected, computed : both sides.
    tolerance : largest relative difference that passes.
    is_required : whether the row has to pass.
    note : what was fitted, or why the sides differ.
    """

    case: str
    source: str
    kind: RowKind
    engine: str
    quantity: str
    expected: float
    computed: float
    tolerance: float
    is_required: bool = False
    note: str = ""

    @property
    def error(self) -> float:
        """Computed over expected, less one."""
        return self.computed / self.expected - 1

    @property
    def has_passed(self) -> bool:
        """Whether the sides differ by no more than the tolerance."""
        return abs(self.error) <= self.tolerance
