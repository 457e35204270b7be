# SPDX-License-Identifier: GPL-2.0-only
"""Pictures without a window, closed after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")
