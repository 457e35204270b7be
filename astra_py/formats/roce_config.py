# SPDX-License-Identifier: GPL-2.0-only
"""The format ``roce_config``: settings of HPCC's simulator on ns-3, which ASTRA-sim's ns-3 backend and SimAI have, too.

A line is ``KEY values``; a key that is there twice counts as it stands last, as in their program. Thresholds of marks
are in kB by a link's rate in bit/s, the buffer in MB of 2^20 B, times of DCQCN in us. What their program does whatever
its settings say stands under what is read: headers of 36 B, acknowledgements of 48 B, marks made when a frame leaves
and told by a flag in the acknowledgements, 4 KiB reserved and 3 KiB left before a resume.
"""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

from astra_py.config.presets import transport_presets
from astra_py.errors import did_you_mean
from astra_py.formats.head import Head
from astra_py.formats.lines import Line, read_lines
from astra_py.formats.ns3_units import ns3_rate_bps
from astra_py.formats.registry import Document, Format, Kind, Options, register_format
from astra_py.units import format_rate, format_size, format_time

__all__ = ["ROCE_CONFIG"]

#: What CC_MODE may be, and which of it is simulated here.
_CONTROLS = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp", 10: "hpcc-pint"}
_SIMULATED = (1, 3, 7, 8)
_CONTROL_KEY = "transport.congestion_control"

