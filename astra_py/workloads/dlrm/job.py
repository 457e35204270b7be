# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM training job, from ``[workload]`` and an accelerator to its Trace and an account of what was taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from astra_py.workloads.dlrm.account import model_note, plan_note, time_note, volume_note
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.read import read_dlrm
from astra_py.workloads.dlrm.sharders import shard_table_wise
from astra_py.workloads.dlrm.step_times import Roofline, StepTimes, fixed_times, roofline_times
from astra_py.workloads.dlrm.training import dlrm_trace

if TYPE_CHECKING:
    from astra_py.config import WorkloadConfig
    from astra_py.hardware import Accelerator
    from astra_py.workloads.trace import Trace

__all__ = ["DlrmJob"]


@dataclass(frozen=True)
class DlrmJob:
    """A DLRM on some ranks; each step is done when first asked for.

    Parameters
    ----------
    config : the scenario's ``[workload]``, of kind ``"dlrm"``.
    ranks : number of ranks.
    accelerator : what each rank computes with.
    """

    config: WorkloadConfig
    ranks: int
    accelerator: Accelerator

    @cached_property
    def model(self) -> DlrmModel:
        """The model, with the scenario's local batch where it gives one.

        Raises
        ------
        WorkloadError : its file is not understood.
        """
        model = read_dlrm(self.config.path)
        if self.config.preset is not None:
            model = replace(model, source=f"preset {self.config.preset}")
        return model if self.config.local_batch is None else replace(model, local_batch=self.config.local_batch)

    @cached_property
    def plan(self) -> Plan:
        """Which rank holds which table.

        Raises
        ------
        WorkloadError : the tables do not fit.
        """
        return shard_table_wise(self.model, self.ranks, self.accelerator.memory_bytes)

    @cached_property
    def times(self) -> StepTimes:
        """Compute times of an iteration.

        Raises
        ------
        ConfigError : the accelerator cannot compute in the model's type.
        """
        if self.model.times is not None:
            times = fixed_times(self.model.times, self.ranks)
        else:
            times = roofline_times(self.plan, self._roofline)
        return times if self.config.compute_scale == 1 else times.scaled(self.config.compute_scale)

    @cached_property
    def exchanges(self) -> Exchanges:
        """What the ranks send each other in an iteration."""
        return Exchanges(self.plan, self.config.comm_scale)

    @cached_property
    def trace(self) -> Trace:
        """What every rank does."""
        return dlrm_trace(
            self.exchanges,
            self.times,
            iterations=self.config.iterations,
            index_exchange=self.config.index_exchange,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken from the model and what follows from it, a sentence each, with units."""
        return (
            model_note(self.model, self.ranks),
            plan_note(self.exchanges, self.accelerator.memory_bytes),
            volume_note(self.exchanges, self.config.index_exchange),
            time_note(self.times, self._time_source),
        )

    @property
    def _roofline(self) -> Roofline:
        return Roofline(
            accelerator=self.accelerator,
            flops_efficiency=self.config.flops_efficiency,
            memory_efficiency=self.config.memory_efficiency,
        )

    @property
    def _time_source(self) -> str:
        if self.model.times is not None:
            source = "fixed by the model's file"
        else:
            config, accelerator, dtype = self.config, self.accelerator, self.model.dtypes.compute
            source = (
                f"roofline of {accelerator.name}: {config.flops_efficiency:g} of "
                f"{accelerator.peak_flops(dtype) / 1e12:g} TFLOP/s {dtype}, {config.memory_efficiency:g} of "
                f"{accelerator.memory_bandwidth_Bps / 1e9:g} GB/s"
            )
        return source if self.config.compute_scale == 1 else f"{source}, scaled by {self.config.compute_scale:g}"
