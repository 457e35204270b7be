# SPDX-License-Identifier: GPL-2.0-only
"""RoCE and TCP on one scenario file: one table of all engines and transports, and what is put aside in each."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import astra_py as ap
from astra_py.analysis.comparison import Comparison
from astra_py.cli.app import command
from astra_py.errors import ConfigError

WORKLOADS = Path(__file__).parents[2] / "workloads"
JOB = str(WORKLOADS / "hoti2020_dlrm.toml")
LABELS = ("packet, roce", "analytic, roce", "packet, tcp", "analytic, tcp")


@pytest.fixture(scope="module")
def both() -> Comparison:
    """Two servers, both engines, both transports."""
    return ap.compare(JOB, "platform.nodes=2", engines=["packet", "analytic"], transports=["roce", "tcp"])


def test_one_table_has_engines_and_transports_side_by_side(both: Comparison) -> None:
    assert both.labels == LABELS
    assert set(both.table["level"]) == {"iteration", "exposed", "collective", "phase"}
    assert {f"{label}_us" for label in LABELS} <= set(both.table.columns)
    assert not both.table[[f"{label}_us" for label in LABELS]].isna().any().any()


def test_exposed_communication_is_the_iteration_less_its_compute(both: Comparison) -> None:
    for label, (result,) in zip(both.labels, both.results, strict=True):
        assert list(both.exposed[f"{label}_us"]) == pytest.approx(list(result.iterations["exposed_us"]))
        assert (both.exposed[f"{label}_us"] < both.iterations[f"{label}_us"]).all()


def test_each_run_is_that_of_its_transport(both: Comparison) -> None:
    for label, case, (result,) in zip(both.labels, both.cases, both.results, strict=True):
        engine, kind = label.split(", ")
        alone = ap.load(JOB, "platform.nodes=2", f"engine={engine}", f"transport.kind={kind}")
        assert case.runs[0].digest == alone.digest
        assert case.runs[0].transport.payload_bytes == {"roce": 4096, "tcp": 9000 - 52}[kind]
        assert list(both.iterations[f"{label}_us"]) == list(result.iterations["time_us"])


def test_bottlenecks_stand_beside_the_times(both: Comparison) -> None:
    for label, (result,) in zip(both.labels, both.results, strict=True):
        assert list(both.collectives[f"{label}_bottleneck"]) == list(result.collectives["bottleneck"])
    # too wide for a terminal side by side: a row a column of times, with what bounds it at its end
    lines = both.report(has_why=False).splitlines()
    start = next(i for i, line in enumerate(lines) if line.endswith("bottleneck")) + 2
    first = both.collectives.iloc[0]
    shown = [line.split()[-1] for line in lines[start : start + len(LABELS)]]
    assert shown == [first[f"{label}_bottleneck"].split()[-1] for label in both.labels]


def test_frames_are_followed_over_roce_only(both: Comparison) -> None:
    assert set(both.why["variant"]) == {"roce"}
    with pytest.raises(ConfigError, match="no packet run over RoCE"):
        _ = ap.compare(JOB, "platform.nodes=1", engines=["packet"], transports=["tcp"]).why


def test_keys_of_both_kinds_may_be_given_at_once() -> None:
    """What one of them does not know is put aside in its run, and not refused."""
    keys = ("platform.nodes=1", "transport.tcp.mtu=1500B", "transport.payload=1024B")
    pair = ap.compare(JOB, *keys, engines=["analytic"], transports=["roce", "tcp"])
    assert [case.runs[0].transport.payload_bytes for case in pair.cases] == [1024, 1448]
    alone = ap.compare(
        {},
        "platform.ranks=4",
        *keys[1:],
        engines=["flow"],
        transports=["roce", "tcp"],
        collective="all_reduce",
        sizes=[2**20],
    )
    assert alone.labels == ("flow, roce", "flow, tcp")
    # the headers of smaller packets
    expected = (82 / 1024 + 1) / (90 / 1448 + 1)
    row = alone.collectives.iloc[0]
    assert row["flow, roce_us"] / row["flow, tcp_us"] == pytest.approx(expected, rel=0.01)


def test_a_tolerance_holds_for_times_and_not_for_what_is_exposed() -> None:
    keys = ("platform.nodes=1", "workload.iterations=1")
    table = ap.compare(JOB, *keys, engines=["flow", "analytic"], transports=["roce"], tolerance=0.0).outside
    assert set(table["level"]) <= {"iteration", "collective"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"transports": []}, "transports: there is none"),
        ({"transports": ["tpc"]}, "transports: 'tpc' is unknown; did you mean 'tcp'"),
        ({"transports": ["tcp", "tcp"]}, "compared with itself"),
        ({"transports": ["tcp"], "vary": {"transport.kind": ["roce"]}}, "their kinds as transports"),
        ({"transports": ["tcp"], "variants": {"a": ["transport.kind=roce"]}}, "their kinds as transports"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ap.compare(JOB, engines=["analytic"], **arguments)  # type: ignore[arg-type]


def test_one_command_prints_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [JOB, "platform.nodes=1", "--engines", "analytic,flow", "--transports", "roce,tcp", "--format", "csv"]
    with pytest.raises(SystemExit) as ended:
        command(["compare", *arguments])
    assert ended.value.code == 0
    printed = capsys.readouterr().out.splitlines()
    assert all(f"{engine}, {kind}_us" in printed[0] for engine in ("analytic", "flow") for kind in ("roce", "tcp"))
    table = ap.compare(JOB, "platform.nodes=1", engines=["analytic", "flow"], transports=["roce", "tcp"]).table
    assert isinstance(table, pd.DataFrame)
    assert len(printed) == len(table) + 1
