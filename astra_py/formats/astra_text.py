# SPDX-License-Identifier: GPL-2.0-only
"""The format ``astra_text``: ASTRA-sim 1.0's workloads, a layer a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from astra_py.config.workload import WorkloadConfig
from astra_py.formats.first_dimension import first_dimension
from astra_py.formats.head import Head
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.units import parse_time
from astra_py.workloads import AstraTextModel, Job, read_astra_text, training_trace
from astra_py.workloads.astra_text import DLRM, TRANSFORMER
from astra_py.workloads.layer_loop import unused_collectives

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["ASTRA_TEXT"]

_IGNORED = "ignored: "


def _recognises(path: Path, head: Head) -> bool:
    """A word in capitals such as HYBRID_DLRM, no ``key: value`` header but of a transformer, then a number alone."""
    lines = head.lines
    if len(lines) < 2 or head.is_gzip:
        return False
    word = lines[0][0]
    has_header = len(lines[0]) > 3 or (len(lines[0]) == 3 and word != TRANSFORMER)
    is_kind = word == word.upper() and word.replace("_", "").isalpha() and not has_header
    return is_kind and len(lines[1]) == 1 and lines[1][0].isdecimal()


def _read(path: Path, options: Options) -> Document:
    model = read_astra_text(path)
    account = model.account(parse_time(WorkloadConfig.model_fields["compute_unit"].default))
    return Document(
        format=ASTRA_TEXT.name,
        path=path,
        content=_Maker(model),
        summary=tuple(line for line in account if not line.startswith(_IGNORED)),
        ignored=(
            *(line.removeprefix(_IGNORED) for line in account if line.startswith(_IGNORED)),
            *_unused(model),
        ),
    )


class _Maker:
    """Makes the training loop of a model for a number of ranks."""

    def __init__(self, model: AstraTextModel) -> None:
        self.model = model

    def __call__(self, scenario: Scenario, ranks: int) -> Job:
        config = scenario.require_workload()
        trace = training_trace(
            self.model,
            ranks=ranks,
            iterations=config.iterations,
            compute_unit_ps=config.compute_unit,
            compute_scale=config.compute_scale,
            comm_scale=config.comm_scale,
            inside=None if self.model.kind in (DLRM, TRANSFORMER) else first_dimension(scenario.platform),
        )
        unused = tuple(f"{_IGNORED}{what}" for what in _unused(self.model))
        return Job(trace, (*self.model.account(config.compute_unit), *unused), unused)


def _unused(model: AstraTextModel) -> list[str]:
    return [] if model.kind == DLRM else unused_collectives(model)


ASTRA_TEXT = register_format(
    Format(
        name="astra_text",
        title="ASTRA-sim 1.0 text",
        kind=Kind.WORKLOAD,
        recognises=_recognises,
        read=_read,
        suffixes=(".txt",),
        keys=frozenset({"compute_unit", "compute_scale"}),
    )
)
