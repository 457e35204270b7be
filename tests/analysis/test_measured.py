# SPDX-License-Identifier: GPL-2.0-only
"""Rows of real machines: those that have to pass do, and what was fitted is said."""

from __future__ import annotations

import pytest

from astra_py.analysis.measured import (
    all_reduce_on_a100,
    all_reduce_on_v100,
    all_to_all_limit,
    zionex_collectives,
    zionex_iterations,
)
from astra_py.analysis.validation_row import RowKind, ValidationRow


def require_passed(rows: list[ValidationRow]) -> None:
    failed = [(row.case, row.quantity, row.expected, row.computed) for row in rows if not row.has_passed]
    assert not failed


def test_all_reduce_on_64_v100() -> None:
    rows = all_reduce_on_v100()
    require_passed(rows)
    assert [row.kind for row in rows] == [RowKind.FITTED] + [RowKind.PREDICTED] * 8
    # 17 delays in a row: about 300 us
    assert "system.endpoint_delay = 17371 ns fitted at 32 MiB" in rows[0].note


@pytest.mark.slow
def test_all_reduce_on_64_v100_in_packets() -> None:
    require_passed(all_reduce_on_v100("packet", 64 * 2**20))


def test_all_reduce_on_8_a100() -> None:
    """The efficiency that fits is about 0.7. One for all sizes is not enough for the smallest and the largest one."""
    rows = all_reduce_on_a100()
    assert [row.has_passed for row in rows] == [False, True, True, False]
    assert max(abs(row.error) for row in rows) < 0.19
    assert "platform.scale_up.efficiency = 0.7042 fitted" in rows[0].note
    assert not any(row.is_required for row in rows)


@pytest.mark.parametrize("engine", ["analytic", "packet"])
def test_the_limit_of_an_all_to_all(engine: str) -> None:
    require_passed(all_to_all_limit(engine))


def test_zionex() -> None:
    rows = [*zionex_collectives(), *zionex_iterations()]
    require_passed(rows)
    assert len([row for row in rows if row.is_required]) == 2 + 6 + 1 + 3


def test_a_row_that_is_too_far_off_fails() -> None:
    row = ValidationRow(
        case="", source="", kind=RowKind.EXACT, engine="", quantity="", expected=100, computed=106, tolerance=0.05
    )
    assert row.error == pytest.approx(0.06)
    assert not row.has_passed
