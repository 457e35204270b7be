# SPDX-License-Identifier: GPL-2.0-only
"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# Time is measured in benchmarks and not asserted in tests: a busy machine is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
