# SPDX-License-Identifier: GPL-2.0-only
"""The check of the installation: what it finds where things are well, and where each of them is not."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from astra_py import installation as module
from astra_py.installation import Check, State, examine


def found(name: str) -> Check:
    return next(check for check in examine() if check.name == name)


def test_what_is_well() -> None:
    states = {check.name: check.state for check in examine()}
    assert all(states[name] is State.OK for name in ("Python", "machine", "numpy", "ns3", "ns-3 libraries"))
    assert "ns" not in sys.modules


def test_every_trouble_comes_with_advice() -> None:
    assert all(check.advice for check in examine() if check.state is not State.OK)


def absent(*names: str) -> Callable[[str], str]:
    def version(name: str) -> str:
        if name in names:
            raise PackageNotFoundError(name)
        return "1.0"

    return version


@pytest.mark.parametrize(
    ("name", "change", "state"),
    [
        ("Python", (sys, "version_info", (3, 14, 0)), State.FAIL),
        ("machine", (platform, "machine", lambda: "aarch64"), State.FAIL),
        ("networkx", (module, "version", absent("networkx")), State.FAIL),
        ("ns3", (module, "version", absent("ns3")), State.FAIL),
        ("ns3", (module, "version", absent()), State.FAIL),
        ("ns-3 libraries", (module, "_ns3_core_library", lambda: None), State.FAIL),
        ("ns-3 libraries", (module, "_LOAD_LIBRARY", "import os; os.abort()"), State.FAIL),
        ("extension", (importlib.util, "find_spec", lambda name: None), State.FAIL),
        ("compiler", (shutil, "which", lambda name: None), State.WARN),
        ("cppyy", (module, "version", absent("cppyy")), State.OK),
    ],
)
def test_what_is_not_well(
    name: str, change: tuple[object, str, Any], state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*change)
    check = found(name)
    assert check.state is state
    assert bool(check.advice) == (state is not State.OK)


@pytest.mark.parametrize(
    ("answer", "states"),
    [
        (('{"seconds": 0.01, "unit": 8}', ""), {"extension": State.OK, "time resolution": State.OK}),
        (('{"seconds": 2.0, "unit": 8}', ""), {"extension": State.WARN, "time resolution": State.OK}),
        (('{"seconds": 0.01, "unit": 7}', ""), {"extension": State.OK, "time resolution": State.FAIL}),
        (("", "ImportError: no"), {"extension": State.FAIL}),
    ],
)
def test_the_extension(answer: tuple[str, str], states: dict[str, State], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(module, "probe", lambda code, *arguments: answer)
    assert {check.name: check.state for check in module._extension(None)} == states
