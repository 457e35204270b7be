# SPDX-License-Identifier: GPL-2.0-only
"""What halving and doubling figures does, where that is known beforehand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from astra_py.analysis.sensitivity import Effect, figures_of, sensitivity, to_pandas
from astra_py.cli.app import command
from astra_py.config import load_scenario
from astra_py.errors import ConfigError

#: One large message on two links: serialisation at the second one is all but the first packet's.
TREE = {
    "engine": "analytic",
    "platform": {"ranks": 2, "link_rate": "100Gbps", "link_delay": "1us", "switch_latency": "0ns"},
    "transport": {"congestion_control": "none", "ack": "out_of_band"},
}


def effects(*keys: str, size: int = 100_000_000, tree: dict = TREE) -> dict[str, Effect]:
    found = sensitivity(tree, keys=keys, collective=("all_gather", size))
    return {effect.key: effect for effect in found}


def test_a_rate_on_the_critical_path() -> None:
    (effect,) = effects("platform.link_rate").values()
    assert effect.halved.change == pytest.approx(1.0, abs=1e-3)
    assert effect.doubled.change == pytest.approx(-0.5, abs=1e-3)
    assert (effect.halved.value, effect.doubled.value) == ("50Gbps", "200Gbps")


def test_a_sendrecv_is_one_of_two_ranks() -> None:
    tree = {**TREE, "platform": {**TREE["platform"], "ranks": 5}}
    (effect,) = sensitivity(tree, keys=["platform.link_rate"], collective=("sendrecv", 100_000_000))
    assert effect.halved.change == pytest.approx(1, abs=1e-2)


def test_a_delay_counts_once_a_link() -> None:
    effect = effects("platform.link_delay", size=2)["platform.link_delay"]
    assert effect.doubled.time_ps - effect.time_ps == 2 * 1_000_000
    assert effect.time_ps - effect.halved.time_ps == 2 * 500_000


def test_what_does_nothing_is_a_finding() -> None:
    effect = effects("switch.pfc_alpha")["switch.pfc_alpha"]
    assert effect.has_no_effect
    assert effect.largest == 0.0


def test_a_value_that_is_not_allowed_is_told_of() -> None:
    tree = {**TREE, "platform": {"kind": "zionex", "nodes": 1}}
    effect = effects("platform.scale_up.efficiency", tree=tree)["platform.scale_up.efficiency"]
    assert effect.doubled.time_ps is None
    assert "above 0 to 1" in effect.doubled.refused
    assert effect.halved.change == pytest.approx(1.0, abs=2e-2)
    assert not effect.has_no_effect


def test_the_largest_comes_first() -> None:
    found = sensitivity(TREE, collective=("all_gather", 100_000))
    sizes = [effect.largest for effect in found if not effect.is_refused]
    assert sizes == sorted(sizes, reverse=True)
    assert found[0].key == "platform.link_rate"


def test_figures_are_numbers_that_mean_something() -> None:
    known = figures_of(load_scenario(TREE))
    assert known["platform.link_rate"] == "100Gbps"
    assert "transport.payload" in known
    assert "platform.switch_latency" not in known, "0 has no half"
    assert "switch.buffer" not in known, "auto is a rule"
    assert not [key for key in known if key.startswith(("limits", "pcap", "transport.dcqcn", "seed"))]


def test_numbers_of_things_when_named() -> None:
    assert "platform.ranks" in effects("platform.ranks")


def test_figures_of_jobs_and_background() -> None:
    """Tables by names of the user's own: what each flow has, and a job's own compute."""
    layers = {"kind": "dlrm", "preset": "dlrm_s", "compute_scale": 2.0}
    incast = {"kind": "incast", "size": "1MB", "senders": 3, "receiver": 0}
    tree = {**TREE, "platform": {"ranks": 4}, "background": {"burst": incast}}
    known = figures_of(load_scenario({**tree, "jobs": {"own": {"workload": layers}}}))
    assert (known["background.burst.size"], known["jobs.own.workload.compute_scale"]) == ("1MB", 2.0)
    (effect,) = sensitivity(tree, keys=["background.*.size"])
    assert effect.doubled.change == pytest.approx(1, abs=0.02)
    assert effect.halved.change == pytest.approx(-0.5, abs=0.02)
    with pytest.raises(ConfigError, match="fits no figure of this scenario"):
        sensitivity(tree, keys=["background.*"], collective=("all_gather", 1000))


def test_keys_that_fit_nothing() -> None:
    with pytest.raises(ConfigError, match=r"'platform.link_rat' fits no figure.*did you mean 'platform.link_rate'"):
        effects("platform.link_rat")


def test_a_table() -> None:
    frame = to_pandas(sensitivity(TREE, keys=["platform.link_*"], collective=("all_gather", 100)))
    assert list(frame["key"]) == ["platform.link_delay", "platform.link_rate"]
    assert frame["halved_change_percent"].iloc[0] == pytest.approx(-50, abs=1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.toml"
    path.write_text('engine = "analytic"\n[platform]\nranks = 4\n')
    arguments = ["sensitivity", str(path), "--collective", "all_reduce:1MiB", "--key", "platform.link_rate"]
    with pytest.raises(SystemExit) as done:
        command([*arguments, "--json", "--quiet"])
    assert not done.value.code
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["key"] == "platform.link_rate"
    assert row["halved_change_percent"] > 50
    with pytest.raises(SystemExit):
        command([*arguments, "--key", "switch.pfc_alpha"])
    out, err = capsys.readouterr()
    assert "nothing changes" in out
    assert "switch.pfc_alpha: 0 halved, 0 doubled" in err
