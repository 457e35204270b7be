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
#: Engines without packets, and what each sees beside that.
_SEEN = {
    "flow": _TRANSPORT_OF_MESSAGES | {"qp_policy"},
    "analytic": _TRANSPORT_OF_MESSAGES,
}


def unseen_keys(scenario: Scenario) -> tuple[str, ...]:
    """Keys of ``[transport]`` and ``[switch]`` that are not their defaults and that the scenario's engine does not see.

    The packet engine sees all. Those without packets have no acknowledgements on links, no windows, no congestion
    control, no recovery and no buffers, and their priorities are strict.
    """
    if scenario.engine == "packet":
        return ()
    transport, switch = scenario.transport, scenario.switch
    tables = (
        (transport, type(transport)(), _SEEN[scenario.engine]),
        (switch, type(switch)(), frozenset[str]()),
    )
    return tuple(
        f"{table.key}.{name}"
        for table, plain, seen in tables
        for name in type(table).model_fields
        if name not in seen and getattr(table, name) != getattr(plain, name)
    )
