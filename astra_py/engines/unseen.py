# SPDX-License-Identifier: GPL-2.0-only
"""What of a scenario an engine without packets does not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astra_py.config import Scenario

__all__ = ["unseen_keys"]

#: Of ``[transport]``, what messages have without packets; ``kind`` and ``preset`` are no figures of their own.
_TRANSPORT_OF_MESSAGES = frozenset(
    {
        "kind",
        "preset",
        "payload",
        "header_size",
        "qps_per_peer",
        "send_latency",
        "receive_latency",
        "notify_on",
        "time_rounding",
    }
)
#: Of ``[transport]``, what ASTRA-sim's analytical backends have; the latencies are refused where they are not 0.
_TRANSPORT_OF_ASTRA_SIM = frozenset({"kind", "preset", "send_latency", "receive_latency"})
#: What of ``[transport]`` is seen without packets, by ``analytic.mode``. TorchRec's planner has its own constants.
_SEEN_BY_MODE = {
    "loggp": _TRANSPORT_OF_MESSAGES,
    "astra_sim": _TRANSPORT_OF_ASTRA_SIM,
    "astra_sim_congestion": _TRANSPORT_OF_ASTRA_SIM,
    "torchrec": frozenset({"kind", "preset"}),
}


def unseen_keys(scenario: Scenario) -> tuple[str, ...]:
    """Keys of ``[transport]`` and ``[switch]`` that are not their defaults and that the scenario's engine does not see.

    The packet engine sees all. Those without packets have no acknowledgements on links, no windows, no congestion
    control, no recovery and no buffers, and their priorities are strict.
    """
    if scenario.engine == "packet":
        return ()
    transport, switch = scenario.transport, scenario.switch
    is_flow = scenario.engine == "flow"
    seen = _TRANSPORT_OF_MESSAGES | {"qp_policy"} if is_flow else _SEEN_BY_MODE[scenario.analytic.mode]
    tables = (
        (transport, type(transport)(), seen),
        (switch, type(switch)(), frozenset[str]()),
    )
    return tuple(
        f"{table.key}.{name}"
        for table, plain, seen in tables
        for name in type(table).model_fields
        if name not in seen and getattr(table, name) != getattr(plain, name)
    )
