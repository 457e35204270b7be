# SPDX-License-Identifier: GPL-2.0-only
"""What a result is of, in the few words that go under a picture or beside a row."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astra_py.results.result import Result

__all__ = ["provenance"]


def provenance(result: Result) -> dict[str, str]:
    """The scenario's name, platform, engine, seed and digest, and a note where the run did not come to its end.

    All are texts; the keys are scenario, platform, engine, seed, digest and note.
    """
    manifest = result.manifest
    reason = str(manifest["run"]["exit_reason"]).replace("_", " ")
    ranks = int(manifest["platform"]["ranks"])
    return {
        "scenario": PurePath(manifest.get("title", "")).name,
        "platform": f"{manifest['platform']['name']} of {ranks:,} rank{'' if ranks == 1 else 's'}",
        "engine": str(manifest["engine"]),
        "seed": str(manifest["seed"]),
        "digest": result.digest,
        "note": f"a part of the run, which ended by {reason}" if result.is_partial else "",
    }
