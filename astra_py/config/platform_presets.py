# SPDX-License-Identifier: GPL-2.0-only
"""Platforms by name that ship with the package: values of ``[platform]`` under those that are given."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from astra_py.config.platform_kinds import FILE
from astra_py.config.rules import Choice, WordRule
from astra_py.config.table import FieldError

__all__ = ["PlatformPresetRule", "platform_presets", "with_preset"]


@cache
def platform_presets() -> Mapping[str, Mapping[str, Any]]:
    """Return the platform presets that ship with the package: name to the keys that it sets."""
    folder = files("astra_py.config") / "presets" / "platform"
    found = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return {name.removesuffix(".toml"): tomllib.loads(found[name].read_text("utf-8")) for name in sorted(found)}


class PlatformPresetRule(WordRule):
    """The name of a preset that ships with the package, or none."""

    type_name = "name"

    @property
    def ordinary(self) -> str:  # noqa: D102
        return " or ".join(map(repr, platform_presets()))

    def read_ordinary(self, value: Any) -> str:  # noqa: D102
        return Choice(*self.words, *platform_presets()).read(value)


def with_preset(given: Mapping[str, Any]) -> dict[str, Any]:
    """Put the values of a preset under those ``given``; a kind that is a machine on sale has a preset of its name.

    Raises
    ------
    FieldError
        a kind is given and the preset has another one.
    """
    kind, name = given.get("kind"), given.get("preset", "none")
    presets = platform_presets()
    if name == "none" and isinstance(kind, str) and presets.get(kind, {}).get("kind") == kind:
        name = kind
    preset = presets.get(name, {}) if isinstance(name, str) else {}
    if isinstance(kind, str) and kind != preset.get("kind", kind):
        raise FieldError(
            "kind",
            f"{kind!r} does not agree with platform.preset = {name!r}, which is of kind {preset['kind']!r}",
            f"{preset['kind']!r}, or leave one of the two out",
        )
    merged = {**preset, **given}
    if merged.get("kind") == FILE:
        merged.setdefault("switch_latency", "0ns")
    for key, table in preset.items():
        if isinstance(table, Mapping) and isinstance(given.get(key), Mapping):
            merged[key] = {**table, **given[key]}
    return merged
