# SPDX-License-Identifier: GPL-2.0-only
"""Results: tables, checks, storage and the printed report of a run."""

from astra_py.results.check import Check
from astra_py.results.columns import TABLES, Column
from astra_py.results.result import Result
from astra_py.results.store import read_result
from astra_py.results.trace import WrittenTrace, write_trace

__all__ = ["TABLES", "Check", "Column", "Result", "WrittenTrace", "read_result", "write_trace"]
