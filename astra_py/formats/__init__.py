# SPDX-License-Identifier: GPL-2.0-only
"""Files that people of this field have: recognised, read and written by format."""

from astra_py.formats import scenario_files  # noqa: F401  (what it makes of files is registered)
from astra_py.formats.astra_network import ASTRA_NETWORK
from astra_py.formats.astra_system import ASTRA_LOGICAL_DIMS, ASTRA_SYSTEM
from astra_py.formats.astra_text import ASTRA_TEXT
from astra_py.formats.chakra import CHAKRA
from astra_py.formats.chakra_writer import write_chakra
from astra_py.formats.convert import convert, inspect
from astra_py.formats.execution_trace import PYTORCH_ET
from astra_py.formats.head import Head
from astra_py.formats.hpcc_flows import HPCC_FLOWS
from astra_py.formats.nccl_log import NCCL_TESTS
from astra_py.formats.ns3_topology import NS3_TOPOLOGY
from astra_py.formats.param_comms import PARAM_COMMS
from astra_py.formats.platform_json import PLATFORM_JSON
from astra_py.formats.registry import (
    Document,
    Format,
    Kind,
    Options,
    find_format,
    format_names,
    read,
    recognise,
    register_format,
)
from astra_py.formats.roce_config import ROCE_CONFIG
from astra_py.formats.scenario_toml import SCENARIO
from astra_py.formats.sharding_plan import SHARDING_PLAN

__all__ = [
    "ASTRA_LOGICAL_DIMS",
    "ASTRA_NETWORK",
    "ASTRA_SYSTEM",
    "ASTRA_TEXT",
    "CHAKRA",
    "HPCC_FLOWS",
    "NCCL_TESTS",
    "NS3_TOPOLOGY",
    "PARAM_COMMS",
    "PLATFORM_JSON",
    "PYTORCH_ET",
    "ROCE_CONFIG",
    "SCENARIO",
    "SHARDING_PLAN",
    "Document",
    "Format",
    "Head",
    "Kind",
    "Options",
    "convert",
    "find_format",
    "format_names",
    "inspect",
    "read",
    "recognise",
    "register_format",
    "write_chakra",
]
