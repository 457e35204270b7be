# SPDX-License-Identifier: GPL-2.0-only
"""DCTCP's sender: SIGCOMM 2010, section 3.1, in TCP (RFC 5681, RFC 3168, RFC 8257). Windows in payload bytes."""

from __future__ import annotations


class ReferenceDctcp:
    """One flow; packets are numbered from 0, and each ACK tells how many of its packets were marked."""

    def __init__(self, window: float, mss: float, g: float = 1 / 16) -> None:
        self.mss, self.g = mss, g
        self.cwnd = max(window, mss)
        self.ssthresh = float("inf")
        self.alpha = 1.0
        self.marks: list[bool] = []
        self.snd_nxt = self.window_end = self.cwr_end = 0

    def ack(self, una: int, snd_nxt: int, marks: list[bool], acked: int, in_flight_before: int) -> None:
        """``una`` is the first packet that is not acknowledged, ``marks`` tells of each acknowledged packet."""
        self.snd_nxt = snd_nxt
        self.marks += marks
        if una > self.window_end:
            if self.marks:
                f = sum(self.marks) / len(self.marks)
                self.alpha = (1 - self.g) * self.alpha + self.g * f
            self.marks = []
            self.window_end = snd_nxt
        if not any(marks):
            if in_flight_before >= int(self.cwnd):
                self.cwnd += acked if self.cwnd < self.ssthresh else self.mss * acked / self.cwnd
        elif una > self.cwr_end:
            self.reduce(self.cwnd * (1 - self.alpha / 2))

    def loss(self) -> None:
        self.reduce(self.cwnd / 2)

    def timeout(self) -> None:
        self.reduce(self.cwnd / 2)
        self.cwnd = self.mss

    def reduce(self, window: float) -> None:
        self.cwnd = self.ssthresh = max(window, self.mss)
        self.cwr_end = self.snd_nxt
