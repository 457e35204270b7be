# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM training job, from ``[workload]`` and an accelerator to its Trace and an account of what was taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm.account import model_note, plan_note, time_note, volume_note
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.memory import Memory, require_room
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.plan_files import read_plan
from astra_py.workloads.dlrm.read import read_dlrm
from astra_py.workloads.dlrm.sharders import Rates, find_plan, shard
from astra_py.workloads.dlrm.sharders.rates import platform_rates
from astra_py.workloads.dlrm.sharding import Sharding
from astra_py.workloads.dlrm.step_times import Roofline, StepTimes, fixed_times, roofline_times
from astra_py.workloads.dlrm.training import dlrm_trace

if TYPE_CHECKING:
    from astra_py.config import WorkloadConfig
    from astra_py.hardware import Accelerator
    from astra_py.platforms import PlatformArrays
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
    platform : where the ranks are: who shares a machine, and at which rates they reach each other. Without one, each
        rank has a machine of its own, and a search for a plan is not possible.
    """

    config: WorkloadConfig
    ranks: int
    accelerator: Accelerator
    platform: PlatformArrays | None = None

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
        """Which rank holds what of which table.

        Raises
        ------
        WorkloadError : the tables do not fit, or the file of a plan is not understood.
        """
        config, memory = self.config, self.memory
        if config.plan is not None:
            plan = read_plan(config.plan, self.model, self.ranks)
            require_room(plan, memory)
            return plan
        if config.sharder == "planner":
            return find_plan(self.model, memory, self.rates, min_shard_dim=config.min_shard_dim)[0].plan
        return shard(
            self.model,
            memory,
            sharder=config.sharder,
            sharding=Sharding(config.sharding),
            min_shard_dim=config.min_shard_dim,
        )

    @cached_property
    def memory(self) -> Memory:
        """What the ranks have for tables."""
        machines = np.arange(self.ranks, dtype=np.int32) if self.platform is None else self.platform.rank_machine
        return Memory(hbm_bytes=self.accelerator.memory_bytes, machines=machines, host_bytes=self.config.host_memory)

    @cached_property
    def rates(self) -> Rates:
        """What a rank reaches, as sharders weigh it.

        Raises
        ------
        WorkloadError : the job has no platform.
        """
        if self.platform is None:
            raise WorkloadError(f"{self.model.source}: workload.sharder = 'planner' needs a platform")
        memory = self.accelerator.memory_bandwidth_Bps * self.config.memory_efficiency
        return platform_rates(self.platform, hbm_Bps=memory, host_Bps=memory)

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
