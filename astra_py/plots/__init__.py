# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of results: functions that draw on axes of matplotlib, which is imported when one is called."""

from __future__ import annotations
