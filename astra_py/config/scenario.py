# SPDX-License-Identifier: GPL-2.0-only
"""A scenario: everything a run is made from, as one tree of frozen tables."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from astra_py.config.background import BackgroundConfig
from astra_py.config.collective import CollectiveConfig
from astra_py.config.host import HostConfig
from astra_py.config.jobs import JobConfig
from astra_py.config.ns3 import Ns3Config, apply_ns3_defaults
from astra_py.config.pcap import PcapConfig
from astra_py.config.platform import PlatformConfig
from astra_py.config.presets import apply_preset
from astra_py.config.results import ResultsConfig
from astra_py.config.rules import Choice, Count, QuantityRule
from astra_py.config.settings_files import TABLES_WITH_FILES, apply_settings_files
from astra_py.config.switch import SwitchConfig
from astra_py.config.system import SystemConfig
from astra_py.config.table import FieldError, Table, parameter
from astra_py.config.transport import TransportConfig
from astra_py.config.transport_kinds import apply_transport_defaults, transport_kind
from astra_py.config.workload import WorkloadConfig
from astra_py.errors import ConfigError, did_you_mean
from astra_py.plugins import FILE, file_of
from astra_py.units import TIME, format_rate, format_time, parse_time

__all__ = ["MAIN_JOB", "AnalyticConfig", "LimitsConfig", "Scenario"]

#: What tables call the job of ``[workload]`` where it has background beside it.
MAIN_JOB = "workload"


#: Longest time of one packet on one link, as of every fixed delay: thousands of them in a row fit simulated time.
_LONGEST_PACKET = parse_time("100s")
_PS_PER_S = 10**12
#: Line bytes of a RoCE data packet's headers where transport.header_size = 'roce', those of a first packet.
_ROCE_HEADERS = 98
#: Line bytes of an Ethernet frame beside its IP packet (IEEE 802.3).
_FRAMING = 38


class LimitsConfig(Table):
    """``[limits]``: when a run gives up."""

    key: ClassVar[str] = "limits"

    max_events: Annotated[int | None, Count(least=1, words={"none": None})] = parameter(
        "none", "Most events that an engine handles; a run that needs more fails.", source="no limit"
    )
    max_time: Annotated[int | None, QuantityRule(TIME, least=1, words={"none": None})] = parameter(
        "none", "Latest simulated time; a run that is not done by then fails.", source="no limit"
    )


class AnalyticConfig(Table):
    """``[analytic]``: the analytic engine."""

    key: ClassVar[str] = "analytic"

    mode: Annotated[str, Choice("loggp", "astra_sim", "astra_sim_congestion", "torchrec")] = parameter(
        "loggp",
        "Model of the analytic engine: LogGP over the schedule, message by message, or, for comparison, that of "
        "ASTRA-sim 2's congestion-unaware or congestion-aware analytical backend, or of TorchRec's planner.",
    )


class Scenario(Table):
    """What to run: platform, transport, collectives, workload, seed. Made by :func:`astra_py.config.load_scenario`."""

    seed: Annotated[int, Count()] = parameter(
        1, "Seed of everything random: routes, losses.", source="any number; results are the same for the same seed"
    )
    engine: Annotated[str, Choice("packet", "flow", "analytic")] = parameter(
        "packet",
        "What runs the schedule: every packet in ns-3, flows that share links max-min fairly, or formulas.",
    )
    platform: PlatformConfig = PlatformConfig()
    switch: SwitchConfig = SwitchConfig()
    transport: TransportConfig = TransportConfig()
    host: HostConfig = HostConfig()
    collective: CollectiveConfig = CollectiveConfig()
    system: SystemConfig = SystemConfig()
    workload: WorkloadConfig | None = None
    jobs: dict[str, JobConfig] = Field(default_factory=dict)
    background: dict[str, BackgroundConfig] = Field(default_factory=dict)
    limits: LimitsConfig = LimitsConfig()
    analytic: AnalyticConfig = AnalyticConfig()
    pcap: PcapConfig = PcapConfig()
    results: ResultsConfig = ResultsConfig()
    ns3: Ns3Config = Ns3Config()

    _source_path: Path | None = PrivateAttr(None)
    _job_ranks: tuple[int, ...] | None = PrivateAttr(None)
    _taken_out: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _apply_what_stands_elsewhere(cls, given: Any, read: ModelWrapValidatorHandler[Scenario]) -> Scenario:
        if not isinstance(given, Mapping):
            return read(given)
        given = apply_ns3_defaults(given, cls)
        kind = transport_kind(given, cls)
        given = apply_preset(apply_settings_files(given, cls, kind), cls, kind)
        given, taken_out = apply_transport_defaults(given, cls, kind)
        scenario = read(given)
        scenario._taken_out = taken_out
        return scenario

    @property
    def kind(self) -> str:
        """The kind of transport, by which tables mean something or are put aside."""
        return self.transport.kind

    @property
    def put_aside(self) -> tuple[str, ...]:  # noqa: D102  (as the base)
        return (*super().put_aside, *self._taken_out)

    def check(self) -> None:  # noqa: D102  (as the base)
        line_bytes, packet = self._packet
        slowest_bps = -(-8 * line_bytes * _PS_PER_S // _LONGEST_PACKET)
        if self.platform.kind != "file" and self.platform.link_rate < slowest_bps:
            raise FieldError(
                "platform.link_rate",
                f"{self.platform.text('link_rate')!r} takes {8 * line_bytes / self.platform.link_rate:,.0f} s for one "
                f"packet of {packet} and its headers, and simulated time ends after 13 days",
                f"at least {format_rate(slowest_bps)}, {format_time(_LONGEST_PACKET)} a packet",
            )

        if self.analytic.mode != "loggp" and self.engine != "analytic":
            raise FieldError(
                "analytic.mode",
                f"{self.analytic.mode!r} would mean nothing with engine = {self.engine!r}",
                "only with engine = 'analytic'",
            )
        workloads = [self.workload, *(job.workload for job in self.jobs.values())]
        if self.analytic.mode == "torchrec" and not any(each and each.kind == "dlrm" for each in workloads):
            raise FieldError(
                "analytic.mode",
                "'torchrec' estimates a DLRM's sharding plan, and there is none",
                "only with workload.kind = 'dlrm'",
            )
        if self.pcap.ports:
            self._check_captured()
        self._check_jobs()

    @property
    def _packet(self) -> tuple[int, str]:
        """Line bytes of the largest packet, and the key that says so."""
        transport = self.transport
        if transport.kind == "tcp":
            return transport.tcp.mtu + _FRAMING, f"transport.tcp.mtu = {transport.tcp.text('mtu')!r}"
        headers = _ROCE_HEADERS if transport.header_size is None else transport.header_size
        return transport.payload + headers, f"transport.payload = {transport.text('payload')!r}"

    def _check_jobs(self) -> None:
        """Refuse names that tables could not tell apart, jobs without a workload, and a workload without a job."""
        for table, names in (("jobs", self.jobs), ("background", self.background)):
            for name in names:
                if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
                    raise FieldError(f"{table}.{name}", f"{name!r} is no name", "letters, digits, '_' and '-'")
                if name == MAIN_JOB or (table == "background" and name in self.jobs):
                    whose = "the [workload] beside it" if name == MAIN_JOB else f"[jobs.{name}]"
                    raise FieldError(f"{table}.{name}", f"{name!r} is the name of {whose}", "another name")
        if without := [name for name, job in self.jobs.items() if job.workload is None]:
            if self.workload is None:
                raise FieldError(
                    f"jobs.{without[0]}.workload",
                    "missing",
                    f"[jobs.{without[0]}.workload], or [workload] for all jobs",
                )
        elif self.jobs and self.workload is not None:
            raise FieldError(
                "workload",
                f"{self.workload.title!r} would mean nothing: all of jobs {', '.join(self.jobs)} have one of their own",
                "[workload] without [jobs], or with a job that has none",
            )

    def _check_captured(self) -> None:
        """Refuse captures of frames that have no true bytes."""
        transport, given = self.transport, self.pcap.text("ports")
        if self.engine != "packet":
            raise FieldError(
                "pcap.ports",
                f"{given!r} would mean nothing with engine = {self.engine!r}",
                "only with engine = 'packet'",
            )
        for key in ("header_size", "ack_size") if transport.kind == "roce" else ():
            if getattr(transport, key) is not None:
                raise FieldError(
                    "pcap.ports",
                    f"{given!r} has no true bytes with transport.{key} = {transport.text(key)!r}: frames of that size "
                    "are not RoCEv2's",
                    f"only with transport.{key} = 'roce'",
                )

    @property
    def source_path(self) -> Path | None:
        """The file that the scenario was read from, or None."""
        return self._source_path

    @property
    def workloads(self) -> dict[str, WorkloadConfig]:
        """The scenario's workload and those of its jobs, by key path."""
        found = {} if self.workload is None else {"workload": self.workload}
        own = {f"jobs.{name}.workload": job.workload for name, job in self.jobs.items()}
        return found | {key: workload for key, workload in own.items() if workload is not None}

    def workload_of(self, job: str) -> WorkloadConfig:
        """The workload of ``[jobs.NAME]``: its own, or the scenario's."""
        workload = self.jobs[job].workload or self.workload
        assert workload is not None
        return workload

    def of_job(self, workload: WorkloadConfig, ranks: tuple[int, ...]) -> Scenario:
        """The same scenario as the maker of one of its jobs sees it: with its workload, on its ranks."""
        scenario = self.model_copy(update={"workload": workload})
        scenario._job_ranks = ranks
        return scenario

    def job_ranks(self, ranks: int) -> tuple[int, ...]:
        """The platform's rank of each of the job's first ``ranks`` ranks.

        Raises
        ------
        ConfigError
            there are not so many.
        """
        known = self._job_ranks
        if known is not None and ranks > len(known):
            raise ConfigError(
                f"workload.weak_scaling_from = {ranks}: this kind of job is made for ranks of the platform, and it has "
                f"{len(known)}"
            )
        return tuple(range(ranks)) if known is None else known[:ranks]

    def job_alone(self, job: str) -> Scenario:
        """The same scenario with one of its jobs and nothing beside it.

        Raises
        ------
        ConfigError
            it has no such job.
        """
        known = list(self.jobs) or ([] if self.workload is None else [MAIN_JOB])
        if job not in known:
            raise ConfigError(
                f"there is no job {job!r}; allowed: {', '.join(known) or 'none'}{did_you_mean(job, known)}"
            )
        jobs = {job: self.jobs[job]} if self.jobs else {}
        return self.model_copy(update={"jobs": jobs, "background": {}})

    def require_work(self) -> None:
        """Refuse a scenario in which nothing is to be done.

        Raises
        ------
        ConfigError
            it has no workload, no jobs and no background.
        """
        if not (self.jobs or self.background):
            self.require_workload()

    def _repr_html_(self) -> str:
        from astra_py.report.notebook import scenario_html

        return scenario_html(self)

    @property
    def title(self) -> str:
        """What is to be run, in a few words."""
        if self._source_path is not None:
            return str(self._source_path)
        return ", ".join([*self.jobs, *self.background]) if self.workload is None else self.workload.title

    def require_workload(self) -> WorkloadConfig:
        """Return the workload.

        Raises
        ------
        ConfigError
            the scenario has none.
        """
        if self.workload is None:
            where = f"{self._source_path}: " if self._source_path else ""
            raise ConfigError(
                f"{where}workload: there is none, and a run needs one; give workload.file and workload.format, "
                "jobs or background, or time one collective with astra-py collective KIND --scenario FILE"
            )
        return self.workload

    def resolved(self) -> dict[str, Any]:
        """Return plain JSON values, every key that means something given; they load to a scenario of the same digest.

        Where nothing was put aside, they load to an equal scenario.
        """
        tables = self.model_dump(mode="json").items()
        return {key: _without_none(value) for key, value in tables if value is not None and value != {}}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of :meth:`resolved` and of the bytes of every input file; where the files lie does not matter.

        Raises
        ------
        ConfigError
            an input file cannot be read.
        """
        values = self.resolved()
        for key in ("pcap", "results"):
            values.pop(key)  # What is looked at is not what is run.
        contents: list[bytes] = []
        for key, workload in sorted(self.workloads.items()):
            table = values
            for part in key.split("."):
                table = table[part]
            if (path := workload.input_path) is not None:
                table["file"] = path.name
                contents.extend(_contents(f"{key}.file", file) for file in workload.input_paths or (path,))
            for name, path in workload.sharding_files.items():
                if name == "workload.plan":
                    table["plan"] = path.name
                contents.append(_contents(name, path))
            if workload.comm_groups is not None:
                table["comm_groups"] = Path(workload.comm_groups).name
                contents.append(_contents(f"{key}.comm_groups", Path(workload.comm_groups)))
        for name, background in sorted(self.background.items()):
            if background.file is not None:
                values["background"][name]["file"] = Path(background.file).name
                contents.append(_contents(f"background.{name}.file", Path(background.file)))
        for key in ("platform", *TABLES_WITH_FILES):
            if (named := getattr(self, key).file) is not None:
                values[key]["file"] = Path(named).name
                contents.append(_contents(f"{key}.file", Path(named)))
        if self.platform.routing_hook is not None:
            hook, _, function = self.platform.routing_hook.rpartition(":")
            values["platform"]["routing_hook"] = f"{Path(hook).name}:{function}"
            contents.append(_contents("platform.routing_hook", Path(hook)))
        contents += _named_files("", values)
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(b"\0".join([text.encode(), *(contents or [b""])])).hexdigest()


def _without_none(values: Any) -> Any:
    """Tables without the keys that have no value, in tables of tables too."""
    if not isinstance(values, dict):
        return values
    return {key: _without_none(value) for key, value in values.items() if value is not None}


def _named_files(key: str, table: dict[str, Any]) -> list[bytes]:
    """Contents of the files that values ``file:PATH`` name; in ``table`` only their names are left."""
    contents = []
    for name, value in sorted(table.items()):
        path_key = f"{key}.{name}" if key else name
        if isinstance(value, dict):
            contents += _named_files(path_key, value)
        elif isinstance(value, str) and (path := file_of(value)) is not None:
            table[name] = f"{FILE}{value.removeprefix(FILE).removeprefix(str(path.parent))}"
            contents.append(_contents(path_key, path))
    return contents


def _contents(key: str, path: Path) -> bytes:
    """The bytes of an input file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{key}: {str(path)!r} cannot be read: {error.strerror}") from error
