# SPDX-License-Identifier: GPL-2.0-only
"""Results as one HTML file: a headline in words, scenario, timeline, tables, pictures and where it all comes from."""

from __future__ import annotations

from astra_py.report.headline import Headline, headline
from astra_py.report.page import write_report

__all__ = ["Headline", "headline", "write_report"]
