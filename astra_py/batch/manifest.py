# SPDX-License-Identifier: GPL-2.0-only
"""What a sweep's folder says of itself: ``manifest.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.api import versions_here
from astra_py.batch.point import Point
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.batch.study import Study

__all__ = ["MANIFEST", "Manifest", "read_manifest"]

MANIFEST = "manifest.json"
#: Tells a sweep's manifest from a run's.
_KIND = "sweep"
#: Version of the layout of a sweep's folder.
_FORMAT = 1
#: Packages without which a run would be another one: a folder has points of one version of each.
_DECISIVE = ("astra_py", "ns3")


@dataclass(frozen=True)
class Manifest:
    """What was swept, by which versions.

    Attributes
    ----------
    title, digest, keys, points, scenario : of the study.
    versions : of Python and of the packages that make a run.
    """

    title: str
    digest: str
    keys: tuple[str, ...]
    points: tuple[Point, ...]
    scenario: Mapping[str, Any]
    versions: Mapping[str, str]

    @classmethod
    def of(cls, study: Study) -> Manifest:
        """The manifest of a study that begins here and now."""
        return cls(study.title, study.digest, study.keys, study.points, study.tree, versions_here())

    def require_same(self, other: Manifest, folder: Path) -> None:
        """Refuse to go on with ``other``, which ``folder`` holds.

        Raises
        ------
        ConfigError : it is of another study, or its points were run by other versions.
        """
        allowed = "the same sweep, an empty or absent folder, or overwriting (--overwrite)"
        if self.digest != other.digest:
            raise ConfigError(
                f"{folder}: the folder holds the sweep {other.digest[:12]} of {len(other.points)} points "
                f"({other.title}), not {self.digest[:12]} of {len(self.points)}; allowed: {allowed}"
            )
        for package in _DECISIVE:
            if (mine := self.versions[package]) != (its := other.versions.get(package)):
                raise ConfigError(
                    f"{folder}: points in the folder were run by {package} {its}, and this is {mine}; "
                    f"allowed: {allowed}"
                )

    def to_json(self, found: Mapping[str, Any]) -> str:
        """The manifest as a file has it, with what was found beside it: who ran points, and how many there are."""
        tree = {
            "kind": _KIND,
            "format": _FORMAT,
            "title": self.title,
            "digest": self.digest,
            "versions": dict(self.versions),
            **found,
            "scenario": dict(self.scenario),
            "keys": list(self.keys),
            "points": [{"values": dict(point.values), "digest": point.digest} for point in self.points],
        }
        return json.dumps(tree, indent=1, default=str) + "\n"


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a sweep's folder; None where there is none.

    Raises
    ------
    ConfigError : it cannot be read, or is not a sweep's.
    """
    path = folder / MANIFEST
    try:
        tree = json.loads(path.read_text("utf-8"))
        if not isinstance(tree, dict) or tree.get("kind") != _KIND:
            raise ConfigError(
                f"{folder}: the folder holds no sweep: its {MANIFEST} is of something else, such as a run; allowed: an "
                "empty or absent folder, or the same sweep's"
            )
        if tree["format"] != _FORMAT:
            raise ValueError(f"format {tree['format']!r}")
        points = tuple(Point(i, each["values"], each["digest"]) for i, each in enumerate(tree["points"]))
        keys = tuple(tree["keys"])
        return Manifest(tree["title"], tree["digest"], keys, points, tree["scenario"], tree["versions"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: not the manifest of a sweep in layout {_FORMAT}: {error!r}") from error
