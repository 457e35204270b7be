# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import time

import pytest

from astra_py.cli.progress import progress


def test_quiet_asks_for_nothing() -> None:
    with progress("job", is_quiet=True) as tell:
        assert tell is None


def test_without_a_terminal_a_line_now_and_then_goes_to_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with progress("job") as tell:
        assert tell is not None
        for seconds in (0.1, 9.0, 10.0, 10.1, 25.0):
            now = 100.0 + seconds
            tell(5_000_000, 1234, 3, 10)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["job: 5.0 us simulated, 1,234 events, 3 of 10 operations"] * 2


def test_in_a_terminal_a_bar_is_drawn_and_taken_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress("job") as tell:
        assert tell is not None
        tell(5_000_000, 1234, 3, 10)
    assert capsys.readouterr().out == ""
