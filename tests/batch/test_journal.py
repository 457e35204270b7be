# SPDX-License-Identifier: GPL-2.0-only
"""The journal: what is written is there, whatever happens to its writer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from astra_py.batch.journal import Journal, read_journal
from astra_py.errors import ConfigError
from sweep_cases import made_up

OUTCOMES = [made_up(f"{number:064x}", is_failed=number == 2) for number in range(4)]


def written(path: Path) -> bytes:
    with Journal(path) as journal:
        journal.begin({"host": "here"})
        for outcome in OUTCOMES:
            journal.append(outcome)
    return path.read_bytes()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written(tmp_path / "journal.jsonl")
    assert read_journal(tmp_path / "journal.jsonl") == (OUTCOMES, [{"host": "here"}])


def test_no_file_has_no_outcomes(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "journal.jsonl") == ([], [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.integers(0, 10_000))
def test_a_journal_torn_anywhere_has_its_whole_lines_and_goes_on(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    whole = written(path)
    torn = whole[: cut % (len(whole) + 1)]
    path.write_bytes(torn)
    expected = OUTCOMES[: max(torn.count(b"\n") - 1, 0)]
    assert read_journal(path)[0] == expected
    with Journal(path) as journal:
        journal.append(OUTCOMES[3])
    assert read_journal(path)[0] == [*expected, OUTCOMES[3]]


@pytest.mark.parametrize("line", [b"{}", b"[1]", b'{"outcome": {}}', b'{"other": {}}', b"\0\0\0", b"\xff", b""])
def test_a_whole_line_that_is_none_is_an_error(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(written(path) + line + b"\n")
    with pytest.raises(ConfigError, match=r"journal\.jsonl, line 6: no outcome"):
        read_journal(path)
