# SPDX-License-Identifier: GPL-2.0-only
"""Parameters that reach ns-3 by the names of attributes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.engines.packet import PacketEngine
from astra_py.engines.resolve import engine_options
from astra_py.errors import ConfigError


def test_attributes_and_defaults_go_to_ns3_alike() -> None:
    run = one_collective(load_scenario({}), "all_to_all", 8000)
    options = engine_options(run.scenario)
    for field in ("attributes", "ns3_defaults"):
        wrong = replace(options, **{field: {"ns3::RoceNic::Nothing": "1"}})
        with pytest.raises(ConfigError, match="ns3::RoceNic has no such attribute"):
            PacketEngine().run(run.schedule, run.platform, run.transport, wrong)
        refused = replace(options, **{field: {"ns3::Dcqcn::Gain": "2"}})
        with pytest.raises(ConfigError, match='ns-3 does not accept "2"'):
            PacketEngine().run(run.schedule, run.platform, run.transport, refused)
