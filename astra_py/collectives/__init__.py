# SPDX-License-Identifier: GPL-2.0-only
"""Collectives: algorithms as schedules of messages, their closed forms, and checks of what they do.

Importing the package registers the built-in algorithms.
"""

from astra_py.collectives import built_in, built_in_forms  # noqa: F401  (each registers what it names)
from astra_py.collectives.bandwidth import algorithm_bytes, bus_bytes, bus_factor
from astra_py.collectives.builder import Dep, Hold, ScheduleBuilder
from astra_py.collectives.closed_forms import ClosedForm, closed_form, register_closed_form
from astra_py.collectives.closed_times import ASYMPTOTIC, Level, closed_time_ps
from astra_py.collectives.dataflow import check_dataflow
from astra_py.collectives.declared import LevelBytes, declared_level_bytes, declared_rank_bytes
from astra_py.collectives.drawing import draw_template, plot_template
from astra_py.collectives.level_forms import LevelForm, level_form
from astra_py.collectives.lowering import lower
from astra_py.collectives.registry import (
    DEFAULT_ALGORITHMS,
    Group,
    algorithm_names,
    build_template,
    collective,
    find_algorithm,
)
from astra_py.collectives.schedule import Combine, EdgeOn, OpKind, OuterKind, PoolOrder, Schedule, Template
from astra_py.collectives.system import SystemModel

__all__ = [
    "ASYMPTOTIC",
    "DEFAULT_ALGORITHMS",
    "ClosedForm",
    "Combine",
    "Dep",
    "EdgeOn",
    "Group",
    "Hold",
    "Level",
    "LevelBytes",
    "LevelForm",
    "OpKind",
    "OuterKind",
    "PoolOrder",
    "Schedule",
    "ScheduleBuilder",
    "SystemModel",
    "Template",
    "algorithm_bytes",
    "algorithm_names",
    "build_template",
    "bus_bytes",
    "bus_factor",
    "check_dataflow",
    "closed_form",
    "closed_time_ps",
    "collective",
    "declared_level_bytes",
    "declared_rank_bytes",
    "draw_template",
    "find_algorithm",
    "level_form",
    "lower",
    "plot_template",
    "register_closed_form",
]
