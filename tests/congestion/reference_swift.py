# SPDX-License-Identifier: GPL-2.0-only
"""Swift's sender: SIGCOMM 2020, algorithm 1 and section 3.5, in the paper's names. Times in ps, cwnd in packets."""

from __future__ import annotations

from math import sqrt


class ReferenceSwift:
    """One flow, of ``hops`` switches."""

    def __init__(
        self,
        cwnd: float,
        hops: int,
        base_target: float = 20e6,
        h: float = 2e6,
        fs_range: float = 100e6,
        fs_min_cwnd: float = 0.1,
        fs_max_cwnd: float = 100,
        ai: float = 1,
        beta: float = 0.8,
        max_mdf: float = 0.5,
        retx_reset_threshold: int = 5,
        min_cwnd: float = 0.001,
        max_cwnd: float = 1000,
    ) -> None:
        self.cwnd, self.hops, self.h, self.base_target = cwnd, hops, h, base_target
        self.fs_range, self.fs_min_cwnd, self.fs_max_cwnd = fs_range, fs_min_cwnd, fs_max_cwnd
        self.ai, self.beta, self.max_mdf = ai, beta, max_mdf
        self.retx_reset_threshold, self.min_cwnd, self.max_cwnd = retx_reset_threshold, min_cwnd, max_cwnd
        self.retransmit_cnt = 0
        self.t_last_decrease = float("-inf")
        self.rtt = 0.0

    def target_delay(self) -> float:
        alpha = self.fs_range / (1 / sqrt(self.fs_min_cwnd) - 1 / sqrt(self.fs_max_cwnd))
        beta = -alpha / sqrt(self.fs_max_cwnd)
        return self.base_target + self.hops * self.h + max(0, min(alpha / sqrt(self.cwnd) + beta, self.fs_range))

    def on_ack(self, now: float, delay: float, num_acked: int) -> None:
        cwnd_prev, self.rtt = self.cwnd, delay
        self.retransmit_cnt = 0
        target = self.target_delay()
        if delay < target:
            self.cwnd += self.ai / self.cwnd * num_acked if self.cwnd >= 1 else self.ai * num_acked
        elif self.can_decrease(now):
            self.cwnd *= max(1 - self.beta * ((delay - target) / delay), 1 - self.max_mdf)
        self.bound(now, cwnd_prev)

    def on_retransmit_timeout(self, now: float) -> None:
        cwnd_prev = self.cwnd
        self.retransmit_cnt += 1
        if self.retransmit_cnt >= self.retx_reset_threshold:
            self.cwnd = self.min_cwnd
        elif self.can_decrease(now):
            self.cwnd *= 1 - self.max_mdf
        self.bound(now, cwnd_prev)

    def on_fast_recovery(self, now: float) -> None:
        cwnd_prev = self.cwnd
        self.retransmit_cnt = 0
        if self.can_decrease(now):
            self.cwnd *= 1 - self.max_mdf
        self.bound(now, cwnd_prev)

    def can_decrease(self, now: float) -> bool:
        return now - self.t_last_decrease >= self.rtt

    def bound(self, now: float, cwnd_prev: float) -> None:
        self.cwnd = min(max(self.min_cwnd, self.cwnd), self.max_cwnd)
        if self.cwnd < cwnd_prev:
            self.t_last_decrease = now

    def pacing_delay(self) -> float:
        return self.rtt / self.cwnd if self.cwnd < 1 else 0
