# SPDX-License-Identifier: GPL-2.0-only
"""HPCC's sender: SIGCOMM 2019, algorithm 1, line by line, with the paper's names. Times in ps, rates in B/ps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Link:
    """The record of one link in an ACK."""

    ts: int
    tx_bytes: int
    qlen: int
    b: float


class ReferenceHpcc:
    """One flow; the window stays between what ``least`` and ``line`` carry in ``t``."""

    def __init__(
        self, line: float, t: float, eta: float = 0.95, max_stage: int = 5, w_ai: float = 80, least: float = 12.5e-6
    ) -> None:
        self.t, self.eta, self.max_stage, self.w_ai = t, eta, max_stage, w_ai
        self.bounds = least * t, line * t
        self.w = self.wc = line * t
        self.u = 1.0
        self.inc_stage = 0
        self.last_update_seq = 0
        self.links: list[Link] = []
        self.path = 0

    def new_ack(self, seq: int, snd_nxt: int, links: list[Link], path: int = 0) -> None:
        if len(links) == len(self.links) and path == self.path:
            self.measure_inflight(links)
            if seq > self.last_update_seq:
                self.w = self.compute_wind(update_wc=True)
                self.last_update_seq = snd_nxt
            else:
                self.w = self.compute_wind(update_wc=False)
        self.links, self.path = links, path

    def measure_inflight(self, links: list[Link]) -> None:
        u = tau = 0.0
        for new, old in zip(links, self.links, strict=True):
            tx_rate = (new.tx_bytes - old.tx_bytes) / (new.ts - old.ts)
            ui = min(new.qlen, old.qlen) / (new.b * self.t) + tx_rate / new.b
            if ui > u:
                u, tau = ui, new.ts - old.ts
        tau = min(tau, self.t)
        self.u = (1 - tau / self.t) * self.u + tau / self.t * u

    def compute_wind(self, update_wc: bool) -> float:
        if self.u >= self.eta or self.inc_stage >= self.max_stage:
            w = self.wc / (self.u / self.eta) + self.w_ai
            stage = 0
        else:
            w = self.wc + self.w_ai
            stage = self.inc_stage + 1
        w = min(max(w, self.bounds[0]), self.bounds[1])
        if update_wc:
            self.inc_stage = stage
            self.wc = w
        return w
