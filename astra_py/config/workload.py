# SPDX-License-Identifier: GPL-2.0-only
"""``[workload]``: the training job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar

from astra_py.config.condition import Condition
from astra_py.config.dlrm_sharding import DlrmSharding
from astra_py.config.dlrm_training import ONLY_DLRM, DlrmTraining
from astra_py.config.input_files import input_files
from astra_py.config.job_parts import JobParts
from astra_py.config.rules import Choice, Count, Number, PathRule, QuantityRule, Registered, WordRule
from astra_py.config.table import FieldError, parameter
from astra_py.units import TIME, parse_time

__all__ = ["WorkloadConfig", "dlrm_presets"]

_ONLY_FILE = Condition("kind", "workload.kind = 'file'", lambda kind: kind == "file")
_ONLY_WITHOUT_PRESET = Condition("preset", "workload.preset = 'none'", lambda preset: preset is None)


@cache
def dlrm_presets() -> Mapping[str, Path]:
    """Return the DLRM descriptions that ship with the package: name to file."""
    folder = Path(str(files("astra_py.config"))) / "presets" / "dlrm"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


class DlrmPresetRule(WordRule):
    """The name of a DLRM description that ships with the package."""

    type_name = "name"

    @property
    def ordinary(self) -> str:
        return " or ".join(map(repr, dlrm_presets()))

    def read_ordinary(self, value: Any) -> str:
        return Choice(*dlrm_presets(), *self.words).read(value)


class WorkloadConfig(DlrmTraining, DlrmSharding, JobParts):
    """What the ranks do: a training job from a file of the field, or a DLRM from its model's description."""

    key: ClassVar[str] = "workload"

    kind: Annotated[str, Registered("astra_py.workloads", "file", "dlrm")] = parameter(
        "file",
        "Where the job comes from: a workload file, a DLRM's description that is sharded over the ranks, or a function "
        "that is registered.",
    )
    preset: Annotated[str | None, DlrmPresetRule(words={"none": None})] = parameter(
        "none", "A DLRM's description that ships with the package. 'none': workload.file has it.", only=ONLY_DLRM
    )
    file: Annotated[str | None, PathRule("the path of a workload file")] = parameter(
        None,
        "Workload file, or a DLRM's description in TOML; must be given without workload.preset. In a scenario file the "
        "path is relative to that file's folder, on the command line to the current one.",
        only=_ONLY_WITHOUT_PRESET,
    )
    format: Annotated[
        str, Registered("astra_py.formats", "auto", "astra_text", "chakra", "pytorch_et", "param_comms")
    ] = parameter(
        "auto",
        "Format of the file: ASTRA-sim 1.0's text of a layer per line, Chakra's or PyTorch's execution traces, PARAM's "
        "traces of collectives. 'auto': recognised from its content.",
        only=_ONLY_FILE,
    )
    compute_unit: Annotated[int, QuantityRule(TIME, least=1, most=parse_time("1s"))] = parameter(
        "1ns",
        "Time that one unit of compute in the file means.",
        source="ASTRA-sim 1.0: cycles of 1 ns",
        only=_ONLY_FILE,
    )
    missing_ranks: Annotated[str, Choice("error", "same")] = parameter(
        "error",
        "What a rank does that has no file of its own in a trace of one file a rank: that is an error, or the same as "
        "the first rank that has one.",
        only=_ONLY_FILE,
    )
    comm_groups: Annotated[str | None, PathRule("the path of a file of communicator groups")] = parameter(
        None,
        'ASTRA-sim\'s file of the groups that a Chakra trace names, JSON such as {"1": [0, 1, 2, 3]}.',
        only=_ONLY_FILE,
    )
    compute_dtype: Annotated[str, Choice("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")] = parameter(
        "tf32",
        "Type of the numbers that a Chakra trace's nodes compute with where it gives operations and bytes and no time.",
        source="assumed, as a DLRM's dense layers",
        only=_ONLY_FILE,
    )
    compute_scale: Annotated[float, Number(least=0, is_least_allowed=False)] = parameter(
        1.0, "Factor on every compute time.", source="the job as it is"
    )
    comm_scale: Annotated[float, Number(least=0, is_least_allowed=False)] = parameter(
        1.0, "Factor on the bytes of every collective.", source="the job as it is"
    )
    iterations: Annotated[int, Count(least=1)] = parameter(
        2,
        "Training iterations; the first is reported apart from the others.",
        source="the fewest that show a steady state",
    )

    @property
    def input_path(self) -> Path | None:
        """Path of the workload file, or of the preset's description; None where a registered function needs none.

        It may be what the names of one file a rank begin with.
        """
        if self.preset is not None:
            return dlrm_presets()[self.preset]
        return None if self.file is None else Path(self.file)

    @property
    def input_paths(self) -> tuple[Path, ...]:
        """The files that :attr:`input_path` names."""
        return () if self.input_path is None else tuple(input_files(self.input_path).values())

    @property
    def path(self) -> Path:
        """As :attr:`input_path`, of a job that has one."""
        path = self.input_path
        assert path is not None
        return path

    @property
    def title(self) -> str:
        """The job in a word: its preset, its file or its kind."""
        return self.preset or self.file or self.kind

    def check(self) -> None:  # noqa: D102  (as the base)
        super().check()
        if self.kind in ("file", "dlrm") and self.file is None and self.preset is None:
            other = f", or workload.preset as one of {', '.join(dlrm_presets())}" if self.kind == "dlrm" else ""
            raise FieldError("file", "missing, and [workload] needs it", f"the path of a workload file{other}")
