# SPDX-License-Identifier: GPL-2.0-only
"""From a scenario to the flat figures that an engine takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astra_py.collectives.schedule import EdgeOn
from astra_py.engines.base import AckPolicy, EngineOptions, Progress, TimeRounding, TransportModel, WindowPolicy

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["engine_options", "transport_model"]


def transport_model(scenario: Scenario) -> TransportModel:
    """Return the transport of ``scenario`` in base units, every choice made."""
    transport = scenario.transport
    if transport.window is None:
        window_policy, window_bytes = WindowPolicy.NONE, 0
    elif transport.window == "bdp":
        window_policy, window_bytes = WindowPolicy.BDP, 0
    else:
        window_policy, window_bytes = WindowPolicy.FIXED, transport.window
    return TransportModel(
        payload_bytes=transport.payload,
        header_bytes=-1 if transport.header_size is None else transport.header_size,
        ack_bytes=-1 if transport.ack_size is None else transport.ack_size,
        ack_policy=AckPolicy[transport.ack.policy.upper()],
        ack_every=transport.ack.every,
        is_ack_class_shared=transport.ack_queue == "shared",
        window_policy=window_policy,
        window_bytes=window_bytes,
        qps_per_peer=transport.qps_per_peer or 0,
        timeout_ps=-1 if transport.timeout is None else transport.timeout,
        send_latency_ps=transport.send_latency,
        receive_latency_ps=transport.receive_latency,
        notify_on=EdgeOn[transport.notify_on.upper()],
        time_rounding=TimeRounding[transport.time_rounding.upper()],
    )


def engine_options(scenario: Scenario, *, progress: Progress | None = None, fault: str = "") -> EngineOptions:
    """Return what an engine needs of ``scenario`` beside schedule, platform and transport.

    Parameters
    ----------
    scenario : the run's scenario.
    progress : called now and then while the engine runs.
    fault : for tests of the checks, see :class:`EngineOptions`.
    """
    limits = scenario.limits
    return EngineOptions(
        seed=scenario.seed,
        endpoint_delay_ps=scenario.system.endpoint_delay,
        max_events=-1 if limits.max_events is None else limits.max_events,
        max_time_ps=-1 if limits.max_time is None else limits.max_time,
        progress=progress,
        ns3_defaults=dict(scenario.ns3.defaults),
        fault=fault,
    )
