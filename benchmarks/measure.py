# SPDX-License-Identifier: GPL-2.0-only
"""Rows are measured: each command in processes of its own, CPU time of the whole process, the best of several."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machine import ROOT, commit
from rows import Figure, Peer, Program, Row

__all__ = ["SHORT_S", "SHORT_TIMES", "Measured", "Measurer"]

_ASTRA_PY = [sys.executable, "-P", "-c", "from astra_py.cli import main; main()"]
_BARE = """\
import sys
from astra_py import _ns3_ext
print(_ns3_ext.bare_event_loop(*map(int, sys.argv[1:])) if hasattr(_ns3_ext, "bare_event_loop") else 0)
"""
#: Commands that take less are run so many times as often: some are about as long as their start.
SHORT_S, SHORT_TIMES = 3, 4
#: Events of the bare loop: some tenths of a second.
_BARE_EVENTS = 2_000_000


@dataclass(frozen=True)
class Measured:
    """What a row took.

    Attributes
    ----------
    cpu_s, empty_cpu_s : of the whole process, user and system, and of the same command at one byte; the least of
        ``repeat``.
    time_ps, messages, events, packets, packet_hops, peak_rss_bytes : as the command told.
    pending : most events pending at once, of those instants at which it was looked: every 32,768 events; 0 unknown.
    bare_event_s : CPU seconds of an event of a bare loop at so many pending; 0 where unknown.
    peer_cpu_s : what a program that was measured beside it took, less the same at one byte; 0 without one.
    repeat, commit : how often it was run, and of which sources.
    """

    cpu_s: float
    empty_cpu_s: float
    time_ps: int
    messages: int
    events: int
    packets: int
    packet_hops: int
    peak_rss_bytes: int
    pending: int
    bare_event_s: float
    peer_cpu_s: float
    repeat: int
    commit: str

    @property
    def net_cpu_s(self) -> float:
        """CPU seconds less those of the same command at one byte."""
        return self.cpu_s - self.empty_cpu_s

    def figure(self, figure: Figure, row: Row) -> float | None:
        """A figure of the row's run, or None where it has none."""
        net = self.net_cpu_s
        if net <= 0:
            return None
        peer = self.peer_s(row.peers[0]) if row.peers else 0
        values = {
            Figure.NET_CPU_S: net,
            Figure.WHOLE_CPU_S: self.cpu_s,
            Figure.TIMES_LESS: peer / net,
            Figure.HOPS_PER_S: self.packet_hops / net,
            Figure.EVENTS_PER_HOP: self.events / self.packet_hops if self.packet_hops else 0,
            Figure.TIMES_BARE: net / (self.events * self.bare_event_s) if self.bare_event_s else 0,
            Figure.MEMORY: self.peak_rss_bytes,
        }
        return values[figure] or None

    def peer_s(self, peer: Peer | Program) -> float:
        """CPU seconds of a peer, as told or as measured."""
        return peer.cpu_s if isinstance(peer, Peer) else self.peer_cpu_s


@dataclass
class Measurer:
    """Runs rows.

    Parameters
    ----------
    repeat : how often each command is run.
    folder : where the plain ns-3 program is built, when a row needs it.
    """

    repeat: int
    folder: Path
    _empty_s: dict[tuple[str, ...], float] = field(default_factory=dict)

    def measure(self, row: Row) -> Measured:
        """Run a row, the same at one byte, a bare event loop, and what is to be measured beside it.

        Raises
        ------
        RuntimeError : a command failed; with what it printed.
        """
        # the first run may have sources to compile, so the empty command comes first and once more than is told
        if row.empty_command not in self._empty_s:
            self._best([*_ASTRA_PY, *row.empty_command, "--json", "--quiet"], times=1)
            self._empty_s[row.empty_command] = self._best([*_ASTRA_PY, *row.empty_command, "--json", "--quiet"])[0]
        whole_s, told = self._best([*_ASTRA_PY, *row.command, "--json", "--quiet"])
        answer: Mapping[str, Any] = json.loads(told)
        # `run` tells of iterations and collectives, too
        counts = answer.get("run", answer)
        pending = counts["most_pending_events"]
        names = ("time_ps", "messages", "events", "packets", "packet_hops", "peak_rss_bytes")
        return Measured(
            cpu_s=whole_s,
            empty_cpu_s=self._empty_s[row.empty_command],
            **{name: counts[name] for name in names},
            pending=pending,
            bare_event_s=self._bare_event_s(pending) if pending else 0,
            peer_cpu_s=sum(self._program_s(peer) for peer in row.peers if isinstance(peer, Program)),
            repeat=self.repeat,
            commit=commit(),
        )

    def _bare_event_s(self, pending: int) -> float:
        command = [sys.executable, "-P", "-c", _BARE, str(pending), str(_BARE_EVENTS)]
        return min(float(_run(command)[1]) for _ in range(self.repeat)) / _BARE_EVENTS

    def _program_s(self, program: Program) -> float:
        from tcp import build

        built = self.folder / "plain_ns3_tcp"
        if not built.exists():
            build(self.folder)
        whole_s, empty_s = (
            self._best([str(built), *program.arguments(is_empty=is_empty)])[0] for is_empty in (False, True)
        )
        return whole_s - empty_s

    def _best(self, command: Sequence[str], times: int = 0) -> tuple[float, str]:
        """Least CPU seconds of a command, and what it printed; of a short one, whose noise counts, of more runs."""
        best = min((_run(command, self._environment) for _ in range(times or self.repeat)), key=lambda run: run[0])
        if times == 0 and best[0] < SHORT_S:
            more = (_run(command, self._environment) for _ in range((SHORT_TIMES - 1) * self.repeat))
            best = min(best, *more, key=lambda run: run[0])
        return best

    @property
    def _environment(self) -> dict[str, str]:
        """For every run: it finds the byte code of the one before it, and numpy's threads do not spin."""
        given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return given | {"PYTHONPYCACHEPREFIX": str(self.folder / "byte_code"), "OPENBLAS_NUM_THREADS": "1"}


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[float, str]:
    """CPU seconds of a process and what it printed."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
    ):
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=errors)
        # what this one took alone: getrusage has all children's, and the most memory of any
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"exit code {process.returncode}: {' '.join(command)}\n{errors.read()}")
        return usage.ru_utime + usage.ru_stime, out.read()
