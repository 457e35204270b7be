# SPDX-License-Identifier: GPL-2.0-only
"""The portable network interface: a script drives the network itself, message by message.

It is the seam between a training simulator and a network simulator of Rashidi et al., HOTI 2020, with the same four
calls: send, receive, schedule, and what time it is. The same platform, transport and engines carry the messages as
carry those of collectives.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from astra_py.engines.astra_sim import is_astra_sim, require_astra_sim
from astra_py.engines.base import ExitReason
from astra_py.engines.resolve import engine_options, transport_model
from astra_py.errors import CheckError, ConfigError, DeadlockError, SimulationError
from astra_py.platforms import build_platform

if TYPE_CHECKING:
    import pandas as pd

    from astra_py.config import Scenario

__all__ = ["NetworkInterface"]

#: What is called back; it takes nothing and may call anything of the interface but :meth:`NetworkInterface.run`.
Callback = Callable[[], object]

#: Calls and messages that an error lists: enough to see the pattern.
_MOST_LISTED = 40

#: Tags are 64-bit integers.
_TAGS = range(-(2**63), 2**63)


class NetworkInterface:
    """A network that a script sends messages over.

    Times are integers in ps, sizes in bytes, ranks 0 to ``ranks - 1``. Nothing happens outside of :meth:`run`; in it,
    callbacks are called in order of simulated time, and within one instant in the order that docs/borders.md fixes.

    Of the scenario ``platform``, ``transport``, ``engine``, ``seed``, ``limits`` and ``ns3`` count. Its ``workload``,
    ``collective`` and ``system`` belong to what is built on this interface, and so to the script: no endpoint delay and
    no local reduction is added here.

    Parameters
    ----------
    scenario : where the messages go; of :func:`astra_py.config.load_scenario`, or ``ap.load(...).scenario``.

    Attributes
    ----------
    ranks : how many there are.
    engine : "packet", "flow" or "analytic".
    node_ids : with the packet engine, where the platform's nodes are in ns-3's ``NodeList``; else empty.

    Raises
    ------
    ConfigError : the engine cannot do this, ``scenario`` is none, or ns-3 is in use: it has one simulator a process,
        and this holds it until :meth:`close`.
    TopologyError : the platform cannot be built.

    Examples
    --------
    >>> import astra_py as ap
    >>> from astra_py.config import load_scenario
    >>> with ap.NetworkInterface(load_scenario({"platform": {"ranks": 2}})) as net:
    ...     net.send(0, 1, 65536, tag=7)
    ...     net.recv(1, 0, 65536, tag=7, on_received=lambda: print(net.now(), "ps"))
    ...     net.run()
    6984640 ps
    """

    def __init__(self, scenario: Scenario) -> None:
        from astra_py._ns3_ext import NetworkRun
        from astra_py.config import Scenario

        if not isinstance(scenario, Scenario):
            raise ConfigError(f"a network is that of a Scenario, as load_scenario() makes one, not of {scenario!r}")
        if scenario.engine not in ("packet", "flow", "analytic"):
            raise ConfigError(
                f"engine = {scenario.engine!r} has no network interface; allowed: 'packet', 'flow', 'analytic'"
            )
        if scenario.engine != "packet" and scenario.ns3.defaults:
            names = ", ".join(sorted(scenario.ns3.defaults))
            raise ConfigError(
                f"ns3.defaults: the {scenario.engine} engine has no ns-3 to set {names} in; use engine=packet"
            )
        if scenario.platform.routing == "hook":
            raise ConfigError(
                "platform.routing = 'hook' chooses ways of flows that are known before a run, and a script's are not; "
                "allowed with the network interface: another platform.routing"
            )
        if scenario.analytic.mode == "torchrec":
            raise ConfigError(
                "analytic.mode = 'torchrec' estimates a sharding plan and has no network; allowed: another"
            )
        platform = build_platform(scenario.platform)
        # bins of time are for a result's tables, and a script's network has none
        options = replace(engine_options(scenario, platform=platform), link_bins=0)
        if is_astra_sim(options.analytic_mode):
            require_astra_sim(platform, transport_model(scenario), options.analytic_mode)
        self.engine = scenario.engine
        self.ranks = platform.ranks
        self._native = NetworkRun(scenario.engine, platform.arrays(), transport_model(scenario), options)
        self.node_ids: list[int] = self._native.node_ids
        self._runner: int | None = None

    def send(self, src: int, dst: int, size_bytes: int, tag: int, on_sent: Callback | None = None) -> None:
        """Send a message now. A receive that matches it has to be called, too, before or after.

        Parameters
        ----------
        src, dst : different ranks.
        size_bytes : payload; 0 is a message, too.
        tag : any 64-bit integer. A receive matches a send of equal ``tag``, ``src`` and ``dst``; those that have all
            three in common match in order of their calls.
        on_sent : called when the last byte has left the sender.

        Raises
        ------
        ConfigError : an argument is not allowed, the matching receive has another size, or the interface is closed.
        """
        sent = None if on_sent is None else _callback("send: on_sent", on_sent)
        self._native.send(*self._message("send", src, dst, size_bytes, tag), sent)  # type: ignore[arg-type]  # None is nothing

    def recv(self, dst: int, src: int, size_bytes: int, tag: int, on_received: Callback) -> None:
        """Wait for a message.

        Parameters
        ----------
        dst, src, size_bytes, tag : as of the :meth:`send` that it matches; mind the order.
        on_received : called when the last byte is at the receiver, or with ``transport.notify_on = "acked"`` when the
            sender knows of it; where that has been, in this instant.

        Raises
        ------
        ConfigError : as :meth:`send`.
        """
        received = _callback("recv: on_received", on_received)
        src, dst, size_bytes, tag = self._message("recv", src, dst, size_bytes, tag)
        self._native.recv(dst, src, size_bytes, tag, received)

    def schedule(self, delay_ps: int, function: Callback) -> None:
        """Call ``function`` after ``delay_ps`` of simulated time: compute, an endpoint's delay, a timer.

        Raises
        ------
        ConfigError : a delay below 0, or the interface is closed.
        """
        self._require_thread()
        timer = _callback("schedule: function", function)
        self._native.schedule(_integer("schedule: delay_ps", delay_ps), timer)

    def now(self) -> int:
        """Simulated time in ps; after :meth:`run` that of the network's last event, such as an acknowledgement's end.

        Raises
        ------
        ConfigError : the interface is closed.
        """
        self._require_thread()
        return self._native.now()

    def run(self) -> None:
        """Run until every message has been received and acknowledged and every timer is over.

        More may be posted afterwards and run again, from the time that it is then.

        Raises
        ------
        DeadlockError : sends without a receive, receives without a send, or messages that never arrived: lists them.
        CheckError : what was delivered is not what was sent.
        SimulationError : a limit of the scenario was met, or somebody stopped ns-3.
        ConfigError : the interface is closed, is running, or an exception has ended its run.
        KeyboardInterrupt : the user interrupted the run.

        Whatever a callback raises ends the run and comes out of here; the interface is of no more use then.
        """
        self._require_thread()
        before, self._runner = self._runner, threading.get_ident()
        try:
            reason = ExitReason(self._native.run())
        finally:
            self._runner = before
        leftovers = self._native.leftovers()
        if reason == ExitReason.COMPLETED and leftovers:
            reason = ExitReason.DEADLOCK
        if reason != ExitReason.COMPLETED:
            raise _not_completed(reason, leftovers, self.now())
        _require_conserved(self._native.messages(), self._native.counts())

    @property
    def messages(self) -> pd.DataFrame:
        """One row a message in order of the sends: src, dst, tag, size_bytes, and its moments.

        The moments are ``posted_ps``, ``sent_ps``, ``delivered_ps`` and ``acked_ps``, -1 where one never came; then
        ``delivered_bytes`` and ``retransmitted_packets``.
        """
        import pandas as pd

        self._require_thread()
        return pd.DataFrame(self._native.messages())

    @property
    def counters(self) -> Mapping[str, int]:
        """What the network counted so far: ``events``, and with the packet engine packets, hops, timeouts and so on.

        Raises
        ------
        ConfigError : the interface is closed.
        """
        self._require_thread()
        counters: Mapping[str, int] = self._native.counts()["counters"]
        return counters

    def close(self) -> None:
        """Give ns-3's simulator back; harmless when done twice. :attr:`messages` stays.

        Raises
        ------
        ConfigError : it is running.
        """
        self._require_thread()
        self._native.close()

    def __enter__(self) -> NetworkInterface:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _message(self, what: str, *numbers: int) -> tuple[int, int, int, int]:
        """Source, destination, size and tag as integers; that they are allowed ones is checked further down."""
        self._require_thread()
        names = ("src", "dst", "size_bytes", "tag")
        src, dst, size_bytes, tag = (
            _integer(f"{what}: {name}", number) for name, number in zip(names, numbers, strict=True)
        )
        return src, dst, size_bytes, tag

    def _require_thread(self) -> None:
        if self._runner not in (None, threading.get_ident()):
            raise ConfigError("the network runs in another thread; only its callbacks can use it meanwhile")


def _callback(what: str, function: Any) -> Any:
    """``function`` if it can be called."""
    if not callable(function):
        raise ConfigError(f"{what} is {function!r}; allowed: a callable without arguments")
    return function


def _integer(what: str, value: Any) -> int:
    """``value`` if it is a whole number of 64 bits, of Python or numpy."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number not in _TAGS:
        raise ConfigError(f"{what} is {value!r}; allowed: a whole number of 64 bits")
    return number


