# SPDX-License-Identifier: GPL-2.0-only
"""The project's build backend: scikit-build-core, with ns-3's wheel at hand for a build in isolation.

The extension is compiled against the headers and libraries in ns-3's wheel. As a build requirement that wheel would
bring its dependencies, which compile for minutes and which the build has no use for; and the environment that the
project goes into gets it after the build only. So where the wheel is not installed yet, it is fetched for the time of
the build, with the user's own pip settings and without its dependencies.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scikit_build_core import build as scikit_build


def __getattr__(name: str) -> Any:
    """Every hook that is not defined here is scikit-build-core's."""
    return getattr(scikit_build, name)


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What scikit-build-core asks for, and pip if it has to fetch ns-3's wheel."""
    return scikit_build.get_requires_for_build_wheel(config_settings) + ([] if ns3_folder() else ["pip"])


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What scikit-build-core asks for, and pip if it has to fetch ns-3's wheel."""
    return scikit_build.get_requires_for_build_editable(config_settings) + ([] if ns3_folder() else ["pip"])


def build_wheel(*args: Any, **kwargs: Any) -> str:
    """Build a wheel, as PEP 517 has it."""
    with ns3_at_hand():
        return scikit_build.build_wheel(*args, **kwargs)


def build_editable(*args: Any, **kwargs: Any) -> str:
    """Build an editable wheel, as PEP 660 has it."""
    with ns3_at_hand():
        return scikit_build.build_editable(*args, **kwargs)


def ns3_requirement() -> str:
    """The project's own pin, ``ns3==...``."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    return next(str(r) for r in project["dependencies"] if r.startswith("ns3=="))


def ns3_folder() -> str | None:
    """The folder that has the pinned wheel already: named by the user, of this build, or where the project will go."""
    if named := os.environ.get("NS3_WHEEL_ROOT"):
        return named
    path = [*sys.path, sysconfig.get_path("platlib")]
    for distribution in importlib.metadata.distributions(name="ns3", path=path):
        if f"ns3=={distribution.version}" == ns3_requirement():
            return str(distribution.locate_file(""))
    return None


@contextmanager
def ns3_at_hand() -> Iterator[None]:
    """Tell CMake where ns-3's wheel is; where it is nowhere, fetch it for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="astra-py-ns3-") as fetched:
        folder = ns3_folder()
        if folder is None:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
            subprocess.run([*pip, "install", "--no-deps", "--target", fetched, ns3_requirement()], check=True)
            folder = fetched
        os.environ["NS3_WHEEL_ROOT"] = folder
        yield
