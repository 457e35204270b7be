# SPDX-License-Identifier: GPL-2.0-only
"""What is made from a scenario before anything runs: platform, transport, trace, schedule, declared bytes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from astra_py.collectives import DEFAULT_ALGORITHMS, declared_rank_bytes, lower
from astra_py.collectives.lowering import at_endpoints, pools_of
from astra_py.collectives.nics import nics_per_rank
from astra_py.collectives.registry import require_algorithm
from astra_py.collectives.schedule import PoolOrder
from astra_py.collectives.system import SINGLE_FIELDS, WatchedSystem
from astra_py.config.collective import CollectiveConfig
from astra_py.engines.astra_sim import astra_sim_notes, is_astra_sim
from astra_py.engines.base import TimeRounding
from astra_py.engines.buffers import buffer_warnings, require_room, require_thresholds
from astra_py.engines.capture import require_capturable
from astra_py.engines.hook import choose_ways, flows_of, load_hook, source_of
from astra_py.engines.levels import level_figures
from astra_py.engines.registry import make_engine
from astra_py.engines.resolve import (
    control_warnings,
    engine_options,
    switch_model,
    transport_model,
    transport_notes,
)
from astra_py.engines.unseen import unseen_keys
from astra_py.errors import ConfigError
from astra_py.formats.scenario_files import file_notes
from astra_py.placement import place_work
from astra_py.platforms import RoutingKind, build_platform
from astra_py.results.alone import time_alone_ps
from astra_py.results.checks import require_work
from astra_py.workloads import CollectiveCall, Job, TraceBuilder
from astra_py.workloads.adjusted import drawn_factors, named_factors, prioritised, slowed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from astra_py.collectives import Schedule, Template
    from astra_py.config import Scenario
    from astra_py.engines.base import TransportModel
    from astra_py.engines.hook import RoutingHook
    from astra_py.platforms import Platform
    from astra_py.workloads import Trace

__all__ = ["Preparation"]

#: How a reader's account begins where it left out a figure that the file gives.
_LEFT_OUT = "ignored: the update delay"


class Preparation:
    """A scenario and what is made from it before a run; each step is done when first asked for, and once.

    Parameters
    ----------
    scenario : what to run.
    alone : (kind, size_bytes, group) of a single collective to run in place of the scenario's workload.
    routing_hook : as :func:`astra_py.load` takes it.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        alone: tuple[str, int, tuple[int, ...] | None] | None = None,
        routing_hook: RoutingHook | None = None,
    ) -> None:
        self.scenario = scenario
        self._alone = alone
        self._routing_hook = routing_hook
        if routing_hook is not None and scenario.platform.routing != "hook":
            raise ConfigError(
                f"routing_hook would mean nothing with platform.routing = {scenario.platform.routing!r}; "
                "allowed: only with 'hook'"
            )
        if alone is not None and scenario.analytic.mode == "torchrec":
            raise ConfigError(
                "analytic.mode = 'torchrec' estimates a DLRM's sharding plan, and no single collective; allowed: "
                "'loggp', 'astra_sim', 'astra_sim_congestion'"
            )

    def __repr__(self) -> str:
        return f"<Run of {self.title}, digest {self.digest[:12]}>"

    @cached_property
    def title(self) -> str:
        """What is run, in a few words."""
        if self._alone is not None:
            return f"{self._alone[0]} of {self._alone[1]} B"
        return self.scenario.title

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the resolved scenario and its input files; with a collective or a function given, of those too."""
        if self._alone is None and self._routing_hook is None:
            return self.scenario.digest
        hook = [] if self._routing_hook is None else [source_of(self._routing_hook)]
        text = json.dumps([self.scenario.digest, *(self._alone or ()), *hook])
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def platform(self) -> Platform:
        """Where it runs."""
        return build_platform(self.scenario.platform)

    @cached_property
    def routed_platform(self) -> Platform:
        """The platform, with the ways that a function of the user chooses for the schedule's flows where it does.

        Raises
        ------
        ConfigError : there is no function to ask, or it fails.
        """
        config = self.scenario.platform
        if config.routing != "hook":
            return self.platform
        if self._routing_hook is None and config.routing_hook is None:
            raise ConfigError(
                "platform.routing = 'hook' has no function to ask; allowed: with platform.routing_hook, or with the "
                "argument routing_hook in Python"
            )
        hook = self._routing_hook or load_hook(str(config.routing_hook))
        return choose_ways(self.platform, hook, *flows_of(self.schedule), max(self.transport.qps_per_peer, 1))

    @cached_property
    def transport(self) -> TransportModel:
        """The transport in base units."""
        return transport_model(self.scenario)

    @cached_property
    def algorithms(self) -> dict[str, str]:
        """The scenario's algorithm by kind of collective.

        Raises
        ------
        ConfigError : one is not registered.
        """
        chosen = {kind: self.scenario.collective.algorithm(kind) for kind in DEFAULT_ALGORITHMS}
        for kind, name in chosen.items():
            try:
                require_algorithm(kind, name)
            except ConfigError as error:
                raise ConfigError(f"collective.{kind} = {name!r}: {error}") from None
        return chosen

    @cached_property
    def trace(self) -> Trace:
        """What every rank does, slow ranks slowly."""
        return prioritised(self._job.trace, self.scenario.system.priority)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was taken from input files and what was not, and what was made of it, a sentence each."""
        notes = (
            *self._job.notes,
            *self._file_notes[0],
            *self._unseen,
            *transport_notes(self.scenario),
            *astra_sim_notes(self.scenario.analytic.mode, self.scenario.platform.link_rate),
            *control_warnings(self.scenario),
            *self._switch_warnings,
            *self._unused_keys,
        )
        if (factors := self._slowness) is None:
            return notes
        slowest, rule = int(factors.argmax()), self.scenario.resolved()["system"]["stragglers"]
        return (
            *notes,
            f"compute and memory work of ranks takes {factors.min():.3g} to {factors.max():.3g} times as long "
            f"(system.stragglers = {rule!r}); the slowest is rank {slowest}",
        )

    @cached_property
    def _slowness(self) -> NDArray[np.float64] | None:
        """f64[ranks]: how much longer each rank's compute takes, or None where all are as the workload says."""
        stragglers, ranks = self.scenario.system.stragglers, self.platform.ranks
        if stragglers.sigma is not None:
            return drawn_factors(ranks, stragglers.sigma, self.scenario.seed)
        return named_factors(ranks, stragglers.factors) if stragglers.factors else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user may not expect, a sentence each; ``--strict`` takes them for errors."""
        left_out = (note for note in self.notes if note.startswith(_LEFT_OUT))
        return (
            *left_out,
            *self._job.warnings,
            *self._file_notes[1],
            *transport_notes(self.scenario),
            *control_warnings(self.scenario),
            *self._routing_warnings,
            *self._switch_warnings,
            *self._unused_keys,
        )

    @property
    def _routing_warnings(self) -> tuple[str, ...]:
        platform, qps = self.scenario.platform, self.transport.qps_per_peer
        key = {"roce": "transport.qps_per_peer", "tcp": "transport.tcp.sockets_per_peer"}[self.scenario.transport.kind]
        warnings = tuple(self.platform.arrays().routing.warnings())
        if platform.nic_policy == "striped" and 0 < qps < platform.nic_count:
            unused = platform.nic_count - qps
            return (
                *warnings,
                f"platform.nic_policy = 'striped': with {key} = {qps}, {unused} of the "
                f"{platform.nic_count} NICs of each machine carry nothing",
            )
        return warnings

    @cached_property
    def _switch_warnings(self) -> tuple[str, ...]:
        priorities = self.schedule.priorities
        return buffer_warnings(switch_model(self.scenario), self.transport, self.platform.arrays(), priorities)

    @cached_property
    def _job(self) -> Job:
        if self._alone is not None:
            trace = self._trace_alone(*self._alone)
            return Job(trace if self._slowness is None else slowed(trace, self._slowness))
        return place_work(self.scenario, self._measured_platform, self._slowness)

    @cached_property
    def _file_notes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What was taken from files of platform, transport and system, and what one may not expect of it."""
        return file_notes(self.scenario)

    def _trace_alone(self, kind: str, size_bytes: int, group: tuple[int, ...] | None) -> Trace:
        ranks = self.platform.ranks
        members = tuple(range(ranks)) if group is None else group
        if outside := [rank for rank in members if not 0 <= rank < ranks]:
            raise ConfigError(f"{kind}: rank {outside[0]} is not on the platform; allowed: 0 to {ranks - 1}")
        build = TraceBuilder(ranks)
        if kind == "all_to_all_v":
            part = [size_bytes // len(members) + (i < size_bytes % len(members)) for i in range(len(members))]
            matrix = np.tile(np.array(part, dtype=np.int64), (len(members), 1))
            build.collective(CollectiveCall(name=kind, kind=kind, group=members, matrix=matrix))
        else:
            build.collective(CollectiveCall(name=kind, kind=kind, group=members, size_bytes=size_bytes))
        return build.build()

    @cached_property
    def system(self) -> WatchedSystem:
        """What the collectives know of their endpoints, and how they are to work."""
        scenario, transport = self.scenario, self.transport
        inside, between = (
            level_figures(self._measured_platform, transport, scenario.seed) if self._are_levels_used else (None, None)
        )
        return WatchedSystem(
            admission=scenario.system.admission,
            channels=scenario.system.channels,
            protocol=scenario.system.protocol,
            inside=inside,
            between=between,
            local_memory_bandwidth_bps=scenario.system.local_memory_bandwidth,
            is_whole_ns=transport.time_rounding == TimeRounding.NS_NEAREST or is_astra_sim(scenario.analytic.mode),
            notify_on=transport.notify_on,
            in_flight=scenario.collective.in_flight,
            endpoint_delay_ps=scenario.system.endpoint_delay,
            chunks=scenario.collective.chunks,
            active_chunks=scenario.collective.active_chunks,
            all_reduce_inside=scenario.collective.all_reduce_inside,
            all_reduce_between=scenario.collective.all_reduce_between,
            machines_per_group=scenario.collective.machines_per_group,
            rings=scenario.collective.rings or nics_per_rank(self.platform.arrays()),
            piece_bytes=scenario.collective.tree_piece,
            measure=self._alone_ps,
        )

    @property
    def _are_levels_used(self) -> bool:
        return self.scenario.system.protocol is not None or self.scenario.collective.all_reduce in ("themis", "auto")

    @cached_property
    def _measured_platform(self) -> Platform:
        """The platform on which algorithms are weighed, which follows before the flows are known.

        A hook is asked for the flows that algorithms make, so a hash stands for it here.
        """
        if self.scenario.platform.routing != "hook":
            return self.platform
        return self.platform.with_routing(replace(self.platform.arrays().routing, kind=RoutingKind.ENHANCED_ECMP))

    def _alone_ps(self, template: Template, group: tuple[int, ...]) -> int:
        """The analytic time of a collective alone, by which the algorithm ``auto`` is chosen."""
        given = engine_options(self.scenario)
        options = replace(given, ns3_defaults={}, max_events=-1, max_time_ps=-1, analytic_mode="loggp")
        ranks = np.array(group, dtype=np.int32)
        platform = self._measured_platform
        template = at_endpoints(template, platform.arrays().rank_machine[ranks], self.system)
        units = {pool.name: pool.capacity for pool in pools_of(self.system)}
        return time_alone_ps(make_engine("analytic"), template, ranks, platform, self.transport, options, units)

    @cached_property
    def schedule(self) -> Schedule:
        """What the network sees."""
        return self._lowered[0]

    @cached_property
    def _lowered(self) -> tuple[Schedule, frozenset[str]]:
        """The schedule, and the fields of the system that its algorithms looked at."""
        schedule = lower(
            self.trace,
            self.algorithms,
            self.system,
            max_active_collectives=self.scenario.system.max_active_collectives,
            scheduling=PoolOrder[self.scenario.system.scheduling.upper()],
            rank_machine=self.platform.arrays().rank_machine,
        )
        return schedule, frozenset(self.system.looked_at)

    @property
    def _unused_keys(self) -> tuple[str, ...]:
        """Keys of ``[collective]`` that were given and that no algorithm of the run has a use for."""
        chosen, plain, used = self.scenario.collective, CollectiveConfig(), self._lowered[1]
        names = {"rings": "rings", "piece_bytes": "tree_piece", "in_flight": "in_flight"}
        return tuple(
            f"{key} = {chosen.text(names[field])!r} changes nothing: no algorithm of this run has {what}"
            for field, (key, what) in SINGLE_FIELDS.items()
            if getattr(chosen, names[field]) != getattr(plain, names[field]) and field not in used
        )

    @property
    def _unseen(self) -> tuple[str, ...]:
        keys = unseen_keys(self.scenario)
        engine, named = self.scenario.engine, ", ".join(keys)
        notes = [f"engine = {engine!r} has no packets, and its result does not depend on {named}"] if keys else []
        losing = int((self.platform.arrays().link_loss > 0).sum())
        if engine != "packet" and losing:
            notes.append(f"engine = {engine!r} has no packets to lose, and {losing} links of the platform lose some")
        if engine != "analytic" or self.scenario.analytic.mode == "torchrec":
            return tuple(notes)
        if len(self.schedule.priorities) > 1:
            levels = ", ".join(map(str, sorted(self.schedule.priorities)))
            notes.append(f"engine = 'analytic' has whole messages without priorities; those of this run are {levels}")
        if switch_model(self.scenario).chooses_per_packet:
            routing = self.scenario.platform.routing
            notes.append(f"engine = 'analytic' sends a whole message one way, and platform.routing = {routing!r} many")
        return tuple(notes)

    @cached_property
    def declared_bytes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bytes that each rank has to send, and to receive; both i64[ranks].

        Raises
        ------
        CheckError : an algorithm without a closed form does not do what its collective promises.
        """
        return declared_rank_bytes(
            self.trace,
            self.algorithms,
            self.schedule,
            system=self.system,
            rank_machine=self.platform.arrays().rank_machine,
        )

    def require_sound(self) -> None:
        """Find whatever is wrong before the first event."""
        arrays = self.platform.arrays()
        require_thresholds(self.scenario, arrays)
        require_room(self.scenario, switch_model(self.scenario), self.transport, arrays, self.schedule.priorities)
        require_work(self.trace, self.schedule)
        _ = self.declared_bytes
        _ = self.routed_platform
        require_capturable(self.scenario.pcap, self.platform, self.schedule)
