# SPDX-License-Identifier: GPL-2.0-only
"""astra-py: how long a DLRM training step takes on a platform, how much of it is exposed communication, and why.

>>> import astra_py as ap
>>> run = ap.load("workloads/astra2020_16.toml", "platform.link_rate=200Gbps").run()  # doctest: +SKIP
>>> run.collectives[["name", "ranks", "time_us", "busbw_GBps", "exposed_us"]]  # doctest: +SKIP

Names are imported when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from astra_py.analysis.compare import compare
    from astra_py.api import Run, load
    from astra_py.batch.sweep import Sweep, read_sweep, run_sweep
    from astra_py.collectives import ClosedForm, ScheduleBuilder, check_dataflow, collective, register_closed_form
    from astra_py.engines.network import NetworkInterface
    from astra_py.errors import (
        AstraPyError,
        CheckError,
        ConfigError,
        DeadlockError,
        EngineCrash,
        PluginError,
        SimulationError,
        TopologyError,
        WorkloadError,
    )
    from astra_py.platforms import topology
    from astra_py.results import Result, read_result
    from astra_py.workloads import workload

__version__ = "0.1.0"

_HOMES = {
    "astra_py.analysis.compare": ("compare",),
    "astra_py.api": ("Run", "load"),
    "astra_py.batch.sweep": ("Sweep", "read_sweep", "run_sweep"),
    "astra_py.collectives": ("ClosedForm", "ScheduleBuilder", "check_dataflow", "collective", "register_closed_form"),
    "astra_py.engines.network": ("NetworkInterface",),
    "astra_py.errors": (
        "AstraPyError",
        "CheckError",
        "ConfigError",
        "DeadlockError",
        "EngineCrash",
        "PluginError",
        "SimulationError",
        "TopologyError",
        "WorkloadError",
    ),
    "astra_py.platforms": ("topology",),
    "astra_py.results": ("Result", "read_result"),
    "astra_py.workloads": ("workload",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AstraPyError",
    "CheckError",
    "ClosedForm",
    "ConfigError",
    "DeadlockError",
    "EngineCrash",
    "NetworkInterface",
    "PluginError",
    "Result",
    "Run",
    "ScheduleBuilder",
    "SimulationError",
    "Sweep",
    "TopologyError",
    "WorkloadError",
    "__version__",
    "check_dataflow",
    "collective",
    "compare",
    "load",
    "read_result",
    "read_sweep",
    "register_closed_form",
    "run_sweep",
    "topology",
    "workload",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'astra_py' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
