# SPDX-License-Identifier: GPL-2.0-only
"""What to run: the scenario, its parameters, and how it is read."""

from astra_py.config.collective import CollectiveConfig
from astra_py.config.load import load_scenario
from astra_py.config.params import Parameter, parameter_table
from astra_py.config.platform import PlatformConfig
from astra_py.config.presets import transport_presets
from astra_py.config.scenario import AnalyticConfig, LimitsConfig, Scenario
from astra_py.config.switch import SwitchConfig
from astra_py.config.system import SystemConfig
from astra_py.config.transport import Ack, TransportConfig
from astra_py.config.workload import WorkloadConfig

__all__ = [
    "Ack",
    "AnalyticConfig",
    "CollectiveConfig",
    "LimitsConfig",
    "Parameter",
    "PlatformConfig",
    "Scenario",
    "SwitchConfig",
    "SystemConfig",
    "TransportConfig",
    "WorkloadConfig",
    "load_scenario",
    "parameter_table",
    "transport_presets",
]
