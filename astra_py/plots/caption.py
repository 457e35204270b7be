# SPDX-License-Identifier: GPL-2.0-only
"""The line under a figure: what was run, so that a picture that travels alone can be made again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from astra_py.results.provenance import provenance

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["caption", "caption_of", "cut_tables"]

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


def caption(*results: Result, tables: Sequence[str] = ()) -> str:
    """Scenario, ranks, engine, seed and the digest's first digits; and how a run ended that did not come to its end.

    Of several runs, what differs is listed.

    Parameters
    ----------
    results : of one run or several.
    tables : what is drawn: those of them that keep a part of their rows (``results.max_rows``) are named, with which.
    """
    said = caption_of(provenance(result) for result in results)
    cut = {text for result in results for text in cut_tables(result, tables)}
    return ", ".join([said, *sorted(cut)])


def cut_tables(result: Result, tables: Sequence[str]) -> list[str]:
    """A text for each of ``tables`` that keeps a part of its rows only: how many, and which."""
    cut = result.cut
    return [f"{table}: {cut[table]}" for table in tables if table in cut]


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
