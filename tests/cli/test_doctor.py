# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py doctor``: what it prints of a check, and its exit codes."""

from __future__ import annotations

import json

import pytest

from astra_py.cli import doctor as module
from astra_py.cli.app import command
from astra_py.installation import Check, State


@pytest.mark.parametrize(("state", "code"), [(State.OK, 0), (State.WARN, 0), (State.FAIL, 2)])
def test_exit_code(
    state: State, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "examine", lambda: iter([Check("thing", state, "as found", "do this")]))
    for arguments in ([], ["--json"]):
        with pytest.raises(SystemExit) as caught:
            command(["doctor", *arguments])
        assert caught.value.code == code
    text, advice, row = capsys.readouterr().out.splitlines()
    assert text == f"{state.upper():<5} thing: as found"
    assert advice.strip() == "do this"
    assert json.loads(row) == {"name": "thing", "state": state.value, "finding": "as found", "advice": "do this"}
