# SPDX-License-Identifier: GPL-2.0-only
"""A DLRM training job, from ``[workload]`` and an accelerator to its Trace and an account of what was taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import ConfigError, WorkloadError
from astra_py.workloads.dlrm.account import model_note, plan_note, scaling_note, time_note, volume_notes
from astra_py.workloads.dlrm.batches import Batches, equal_batches, shared_batch
from astra_py.workloads.dlrm.exchanges import Exchanges
from astra_py.workloads.dlrm.memory import Memory, require_room
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.plan_files import PlanFile, read_plan_file
from astra_py.workloads.dlrm.plan_summary import plan_table, rank_table
from astra_py.workloads.dlrm.read import read_dlrm
from astra_py.workloads.dlrm.roofline import Roofline
from astra_py.workloads.dlrm.sharders import Rates, find_plan, shard
from astra_py.workloads.dlrm.sharders.rates import platform_rates
from astra_py.workloads.dlrm.sharding import Sharding
from astra_py.workloads.dlrm.step_times import StepTimes, dense_step_times, fixed_times, roofline_times, scaled_times
from astra_py.workloads.dlrm.training import MicroBatch, dlrm_trace

if TYPE_CHECKING:
    import pandas as pd

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
    platform : where the ranks are: who shares a machine, and at which rates they reach each other. Without one, what
        depends on that is refused.
    place : the platform's rank of each of the job's; its first ones where None.
    """

    config: WorkloadConfig
    ranks: int
    accelerator: Accelerator
    platform: PlatformArrays | None = None
    place: tuple[int, ...] | None = None

    @cached_property
    def model(self) -> DlrmModel:
        """The model, with the largest batch of a rank where the scenario gives batches.

        Raises
        ------
        WorkloadError : its file is not understood, or its batch does not go by the ranks.
        """
        model = self._read
        return replace(model, local_batch=int(self.batches.local.max()))

    @cached_property
    def batches(self) -> Batches:
        """Samples of each rank.

        Raises
        ------
        WorkloadError : the global batch does not go by the ranks, or a rank's by the micro-batches.
        """
        config, parts = self.config, self.config.micro_batches
        if config.global_batch is not None:
            return shared_batch(config.global_batch, self.ranks, config.remainder, parts)
        return equal_batches(config.local_batch or self._read.local_batch, self.ranks, parts)

    @cached_property
    def plan(self) -> Plan:
        """Which rank holds which part of which table.

        Raises
        ------
        WorkloadError : the tables do not fit, or the file of a plan is not understood.
        """
        config, memory = self.config, self.memory
        if config.plan is not None:
            require_room(self._plan_file.plan, memory)
            return self._plan_file.plan
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
    def _plan_file(self) -> PlanFile:
        return read_plan_file(str(self.config.plan), self.model, self.ranks)

    @property
    def _sharder(self) -> str:
        """How the plan was made, in a few words."""
        if self.config.plan is not None:
            return f"as {self.config.plan} says"
        return {
            "greedy": "costliest table first",
            "karmarkar_karp": "by largest differencing",
            "planner": "by the planner's closed forms",
        }[self.config.sharder]

    @property
    def _machines(self) -> NDArray[np.int32]:
        """i32[ranks]: the machine of each rank."""
        if self.platform is not None:
            place = range(self.ranks) if self.place is None else self.place
            _, number = np.unique(self.platform.rank_machine[list(place)], return_inverse=True)
            return number.astype(np.int32)
        if self.config.host_memory:
            raise self._without_platform(f"workload.host_memory = {self.config.text('host_memory')!r}")
        if self.config.plan is None and self.config.sharding == Sharding.TABLE_ROW_WISE:
            raise self._without_platform("workload.sharding = 'table_row_wise'")
        return np.arange(self.ranks, dtype=np.int32)

    def _without_platform(self, what: str) -> WorkloadError:
        return WorkloadError(
            f"{self.model.source}: {what} depends on who shares a machine, and no platform is given; allowed: with "
            "one, or with a plan (workload.plan)"
        )

    @cached_property
    def memory(self) -> Memory:
        """What the ranks have for tables."""
        return Memory(
            hbm_bytes=self.accelerator.memory_bytes,
            machines=self._machines,
            host_bytes=self.config.host_memory,
            optimizer=self.config.embedding_optimizer,
            dense_optimizer=self.config.optimizer,
        )

    @cached_property
    def rates(self) -> Rates:
        """What a rank reaches, as sharders weigh it.

        Raises
        ------
        WorkloadError : the job has no platform.
        """
        if self.platform is None:
            raise self._without_platform("workload.sharder = 'planner'")
        roofline, efficiency = self._roofline, self.config.memory_efficiency
        return platform_rates(
            self.platform,
            hbm_Bps=self.accelerator.memory_bandwidth_Bps * efficiency,
            host_Bps=roofline.host_bandwidth_Bps * efficiency,
        )

    @cached_property
    def times(self) -> StepTimes:
        """Compute times of an iteration's whole batch.

        Raises
        ------
        ConfigError : the accelerator cannot compute in the model's type, or the model's file fixes times that the
            scenario decides otherwise.
        """
        return self._times_of(self.batches.local)

    @cached_property
    def step_ps(self) -> dict[str, NDArray[np.int64]]:
        """Times of the optimiser's step, i64[ranks] in ps: on each dense layer, and on all data-parallel tables.

        Raises
        ------
        ConfigError : the model's file fixes times that the scenario decides otherwise.
        """
        self._require_undecided()
        times = dense_step_times(self.plan, self.config.optimizer, self._roofline)
        return {name: scaled_times(time, self.config.compute_scale) for name, time in times.items()}

    @cached_property
    def exchanges(self) -> Exchanges:
        """What the ranks send each other for an iteration's whole batch."""
        return self.exchanges_with(self.plan)

    def exchanges_with(self, plan: Plan) -> Exchanges:
        """Return what the ranks would send each other for an iteration's whole batch with another plan."""
        return Exchanges(plan, self.config.comm_scale, self.batches.local, self.config.volumes)

    @cached_property
    def trace(self) -> Trace:
        """What every rank does."""
        config = self.config
        made: dict[bytes, MicroBatch] = {}
        parts = self.batches.parts()
        for part in parts:
            if part.tobytes() not in made:
                made[part.tobytes()] = MicroBatch(replace(self.exchanges, batch=part), self._times_of(part))
        return dlrm_trace(
            self.exchanges,
            [made[part.tobytes()] for part in parts],
            iterations=config.iterations,
            index_exchange=config.index_exchange,
            ordering=config.ordering,
            bucket_bytes=config.bucket,
            step_ps=self.step_ps,
        )

    @property
    def tables(self) -> Mapping[str, Callable[[], Mapping[str, NDArray[Any]]]]:
        """What makes the tables ``plan`` and ``plan_ranks`` of the results."""
        return {
            "plan": lambda: _columns(plan_table(self.plan)),
            "plan_ranks": lambda: _columns(rank_table(self.exchanges, self.memory)),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken from the model and what follows from it, a sentence each, with units."""
        return (
            model_note(self.model, self.batches),
            plan_note(self.exchanges, self.accelerator.memory_bytes, self._sharder),
            *(() if self.config.plan is None else self._plan_file.notes),
            *volume_notes(self.exchanges, self.config.index_exchange),
            time_note(self.times, self._time_source, self.config),
            scaling_note(self.model, self.config),
        )

    @cached_property
    def _read(self) -> DlrmModel:
        """The model as its file has it."""
        model = read_dlrm(self.config.path)
        return model if self.config.preset is None else replace(model, source=f"preset {self.config.preset}")

    @cached_property
    def _roofline(self) -> Roofline:
        return Roofline(
            accelerator=self.accelerator,
            flops_efficiency=self.config.flops_efficiency,
            memory_efficiency=self.config.memory_efficiency,
            host_memory_bandwidth_Bps=self.config.host_memory_bandwidth // 8,
        )

    def _times_of(self, batch: NDArray[np.int64]) -> StepTimes:
        self._require_undecided()
        if self.model.times is not None:
            times = fixed_times(self.model.times, batch, self.model.local_batch)
        else:
            times = roofline_times(self.plan, self._roofline, batch, self.config.embedding_optimizer)
            if self.config.interaction_time == "none":
                none = np.zeros(self.ranks, dtype=np.int64)
                times = replace(times, interaction_forward_ps=none, interaction_backward_ps=none)
        return times if self.config.compute_scale == 1 else times.scaled(self.config.compute_scale)

    def _require_undecided(self) -> None:
        """Refuse what decides times where the model's file has them."""
        if self.model.times is None:
            return
        for key, value, default in (
            ("optimizer", self.config.optimizer, "none"),
            ("embedding_optimizer", self.config.embedding_optimizer, "one_pass"),
            ("interaction_time", self.config.interaction_time, "roofline"),
        ):
            if value != default:
                raise ConfigError(
                    f"workload.{key} = {value!r} would mean nothing: {self.model.source} fixes compute times; allowed: "
                    f"{default!r}, or a description without [compute]"
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


def _columns(frame: pd.DataFrame) -> dict[str, NDArray[Any]]:
    return {str(name): frame[name].to_numpy() for name in frame.columns}
