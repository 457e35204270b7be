# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario takes from files through the formats: its workload, platform, transport and system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.config.settings_files import register_settings_reader
from astra_py.formats.astra_network import ASTRA_NETWORK, read_dimensions
from astra_py.formats.registry import Document, Kind, Options, read, recognise
from astra_py.platforms.registry import register_platform
from astra_py.workloads.registry import Job, workload

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig, Scenario
    from astra_py.platforms import Platform

__all__ = ["platform_document", "platform_file", "workload_file"]


@workload("file")
def workload_file(scenario: Scenario, ranks: int) -> Job:
    """Make ``workload.kind = "file"``: the job of a file of ``workload.format``."""
    config = scenario.require_workload()
    format = None if config.format == "auto" else config.format
    document = read(config.path, format, kinds=(Kind.WORKLOAD, Kind.FLOWS), options=Options(ranks=ranks))
    job: Job = document.content(scenario, ranks)
    scales = [("compute times", config.compute_scale), ("collective sizes", config.comm_scale)]
    scaled = [f"{what} are scaled by {scale:g}" for what, scale in scales if scale != 1]
    return Job(job.trace, (*job.notes, *scaled))


@register_platform("file")
def platform_file(config: PlatformConfig) -> Platform:
    """Build ``platform.kind = "file"``: the network of ``platform.file``."""
    platform: Platform = platform_document(config).content()
    return platform


def platform_document(config: PlatformConfig) -> Document:
    """Read ``platform.file``.

    Raises
    ------
    TopologyError : it is not understood.
    """
    assert config.file is not None
    return read(config.file, kinds=(Kind.PLATFORM,), options=Options(platform=config))


def _dims(platform: object) -> tuple[int, ...] | None:
    """Sizes of the dimensions of a scenario's ``[platform]`` as it is given, where it says them."""
    if not isinstance(platform, Mapping):
        return None
    if isinstance(dims := platform.get("dims"), str) and re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9})*", dims, re.ASCII):
        return tuple(map(int, dims.split("x")))
    file = platform.get("file")
    if platform.get("kind") != "file" or not isinstance(file, str) or not Path(file).is_file():
        return None
    if recognise(file) is not ASTRA_NETWORK:
        return None
    return tuple(dimension.size for dimension in read_dimensions(Path(file))[0])


def _settings(kind: Kind, given: Mapping[str, Any], path: Path) -> Mapping[str, Mapping[str, Any]]:
    options = Options(dims=_dims(given.get("platform")), given=frozenset(_key_paths(given)))
    tables: Mapping[str, Mapping[str, Any]] = read(path, kinds=(kind,), options=options).content
    return tables


def _key_paths(tree: Mapping[str, Any], under: str = "") -> Iterator[str]:
    """``"transport.dcqcn.gain"`` and the like for each key of a scenario."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _key_paths(value, f"{under}{key}.")
        else:
            yield f"{under}{key}"


register_settings_reader("transport", lambda given, path: _settings(Kind.TRANSPORT, given, path))
register_settings_reader("system", lambda given, path: _settings(Kind.SYSTEM, given, path))
