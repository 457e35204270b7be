# SPDX-License-Identifier: GPL-2.0-only
"""``[system]``: presets, slow ranks, and what is refused."""

from __future__ import annotations

import pytest

from astra_py.config import load_scenario
from astra_py.config.stragglers import Stragglers
from astra_py.errors import ConfigError


def test_the_nccl_preset_is_put_under_what_is_given() -> None:
    plain = load_scenario({}, ["system.preset=nccl"]).system
    assert (plain.protocol, plain.channels) == ("auto", 32)
    given = load_scenario({}, ["system.preset=nccl", "system.protocol=ll", "system.channels=none"]).system
    assert (given.protocol, given.channels) == ("ll", None)
    assert load_scenario({}, ["system.preset=ideal"]).system == load_scenario({}).system
    assert load_scenario({}).system.protocol is None


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("none", Stragglers()),
        ("3:1.5", Stragglers(((3, 1.5),))),
        ("7:2, 3:1.25", Stragglers(((3, 1.25), (7, 2.0)))),
        ("lognormal:0.1", Stragglers(sigma=0.1)),
    ],
)
def test_stragglers_are_read_and_written(text: str, meaning: Stragglers) -> None:
    scenario = load_scenario({"system": {"stragglers": text}})
    assert scenario.system.stragglers == meaning
    again = load_scenario({"system": {"stragglers": scenario.resolved()["system"]["stragglers"]}})
    assert again.system.stragglers == meaning


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("3", "'3' is unknown"),
        ("3:0", "'0' is out of range"),
        ("3:2,3:4", "has rank 3 twice"),
        ("3:fast", "'fast' is out of range"),
        ("lognormal:-1", "'-1' is out of range"),
        ("lognormal", "did you mean 'lognormal:SIGMA'"),
        (3, "3 is not a text"),
    ],
)
def test_wrong_stragglers_are_refused(text: object, what: str) -> None:
    with pytest.raises(ConfigError, match=r"system\.stragglers") as caught:
        load_scenario({"system": {"stragglers": text}})
    assert what in str(caught.value)
    assert "'RANK:FACTOR,...'" in str(caught.value)


@pytest.mark.parametrize(
    ("override", "what"),
    [
        ("system.preset=ncl", "did you mean 'nccl'"),
        ("system.protocol=ll12", "did you mean 'll128'"),
        ("system.admission=0", "out of range"),
        ("system.channels=many", "not a whole number"),
        ("system.priority=first", "'first' is unknown"),
    ],
)
def test_wrong_values_are_refused(override: str, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario({}, [override])
    assert what in str(caught.value)
