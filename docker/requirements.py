# SPDX-License-Identifier: GPL-2.0-only
"""What ``pyproject.toml`` asks for, as one list for pip a layer of the image: ``requirements.py FOLDER [EXTRA ...]``.

A layer is made anew only where its own list has changed, so other changes of ``pyproject.toml`` cost nothing.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def layers(pyproject: dict[str, Any], extras: Sequence[str]) -> dict[str, list[str]]:
    """The requirements of each layer by its name.

    ``ns3`` is ns-3's wheel alone, ``run`` what the package and the named extras need beside it, ``build`` what compiles
    it, ``test`` what its tests need, and ``test-alone`` what they need without its own dependencies.

    Raises
    ------
    ValueError : there is no such extra.
    """
    project, tools = pyproject["project"], pyproject["tool"]["scikit-build"]
    optional = project["optional-dependencies"]
    if unknown := [extra for extra in extras if extra not in optional]:
        raise ValueError(f"no extra is named {unknown[0]!r}; allowed: {', '.join(optional)}")
    (ns3,) = (r for r in project["dependencies"] if r.startswith("ns3=="))
    return {
        "ns3": [ns3],
        "run": [r for r in project["dependencies"] if r != ns3] + [r for extra in extras for r in optional[extra]],
        "build": [
            *pyproject["build-system"]["requires"],
            f"cmake{tools['cmake']['version']}",
            f"ninja{tools['ninja']['version']}",
        ],
        "test": optional["dev"],
        "test-alone": optional["dev-alone"],
    }


def main(folder: str, *extras: str) -> None:
    """Write each list as ``FOLDER/LAYER.txt``."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    Path(folder).mkdir(parents=True, exist_ok=True)
    for layer, requirements in layers(pyproject, extras).items():
        (Path(folder) / f"{layer}.txt").write_text("".join(f"{r}\n" for r in requirements), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
