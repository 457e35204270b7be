# SPDX-License-Identifier: GPL-2.0-only
"""What of a scenario an engine without packets does not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astra_py.config import Scenario
    from astra_py.config.table import Table

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
#: Of ``[transport.tcp]``, what decides how large its segments are and which ways they take.
_TCP_OF_MESSAGES = frozenset({"mtu", "timestamps", "sockets_per_peer"})
_TCP_SEEN_BY_MODE = {"loggp": _TCP_OF_MESSAGES}
#: What of ``[transport]`` is seen without packets, by ``analytic.mode``. TorchRec's planner has its own constants.
_SEEN_BY_MODE = {
    "loggp": _TRANSPORT_OF_MESSAGES,
    "astra_sim": _TRANSPORT_OF_ASTRA_SIM,
    "astra_sim_congestion": _TRANSPORT_OF_ASTRA_SIM,
    "torchrec": frozenset({"kind", "preset"}),
}


def unseen_keys(scenario: Scenario) -> tuple[str, ...]:
    """Keys of transport, hosts and switches that are not their defaults and that the scenario's engine does not see.

    The packet engine sees all. Those without packets have no acknowledgements on links, no windows, no congestion
    control, no recovery, no buffers and no hosts, and their priorities are strict. What is put aside is no key of the
    run.
    """
    if scenario.engine == "packet":
        return ()
    transport = scenario.transport
    plain = type(scenario).model_validate({"transport": {"kind": transport.kind}})
    is_flow = scenario.engine == "flow"
    mode = scenario.analytic.mode
    seen = _TRANSPORT_OF_MESSAGES | {"qp_policy"} if is_flow else _SEEN_BY_MODE[mode]
    tables: list[tuple[Table, Table, frozenset[str]]] = [(transport, plain.transport, seen | {"tcp"})]
    if transport.kind == "tcp":
        of_tcp = _TCP_OF_MESSAGES | {"socket_policy"} if is_flow else _TCP_SEEN_BY_MODE.get(mode, frozenset())
        tables += [(transport.tcp, plain.transport.tcp, of_tcp), (scenario.host, plain.host, frozenset({"preset"}))]
    tables.append((scenario.switch, plain.switch, frozenset()))
    return tuple(
        key
        for table, defaults, names in tables
        for name in type(table).model_fields
        if name not in names
        and getattr(table, name) != getattr(defaults, name)
        and (key := f"{table.key}.{name}") not in scenario.put_aside
    )
