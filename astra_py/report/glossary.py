# SPDX-License-Identifier: GPL-2.0-only
"""Terms that a report uses: what each means, and the page of the documentation that says more."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GLOSSARY", "Term"]


class Term(NamedTuple):
    """A term, its meaning, and a page of the documentation."""

    term: str
    meaning: str
    page: str


GLOSSARY = (
    Term(
        "exposed communication",
        "time of an iteration in which the rank does not compute; of a collective, the part of its time, on the rank "
        "that ends it last, in which that rank does not compute. Collectives that are under way together share it.",
        "docs/results.md",
    ),
    Term(
        "bound by",
        "what a collective needs for most of its time: a link, a host's core, a copy, PCIe; or what held the sender "
        "that was held longest: a window, congestion control, a pause; else latency.",
        "docs/results.md",
    ),
    Term(
        "busiest link of a collective",
        "the link that bounds it, else the one that its payload needs longest at the link's rate.",
        "docs/results.md",
    ),
    Term(
        "size",
        "as nccl-tests has it: the buffer of a rank; of all-gather and reduce-scatter the whole array.",
        "docs/algorithms.md",
    ),
    Term(
        "algbw, busbw",
        "size over time, and that times nccl-tests' factor of the kind, which makes it comparable with a link's rate; "
        "in GB/s of 10^9 B.",
        "docs/algorithms.md",
    ),
    Term("ideal time", "the largest over links of the collective's payload over the link's rate.", "docs/results.md"),
    Term(
        "analytic time", "what formulas give for the collective alone; ratio is the time over it.", "docs/analytic.md"
    ),
    Term("utilisation", "the share of the run in which a link sends.", "docs/results.md"),
    Term(
        "inside, between",
        "levels of a phase: messages that stay within a machine, and those from one machine to another.",
        "docs/results.md",
    ),
    Term("slowdown", "a flow's completion time over that of the flow alone on its way.", "docs/results.md"),
    Term(
        "check",
        "a figure that was declared before the run or follows from it, and the one that was measured.",
        "docs/results.md",
    ),
    Term(
        "digest",
        "SHA-256 of the scenario with all its values and of every input file: the same run has the same.",
        "docs/results.md",
    ),
)
