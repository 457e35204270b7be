# SPDX-License-Identifier: GPL-2.0-only
"""The validation table: each case as a test, and how a case is judged."""

from __future__ import annotations

import json

import pytest

from astra_py.analysis.validation import Case, Figures, Kind, Relation, Row, exact, machines, validate
from astra_py.analysis.validation.case import measure
from astra_py.analysis.validation.engines import chain
from astra_py.analysis.validation.table import all_cases, to_pandas
from astra_py.cli.app import command
from astra_py.errors import ConfigError

CASES = all_cases()


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id, marks=() if case.is_quick else pytest.mark.slow) for case in CASES]
)
def test_case(case: Case) -> None:
    row = measure(case)
    assert not row.is_fatal, f"{row.figures} against {case.tolerance}"


def test_figures_that_were_fitted() -> None:
    """The efficiency that fits eight A100 is about 0.7; seventeen delays in a row are about 300 us of latency."""
    assert machines._a100_points()[0] == "platform.scale_up.efficiency = 0.7042"
    assert machines._v100_delay_ns() == 17_371


def test_every_row_of_a_real_machine_that_must_pass_is_there() -> None:
    must = {case.id.split("_")[0] for case in CASES if case.section == "machines" and case.is_must}
    assert must == {"machines.v2", "machines.v5", "machines.v6", "machines.v7", "machines.v7c"}


def test_ids_are_unique_and_a_quick_table_has_twenty_rows() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
    assert len(all_cases(is_quick=True)) >= 20


def judged(points: list[Figures], **more: object) -> Row:
    case = {"id": "a.b", "title": "", "source": "", "kind": Kind.PREDICTED, "unit": "us", "measure": lambda: points}
    return measure(Case(**{**case, **more}))


@pytest.mark.parametrize(
    ("relation", "tolerance", "value", "passes"),
    [
        (Relation.EQUAL, 0.0, 100, True),
        (Relation.EQUAL, 0.0, 101, False),
        (Relation.EQUAL, 0.01, 101, True),
        (Relation.EQUAL, 0.01, 98.9, False),
        (Relation.AT_MOST, 0.0, 3, True),
        (Relation.AT_MOST, 0.0, 101, False),
        (Relation.AT_LEAST, 0.05, 95, True),
        (Relation.AT_LEAST, 0.05, 94, False),
    ],
)
def test_a_verdict(relation: Relation, tolerance: float, value: float, passes: bool) -> None:
    row = judged([Figures(expected=100, packet=value)], relation=relation, tolerance=tolerance)
    assert (row.passes, row.is_fatal) == (passes, not passes)


def test_an_engine_that_was_not_asked_does_not_pass() -> None:
    assert judged([Figures(expected=0, analytic=0)]).passes is False
    assert judged([Figures(expected=0, analytic=0)], judged="analytic").passes is True


def test_exact_is_exact_beyond_what_a_float_can_tell_apart() -> None:
    assert judged([Figures(expected=2**60, packet=2**60 + 1)]).passes is False


def test_of_several_points_the_worst_is_shown() -> None:
    row = judged([Figures(expected=10, packet=value, point=str(value)) for value in (10, 12, 9)])
    assert (row.figures.point, row.passes, row.points) == ("12", False, 3)


def test_what_is_reported_has_no_verdict() -> None:
    row = judged([Figures(expected=1, packet=2)], kind=Kind.REPORTED)
    assert row.passes is None
    assert not row.is_fatal
    assert row.error == 1.0


def test_names_that_fit_nothing_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"no case is called 'exakt'; sections: exact"):
        validate(["exakt"])


def test_a_table_of_a_section() -> None:
    frame = to_pandas(validate(["exact.message_1", "exact.busbw"]))
    assert list(frame["case"]) == ["exact.message_1", "exact.busbw"]
    assert frame["pass"].all()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as done:
        command(["validate", *arguments])
    return int(done.value.code or 0), capsys.readouterr().out


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "exact.message_2", "--quiet")
    assert code == 0
    assert "message_2" in out
    assert "1 cases: 1 of 1 that must pass do" in out


def test_the_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "exact.message_[12]", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["case"] for row in rows] == ["exact.message_1", "exact.message_2"]
    assert all(row["packet"] == row["expected"] and row["pass"] for row in rows)


def test_a_row_that_must_pass_and_does_not_is_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "chain", lambda links, between: chain(links, [0] * len(between)))
    code, out = run(capsys, "exact.message_2", "--quiet")
    assert code == 1
    assert "FAIL" in out
