# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py params``."""

from __future__ import annotations

import json

import pytest

from astra_py.cli.app import command
from astra_py.config import parameter_table


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as caught:
        command(["params", *arguments])
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert all(f"{row.key}  ({row.type}, " in out for row in parameter_table())


def test_one(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "link_delay")
    assert out == (
        "platform.link_delay  (time, default 500ns)\n"
        "    Propagation delay of every Ethernet link.\n"
        "    allowed: a time of at most 100s\n"
        "    only:    a platform.kind other than 'file'\n"
        "    held in: ps\n"
        "    source:  HOTI 2020, run line of the published artefact\n"
        "    ns-3:    ns3::FabricDevice::Delay\n"
    )


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("transport.window", ["transport.window"]),
        ("link_*", []),
        ("platform.link_?????", ["platform.link_delay"]),
        ("*.link_rate", ["platform.link_rate"]),
        ("spin", ["platform.spines"]),
    ],
)
def test_patterns(capsys: pytest.CaptureFixture[str], pattern: str, keys: list[str]) -> None:
    code, out, err = run(capsys, pattern, "--json")
    assert [json.loads(line)["key"] for line in out.splitlines()] == keys
    assert code == (0 if keys else 2)
    assert ("is part of no key" in err) == (not keys)


def test_a_misspelt_key_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "platform.lnk_rate")
    assert code == 2
    assert "did you mean 'platform.link_rate'?" in err


def test_json_is_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["key"] for row in rows] == [row.key for row in parameter_table()]
    assert set(rows[0]) == {
        *(
            "key",
            "type",
            "unit",
            "default",
            "by_transport",
            "presets",
            "allowed",
            "only",
            "source",
            "ns3",
            "description",
        )
    }


def test_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--markdown")
    lines = out.splitlines()
    assert len(lines) == 2 + len(parameter_table())
    assert {line.count("|") - line.count("\\|") for line in lines} == {lines[0].count("|")}


def test_one_form_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--json", "--markdown")
    assert code == 2
    assert "--json and --markdown" in err