def _not_completed(reason: ExitReason, leftovers: list[dict[str, Any]], now_ps: int) -> SimulationError:
    """The error for a run that did not complete, with what is left."""
    lines = [f"\n  {_sentence(item)}" for item in islice(leftovers, _MOST_LISTED)]
    if len(leftovers) > _MOST_LISTED:
        lines.append(f"\n  and {len(leftovers) - _MOST_LISTED:,} more")
    state = f"{len(leftovers):,} calls unfinished at {now_ps / 1e6:.6f} us{''.join(lines)}"
    if reason == ExitReason.DEADLOCK:
        return DeadlockError(f"deadlock: nothing is left to happen, {state}")
    if reason == ExitReason.STOPPED:
        what = "ns-3's simulator was stopped from outside (Simulator::Stop) before the run's end"
    else:
        what = f"{reason.replace('_', ' ')} reached"
    return SimulationError(f"{what}: {state}", reason=str(reason))


def _sentence(item: Mapping[str, Any]) -> str:
    """One line for a call without its match, or for a message on its way."""
    call = "send" if item["is_send"] else "recv"
    what = (
        f"{call} of {item['size_bytes']:,} B from rank {item['src']} to rank {item['dst']}, tag {item['tag']}, "
        f"called at {item['called_ps'] / 1e6:.6f} us"
    )
    if not item["is_send"]:
        return f"{what}: no send matches it"
    state = "delivered" if item["is_delivered"] else "on its way"
    return f"{what}: {state}" if item["is_matched"] else f"{what}: {state}, and no receive matches it"


def _require_conserved(messages: Mapping[str, NDArray[np.int64]], counts: Mapping[str, NDArray[np.int64]]) -> None:
    """Hold what was delivered, message by message and at each rank's own port, against what was sent.

    Raises
    ------
    CheckError : names the first message or rank that differs.
    """
    size_bytes, delivered = messages["size_bytes"], messages["delivered_bytes"]
    if len(wrong := np.flatnonzero(size_bytes != delivered)):
        i = int(wrong[0])
        raise CheckError(
            f"message {i} from rank {messages['src'][i]} to rank {messages['dst'][i]}, tag {messages['tag'][i]}: sent "
            f"{size_bytes[i]:,} B, delivered {delivered[i]:,} B"
        )
    for end, counted in (("src", "rank_sent_payload_bytes"), ("dst", "rank_received_payload_bytes")):
        measured = counts[counted]
        declared = np.zeros_like(measured)
        np.add.at(declared, messages[end], size_bytes)
        if len(wrong := np.flatnonzero(declared != measured)):
            rank = int(wrong[0])
            verb = "sent" if end == "src" else "received"
            raise CheckError(
                f"rank {rank}: its messages have {declared[rank]:,} B {verb}, its port counted {measured[rank]:,} B"
            )
