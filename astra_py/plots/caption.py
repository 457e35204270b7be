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
#: Different values of several runs that are listed, and digests, which say little to a reader.
_MOST_VALUES, _MOST_DIGESTS = 4, 2
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
            most = _MOST_DIGESTS if key == "digest" else _MOST_VALUES
            more = "" if len(values) <= most else f" and {len(values) - most} more"
            parts.append(said.format("/".join(values[:most]) + more))
    return ", ".join(parts)
