# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN's reaction point with every timer really running: SIGCOMM 2015, section 3.1, figure 7 and algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ReferenceDcqcn:
    """Rates in bit/s, times in ps, the byte counter in bytes (None: there is none)."""

    line_rate: float
    g: float = 1 / 256
    k: int = 55_000_000
    t: int = 55_000_000
    b: int | None = 10_000_000
    f: int = 5
    r_ai: float = 40e6
    r_hai: float = 400e6
    least: float = 100e6
    decrease_interval: int = 0
    clamps: bool = True
    per_interval: bool = False

    alpha: float = 1.0
    now: int = 0
    alpha_timer: int | None = None
    increase_timer: int | None = None
    cut_timer: int | None = None
    last_cut: int | None = None
    got_cnp: bool = False
    bytes_left: int = 0
    increases: dict[str, int] = field(default_factory=lambda: {"T": 0, "BC": 0})

    def __post_init__(self) -> None:
        self.current = self.target = self.line_rate

    def advance(self, now: int) -> None:
        """Let the timers fire up to ``now`` inclusive; of one instant alpha's first, then a cut, then an increase."""
        while True:
            timers = [
                (when, order, action)
                for order, (when, action) in enumerate(
                    [
                        (self.alpha_timer, self.decay),
                        (self.cut_timer, self.notify),
                        (self.increase_timer, self.timer_event),
                    ]
                )
                if when is not None and when <= now
            ]
            if not timers:
                break
            self.now, _, action = min(timers, key=lambda timer: timer[:2])
            action()
        self.now = now

    def cnp(self, now: int) -> None:
        """A CNP arrives, before any timer of that instant."""
        self.advance(now - 1)
        self.now = now
        if self.per_interval:
            self.got_cnp = True
            if self.alpha_timer is None:
                self.alpha_timer = now + self.k
        if self.last_cut is not None and now < self.last_cut + self.decrease_interval:
            self.cut_timer = self.last_cut + self.decrease_interval
        else:
            self.notify()

    def sent(self, now: int, size: int) -> None:
        """Bytes leave, after all timers of that instant."""
        self.advance(now)
        if self.b is None or self.increase_timer is None:
            return
        self.bytes_left -= size
        while self.bytes_left <= 0:
            self.bytes_left += self.b
            self.increase_event("BC")

    def notify(self) -> None:
        """Equation 1: the cut with the old alpha, then alpha; all of the increase starts anew."""
        if self.clamps or any(self.increases.values()):
            self.target = self.current
        self.current = max(self.current * (1 - self.alpha / 2), self.least)
        if not self.per_interval:
            self.alpha = (1 - self.g) * self.alpha + self.g
            self.alpha_timer = self.now + self.k
        self.cut_timer = None
        self.last_cut = self.now
        self.increases = {"T": 0, "BC": 0}
        self.increase_timer = self.now + self.t
        self.bytes_left = self.b or 0

    def decay(self) -> None:
        """Equation 2; where alpha is updated by intervals, both equations in one."""
        self.alpha = (1 - self.g) * self.alpha + (self.g if self.got_cnp else 0)
        self.got_cnp = False
        assert self.alpha_timer is not None
        self.alpha_timer += self.k

    def timer_event(self) -> None:
        assert self.increase_timer is not None
        self.increase_timer += self.t
        self.increase_event("T")

    def increase_event(self, kind: str) -> None:
        """Algorithm 1, with equations 3 and 4; F recoveries precede the first additive increase."""
        counts = [self.increases["T"]] if self.b is None else list(self.increases.values())
        if max(counts) < self.f:
            pass
        elif min(counts) > self.f:
            self.target += self.r_hai
        else:
            self.target += self.r_ai
        self.target = min(self.target, self.line_rate)
        self.current = (self.target + self.current) / 2
        self.increases[kind] += 1
