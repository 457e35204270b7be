# SPDX-License-Identifier: GPL-2.0-only
"""The validation table: what is known from elsewhere, and what the engines say to it."""

from astra_py.analysis.validation.case import Case, Figures, Kind, Relation, Row
from astra_py.analysis.validation.table import CASES, validate

__all__ = ["CASES", "Case", "Figures", "Kind", "Relation", "Row", "validate"]
