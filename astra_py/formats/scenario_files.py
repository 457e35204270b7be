# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario takes from files through the formats: its workload, platform, transport and system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from astra_py.config.settings_files import register_settings_reader
from astra_py.config.workload import WorkloadConfig
from astra_py.errors import ConfigError
from astra_py.formats.astra_network import ASTRA_NETWORK, read_dimensions
from astra_py.formats.registry import Document, Format, Kind, Options, find_format, format_names, read, recognise
from astra_py.platforms.registry import register_platform
from astra_py.workloads.flow_job import flow_trace
from astra_py.workloads.flows import FlowList
from astra_py.workloads.registry import Job, workload
from astra_py.workloads.scaling import scaled
from astra_py.workloads.trace_builder import TraceBuilder

if TYPE_CHECKING:
    from astra_py.config import PlatformConfig, Scenario
    from astra_py.platforms import Platform

__all__ = ["file_notes", "flow_file", "flow_notes", "platform_document", "platform_file", "workload_file"]

#: Keys of ``[workload]`` that mean something with some formats of its file alone, and a table with their defaults.
_OF_SOME_FORMATS = ("compute_unit", "missing_ranks", "comm_groups", "compute_dtype", "compute_scale")
_DEFAULTS = WorkloadConfig(file="any")


@workload("file")
def workload_file(scenario: Scenario, ranks: int) -> Job:
    """Make ``workload.kind = "file"``: the job of a file of ``workload.format``."""
    config = scenario.require_workload()
    format = None if config.format == "auto" else config.format
    document = read(config.path, format, kinds=(Kind.WORKLOAD, Kind.FLOWS), options=Options(ranks=ranks))
    _require_meaning(config, document, find_format(format or document.format))
    if isinstance(document.content, FlowList):
        job = _flow_job(scenario, ranks, document)
    else:
        job = document.content(scenario, ranks)
    scales = [("compute times", config.compute_scale), ("collective sizes", config.comm_scale)]
    by_scale = [f"{what} are scaled by {scale:g}" for what, scale in scales if scale != 1]
    return Job(job.trace, (*job.notes, *document.warnings, *by_scale), (*job.warnings, *document.warnings))


def _require_meaning(config: WorkloadConfig, document: Document, format: Format) -> None:
    """Raise for a key that the file's format takes nothing from."""
    if format.keys is None:
        return
    for key in _OF_SOME_FORMATS:
        if key not in format.keys and getattr(config, key) != getattr(_DEFAULTS, key):
            known = [name for name in format_names(Kind.WORKLOAD) if key in (find_format(name).keys or ())]
            raise ConfigError(
                f"workload.{key} = {config.text(key)!r} would mean nothing with {document.path}, a file of format "
                f"{document.format!r}; allowed: only with {', '.join(map(repr, known))}"
            )


def flow_file(scenario: Scenario, path: Path, format: str) -> tuple[FlowList, Document]:
    """Read a file of flows between ranks of the platform, and what its document says of it.

    Ends are node ids where the platform is from a file, else ranks.

    Raises
    ------
    ConfigError, WorkloadError : the file is not understood, is about something else, or names what is no host.
    """
    document = read(path, None if format == "auto" else format, kinds=(Kind.FLOWS,))
    return _on_platform(scenario, document.content), document


def flow_notes(scenario: Scenario, document: Document) -> tuple[str, ...]:
    """What was taken from a file of flows, a sentence each."""
    ends = "node ids of the platform" if scenario.platform.kind == "file" else "ranks"
    return (*document.summary, f"ends of flows are {ends}", *(f"ignored: {what}" for what in document.ignored))


def _flow_job(scenario: Scenario, ranks: int, document: Document) -> Job:
    """The job of a flow list, on its own ranks."""
    flows = _on_platform(scenario, document.content)
    if scenario.platform.kind == "file":
        place = np.array(scenario.job_ranks(ranks))
        number = np.full(max(int(flows.ranks.max(initial=0)), int(place.max())) + 1, -1, dtype=np.int32)
        number[place] = np.arange(ranks)
        for column in (flows.src, flows.dst):
            if (odd := number[column] < 0).any():
                raise flows.error(
                    f"a flow is of rank {column[odd.argmax()]} of the platform, which is none of the job's"
                )
        flows = flows.between(number)
    config = scenario.require_workload()
    is_told = "iterations" in config.model_fields_set and config.iterations > 1
    once = (f"{document.path}: a flow list is run once, whatever workload.iterations says",) if is_told else ()
    # a list without any flow is a job with nothing to do, which the run refuses as any other
    trace = scaled(flow_trace(ranks, flows), comm=config.comm_scale) if len(flows) else TraceBuilder(ranks).build()
    return Job(trace, (*flow_notes(scenario, document), *once), once)


def _on_platform(scenario: Scenario, flows: FlowList) -> FlowList:
    return _at_ranks(flows, platform_file(scenario.platform)) if scenario.platform.kind == "file" else flows


def _at_ranks(flows: FlowList, platform: Platform) -> FlowList:
    """The same flows with ranks in place of nodes.

    Raises
    ------
    WorkloadError : an end is no accelerator.
    """
    rank = platform.arrays().node_rank
    for column in (flows.src, flows.dst):
        odd = (column >= len(rank)) | (rank[np.minimum(column, len(rank) - 1)] < 0)
        if odd.any():
            flow = int(odd.argmax())
            raise flows.error(
                f"flow {flow}, {flows.src[flow]} to {flows.dst[flow]}: node {column[flow]} is no host of the platform; "
                f"allowed: its {platform.ranks} hosts"
            )
    return FlowList(rank[flows.src], rank[flows.dst], flows.size_bytes, flows.start_ps, flows.source)


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


def file_notes(scenario: Scenario) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences on what was taken from the files of ``[platform]``, ``[transport]`` and ``[system]``, and warnings."""
    platform, given = scenario.platform, frozenset({"transport.congestion_control"})
    documents = []
    if platform.kind == "file":
        documents.append(platform_document(platform))
    for table, kind in (("transport", Kind.TRANSPORT), ("system", Kind.SYSTEM)):
        if (file := getattr(scenario, table).file) is not None:
            options = Options(dims=_dims(scenario.resolved()["platform"]), given=given)
            documents.append(read(file, kinds=(kind,), options=options))
    notes = tuple(note for document in documents for note in document.notes)
    return notes, tuple(warning for document in documents for warning in document.warnings)


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
