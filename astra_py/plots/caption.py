# SPDX-License-Identifier: GPL-2.0-only
"""The line under a figure: what was run, so that a picture that travels alone can be made again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from astra_py.results.provenance import provenance

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["caption", "caption_of"]

#: Digits of a digest that are shown, as in what a command prints.
_DIGITS = 12
#: Different values of several runs that are listed.
_MOST_VALUES = 4
#: What a caption says, in this order, and how.
_KEYS = {
    "scenario": "{}",
    "platform": "{}",
    "engine": "engine {}",
    "seed": "seed {}",
    "digest": "digest {}",
    "note": "{}",
}


def caption(*results: Result) -> str:
    """Scenario, ranks, engine, seed and the digest's first digits; and how a run ended that did not come to its end.

    Of several runs, what differs is listed.
    """
    return caption_of(provenance(result) for result in results)


def caption_of(runs: Iterable[Mapping[str, Any]]) -> str:
    """The caption of runs of which :func:`~astra_py.results.provenance.provenance`, or some of it, is known."""
    listed = list(runs)
    parts = []
    for key, said in _KEYS.items():
        values = list(dict.fromkeys(str(run[key]) for run in listed if run.get(key) not in (None, "")))
        if key == "digest":
            values = [value[:_DIGITS] for value in values]
        if values:
            more = "" if len(values) <= _MOST_VALUES else f" and {len(values) - _MOST_VALUES} more"
            parts.append(said.format("/".join(values[:_MOST_VALUES]) + more))
    return ", ".join(parts)
