# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY's rate computation: SIGCOMM 2015, algorithm 1, with the paper's names. Times in ps, rates in bit/s."""

from __future__ import annotations


class ReferenceTimely:
    """One flow, told of completions."""

    def __init__(
        self,
        line: float,
        t_low: float = 50e6,
        t_high: float = 500e6,
        min_rtt: float = 20e6,
        ewma: float = 0.875,
        beta: float = 0.8,
        delta: float = 10e6,
        hai_after: int = 5,
        hai: int = 5,
        least: float = 100e6,
    ) -> None:
        self.line, self.least = line, least
        self.t_low, self.t_high, self.min_rtt = t_low, t_high, min_rtt
        self.ewma, self.beta, self.delta = ewma, beta, delta
        self.hai_after, self.hai = hai_after, hai
        self.rate = line
        self.prev_rtt: float | None = None
        self.rtt_diff = 0.0
        self.falling = 0

    def completion(self, new_rtt: float) -> None:
        new_rtt_diff = 0.0 if self.prev_rtt is None else new_rtt - self.prev_rtt
        self.prev_rtt = new_rtt
        self.rtt_diff = (1 - self.ewma) * self.rtt_diff + self.ewma * new_rtt_diff
        gradient = self.rtt_diff / self.min_rtt
        self.falling = self.falling + 1 if gradient < 0 else 0
        self.rate = min(max(self.new_rate(new_rtt, gradient), self.least), self.line)

    def new_rate(self, new_rtt: float, gradient: float) -> float:
        if new_rtt < self.t_low:
            return self.rate + self.delta
        if new_rtt > self.t_high:
            return self.rate * (1 - self.beta * (1 - self.t_high / new_rtt))
        if gradient <= 0:
            n = self.hai if self.falling >= self.hai_after else 1
            return self.rate + n * self.delta
        return self.rate * (1 - self.beta * gradient)
