# SPDX-License-Identifier: GPL-2.0-only
"""All cases, and the table they make."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from astra_py.analysis.validation.case import Case, Row, measure
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CASES", "all_cases", "records", "to_pandas", "validate"]

#: What makes the cases, by section of the table: a module of this package and its function.
CASES = {
    "exact": ("astra_py.analysis.validation.exact", "exact_cases"),
    "astra_ns3": ("astra_py.analysis.validation.simulators", "simulator_cases"),
    "machines": ("astra_py.analysis.validation.machines", "machine_cases"),
    "iterations": ("astra_py.analysis.validation.iterations", "iteration_cases"),
    "control": ("astra_py.analysis.validation.control", "control_cases"),
}


def all_cases(patterns: Sequence[str] = (), *, is_quick: bool = False) -> list[Case]:
    """Return the cases whose id, or section, is one of ``patterns`` (``*`` stands for anything); all without any.

    Raises
    ------
    ConfigError : a pattern fits no case.
    """
    from importlib import import_module

    cases = [case for module, name in CASES.values() for case in getattr(import_module(module), name)()]
    for pattern in patterns:
        if not any(_fits(case, pattern) for case in cases):
            raise ConfigError(
                f"no case is called {pattern!r}; sections: {', '.join(dict.fromkeys(case.section for case in cases))}"
            )
    chosen = [case for case in cases if not patterns or any(_fits(case, pattern) for pattern in patterns)]
    return [case for case in chosen if case.is_quick or not is_quick]


def _fits(case: Case, pattern: str) -> bool:
    return pattern == case.section or fnmatch.fnmatchcase(case.id, pattern)


def validate(
    patterns: Sequence[str] = (), *, is_quick: bool = False, told: Callable[[Row], None] | None = None
) -> list[Row]:
    """Run the validation table.

    Parameters
    ----------
    patterns : ids or sections of the cases to run, ``*`` for anything; all of them without any.
    is_quick : leave out what takes long.
    told : called with each row when it is there.

    Returns
    -------
    A row a case. The table has failed where any :attr:`Row.is_fatal`.

    Raises
    ------
    ConfigError : a pattern fits no case.
    AstraPyError : a case could not be run.
    """
    rows = []
    for case in all_cases(patterns, is_quick=is_quick):
        try:
            row = measure(case)
        except Exception as error:
            error.add_note(f"in the validation case {case.id}")
            raise
        rows.append(row)
        if told is not None:
            told(row)
    return rows


def records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """One mapping a case, ready for JSON: what it is, what is expected, each engine's figure, the verdict."""
    return [
        {
            "case": row.case.id,
            "title": row.case.title,
            "point": row.figures.point,
            "source": row.case.source,
            "kind": row.case.kind.value,
            "must": row.case.is_must,
            "unit": row.case.unit,
            "judged": row.case.judged,
            "relation": row.case.relation.value,
            "expected": row.figures.expected,
            "packet": row.figures.packet,
            "flow": row.figures.flow,
            "analytic": row.figures.analytic,
            "error": row.error,
            "tolerance": row.case.tolerance,
            "pass": row.passes,
            "points": row.points,
            "cpu_s": row.cpu_s,
            "note": row.case.note,
        }
        for row in rows
    ]


def to_pandas(rows: Iterable[Row]) -> pd.DataFrame:
    """The table as a DataFrame, one row a case, columns as :func:`records` names them."""
    import pandas as pd

    return pd.DataFrame(records(rows))