#: Keys that their program knows and that are no settings of a transport, or have no counterpart here.
_OTHERS = (
    *("TOPOLOGY_FILE", "FLOW_FILE", "TRACE_FILE", "TRACE_OUTPUT_FILE", "FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE"),
    *("QLEN_MON_FILE", "QLEN_MON_START", "QLEN_MON_END", "SIMULATOR_STOP_TIME", "ENABLE_TRACE", "DATA_RATE"),
    *("PINT_LOG_BASE", "PINT_PROB", "NIC_TOTAL_PAUSE_TIME", "RTO", "INT_MULTI", "L2_CHUNK_SIZE", "PAUSE_TIME"),
    *("USE_DYNAMIC_PFC_THRESHOLD", "RATE_BOUND", "GLOBAL_T", "VAR_WIN", "FAST_REACT", "MULTI_RATE", "LINK_DELAY"),
    *("SAMPLE_FEEDBACK", "DCTCP_RATE_AI", "MON_START", "MON_END", "QP_MON_INTERVAL", "QLEN_MON_INTERVAL"),
    *("BW_MON_FILE", "BW_MON_INTERVAL", "RATE_MON_FILE", "CNP_MON_FILE", "SEND_LAT", "NVLS_ENABLE"),
    "RING_ROUTING_STRATEGY",
)
#: Keys of each control's table: the file's key, the parameter, and what its value is.
_OF_CONTROL = {
    "dcqcn": (
        ("EWMA_GAIN", "gain", "share"),
        ("ALPHA_RESUME_INTERVAL", "alpha_interval", "us"),
        ("RP_TIMER", "increase_timer", "us"),
        ("FAST_RECOVERY_TIMES", "fast_recovery", "count"),
        ("RATE_AI", "additive_increase", "rate"),
        ("RATE_HAI", "hyper_increase", "rate"),
        ("MIN_RATE", "min_rate", "rate"),
        ("RATE_DECREASE_INTERVAL", "decrease_interval", "us or 0"),
        ("CLAMP_TARGET_RATE", "clamp_target", "flag"),
    ),
    "hpcc": (
        ("U_TARGET", "target_utilization", "share"),
        ("MI_THRESH", "max_stage", "count"),
        ("MIN_RATE", "min_rate", "rate"),
    ),
    "timely": (("RATE_AI", "additive_increase", "rate"), ("MIN_RATE", "min_rate", "rate")),
    "dctcp": (("EWMA_GAIN", "gain", "share"),),
}
_GENERAL = (
    *("ENABLE_QCN", "PACKET_PAYLOAD_SIZE", "CC_MODE", "L2_ACK_INTERVAL", "L2_BACK_TO_ZERO", "HAS_WIN"),
    *("ACK_HIGH_PRIO", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP", "BUFFER_SIZE", "LINK_DOWN", "ERROR_RATE_PER_LINK"),
)
_KNOWN = (*_GENERAL, *dict.fromkeys(key for keys in _OF_CONTROL.values() for key, _, _ in keys), *_OTHERS)
_FLAGS = {"0": False, "1": True, "no": False, "yes": True, "false": False, "true": True}


def _recognises(path: Path, head: Head) -> bool:
    """Lines that begin with keys of their program, two at least, and no other ones among the first."""
    keys = [fields[0] for fields in head.lines]
    return not head.is_gzip and len(keys) > 1 and sum(key in _KNOWN for key in keys) > len(keys) // 2


def _read(path: Path, options: Options) -> Document:
    lines: dict[str, Line] = {}
    for line in read_lines(path, comment="{"):
        key = line.fields[0]
        if key not in _KNOWN:
            raise line.error(f"unknown key {key!r}{did_you_mean(key, _KNOWN)}; allowed: {', '.join(_KNOWN)}")
        lines[key] = line
    settings = _Settings(path, lines)
    control = settings.control(options.given)
    settings.take_transport()
    settings.take_switch()
    settings.take_control(control)
    settings.refuse_what_is_not_simulated()
    return Document(
        format=ROCE_CONFIG.name,
        path=path,
        content=settings.tables,
        summary=(f"{path}: {len(lines)} keys", *settings.said),
        ignored=tuple(f"{key} {' '.join(line.fields[1:])}" for key, line in lines.items() if key not in settings.taken),
    )


class _Settings:
    """Tables of a scenario in the making, from a file's lines by key.

    Attributes
    ----------
    tables : ``transport`` and ``switch``.
    said : what was taken, a sentence each.
    taken : the keys of the file that acted.
    """

    def __init__(self, path: Path, lines: dict[str, Line]) -> None:
        self._path = path
        self._lines = lines
        preset = transport_presets()["hpcc_sim"]
        self.tables = {table: deepcopy(dict(values)) for table, values in preset.items()}
        self.said: list[str] = []
        self.taken: set[str] = set()
        # what the preset has of DCQCN's table stands under that control alone
        self._dcqcn = self.tables["transport"].pop("dcqcn")
        for key in ("ecn_kmin", "ecn_kmax", "ecn_pmax", "buffer"):
            del self.tables["switch"][key]

    def control(self, given: frozenset[str]) -> str | None:
        """The congestion control of CC_MODE; None where the scenario gives another one, or the file none."""
        line = self._line("CC_MODE")
        if line is None or _CONTROL_KEY in given:
            self.tables["transport"].pop("congestion_control")
            self.taken.discard("CC_MODE")
            return None
        listed = ", ".join(f"{mode} {_CONTROLS[mode]}" for mode in _SIMULATED)
        mode = line.whole(1, "CC_MODE")
        if mode not in _SIMULATED:
            name = f" ({_CONTROLS[mode]})" if mode in _CONTROLS else ""
            raise line.error(
                f"CC_MODE {mode}{name} is not simulated; allowed: {listed}, or {_CONTROL_KEY} in the scenario"
            )
        self.tables["transport"]["congestion_control"] = _CONTROLS[mode]
        self.said.append(f"congestion control {_CONTROLS[mode]} (CC_MODE {mode})")
        return _CONTROLS[mode]

    def take_transport(self) -> None:
        """Payload, acknowledgements, recovery, window."""
        transport = self.tables["transport"]
        if (line := self._line("PACKET_PAYLOAD_SIZE")) is not None:
            transport["payload"] = format_size(line.whole(1, "PACKET_PAYLOAD_SIZE in B", 64, 9000))
        if (line := self._line("L2_ACK_INTERVAL")) is not None:
            every = line.whole(1, "packets an acknowledgement", 1, 65_535)
            transport["ack"] = "per_packet" if every == 1 else f"every:{every}"
        if (line := self._line("L2_BACK_TO_ZERO")) is not None and self._flag(line):
            raise line.error(
                "L2_BACK_TO_ZERO 1, to send a message from its start after a loss, is not simulated; allowed: 0"
            )
        if (line := self._line("HAS_WIN")) is not None:
            transport["window"] = "bdp" if self._flag(line) else "none"
        high = self._line("ACK_HIGH_PRIO")
        transport["ack_queue"] = "own" if high is not None and self._flag(high) else "shared"
        names = ("payload", "header_size", "ack", "ack_size", "ack_queue", "window")
        self.said.append("transport: " + ", ".join(f"{name} {transport[name]}" for name in names if name in transport))

    def take_switch(self) -> None:
        """Marks by rate, and the buffer."""
        switch = self.tables["switch"]
        if (line := self._line("ENABLE_QCN")) is not None:
            switch["ecn"] = self._flag(line)
        if (line := self._line("BUFFER_SIZE")) is not None:
            size = line.whole(1, "BUFFER_SIZE in MB of 2^20 B", 1, 2**20)
            switch["buffer"] = f"{size}MiB"
            self.said.append(f"switch buffers of {size} MiB")
        for key, name in (("KMIN_MAP", "ecn_kmin"), ("KMAX_MAP", "ecn_kmax")):
            if (line := self._line(key)) is not None:
                sizes = {rate: line.whole(at, f"{key} in kB", 0, 2**30) for rate, at in self._by_rate(line).items()}
                switch[name] = ",".join(f"{format_rate(rate)}={format_size(1000 * kB)}" for rate, kB in sizes.items())
                self.said.append(f"{'marks begin' if name == 'ecn_kmin' else 'all is marked'} at {switch[name]}")
        if (line := self._line("PMAX_MAP")) is not None:
            shares = {rate: self._share(line, at) for rate, at in self._by_rate(line).items()}
            if len(set(shares.values())) > 1:
                listed = ", ".join(f"{share:g} at {format_rate(rate)}" for rate, share in shares.items())
                raise line.error(f"PMAX_MAP has {listed}; allowed: one for all rates, as switch.ecn_pmax is")
            switch["ecn_pmax"] = next(iter(shares.values()))
            self.said.append(f"probability of a mark up to {switch['ecn_pmax']:g}")
        if switch.get("ecn") is False:
            for name in ("ecn_kmin", "ecn_kmax", "ecn_pmax", "ecn_mark_at"):
                switch.pop(name, None)

    def take_control(self, control: str | None) -> None:
        """The parameters of the congestion control."""
        transport = self.tables["transport"]
        if control != "dcqcn":
            transport.pop("cnp")
        if control is None:
            return
        table: dict[str, Any] = dict(self._dcqcn) if control == "dcqcn" else {}
        for key, name, what in _OF_CONTROL[control]:
            if (line := self._line(key)) is not None:
                table[name] = self._value(line, what)
        if table:
            transport[control] = table
            self.said.append(f"{control}: " + ", ".join(f"{name} {value}" for name, value in table.items()))

    def refuse_what_is_not_simulated(self) -> None:
        """Links that fail, and losses of links that their topology has without."""
        self.taken |= {"LINK_DOWN", "ERROR_RATE_PER_LINK"}
        line = self._lines.get("LINK_DOWN")
        if line is not None and any(line.decimal(index, "LINK_DOWN") for index in range(1, len(line.fields))):
            raise line.error("a link that goes down is not simulated; allowed: LINK_DOWN 0 0 0")
        line = self._lines.get("ERROR_RATE_PER_LINK")
        if line is not None and len(line.fields) > 1 and line.decimal(1, "ERROR_RATE_PER_LINK"):
            raise line.error(
                "losses of all links are not taken from here; allowed: 0, and losses in the topology's error column or "
                "platform.link_loss"
            )

    def _line(self, key: str) -> Line | None:
        """The key's line, which has a value, and now counts as taken."""
        line = self._lines.get(key)
        if line is not None:
            self.taken.add(key)
            if len(line.fields) < 2:
                raise line.error(f"{key} has no value")
            if len(line.fields) > 2 and not key.endswith("_MAP"):
                raise line.error(f"{key} has {len(line.fields) - 1} values; allowed: one")
        return line

    def _by_rate(self, line: Line) -> dict[int, int]:
        """Where the value of each rate stands, of a map ``count rate value rate value ...``, by rate ascending."""
        count = line.whole(1, "the number of rates", 1, 1000)
        if len(line.fields) != 2 + 2 * count:
            raise line.error(f"{count} rates are declared, each with a value, and {len(line.fields) - 2} fields follow")
        rates = {line.whole(at, "a rate in bit/s", 1): at + 1 for at in range(2, len(line.fields), 2)}
        if len(rates) < count:
            raise line.error("a rate is there twice")
        return dict(sorted(rates.items()))

    def _value(self, line: Line, what: str) -> Any:
        key = line.fields[0]
        if what == "flag":
            return self._flag(line)
        if what == "count":
            return line.whole(1, key, 0, 1000)
        if what == "share":
            return self._share(line, 1)
        if what == "rate":
            try:
                return format_rate(ns3_rate_bps(line.fields[1]))
            except ValueError as error:
                raise line.error(f"{key}: {error}") from None
        time_ps = line.decimal(1, f"{key} in us") * 10**6
        least = 0 if what == "us or 0" else 1000
        if time_ps.denominator != 1 or not least <= time_ps <= 10**14:
            raise line.error(f"{key} is {line.fields[1]} us; allowed: whole ps, from {least / 10**6:g} to 1e8 us")
        return format_time(int(time_ps))

    def _flag(self, line: Line) -> bool:
        text = line.fields[1].lower()
        if text not in _FLAGS:
            raise line.error(f"{line.fields[0]} is {line.fields[1]!r}; allowed: 0 or 1")
        return _FLAGS[text]

    def _share(self, line: Line, index: int) -> float:
        share = line.decimal(index, line.fields[0], "a number from 0 to 1")
        if not 0 <= share <= Fraction(1):
            raise line.error(f"{line.fields[0]} is {line.fields[index]}; allowed: from 0 to 1")
        return float(share)


ROCE_CONFIG = register_format(
    Format(
        name="roce_config",
        title="RoCE settings of HPCC's simulator (config.txt)",
        kind=Kind.TRANSPORT,
        recognises=_recognises,
        read=_read,
    )
)
