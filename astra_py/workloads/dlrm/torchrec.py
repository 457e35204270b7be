# SPDX-License-Identifier: GPL-2.0-only
"""TorchRec's sharding plans: as our exporter writes them in JSON, and as TorchRec prints them.

Printed are, for each module, a table of parameters (name, sharding type, compute kernel, ranks) and one of their shards
(name, offsets, sizes, placement such as ``rank:0/cuda:0``), as ``str(plan)`` makes them with tabulate. A data-parallel
parameter has no shards: it is on every rank. Parameters are tables by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from astra_py.errors import did_you_mean
from astra_py.workloads.dlrm.plan_rows import PlanRows
from astra_py.workloads.dlrm.sharding import TIERS, Sharding, Tier

__all__ = ["is_printed_plan", "rows_of_json", "rows_of_printed"]

#: Compute kernels (``torchrec.distributed.embedding_types.EmbeddingComputeKernel``) by where they keep the table.
_KERNELS = {"dense": Tier.HBM, "fused": Tier.HBM, "fused_uvm": Tier.HOST, "fused_uvm_caching": Tier.HOST}
_CACHING = "fused_uvm_caching"
#: Table-column-wise is column-wise within a machine: the shards' ranks say so.
_SAME = {"table_column_wise": Sharding.COLUMN_WISE}
_GRID = "grid_shard"
_ALL = "all"

_PARAMETER_HEAD = re.compile(r"param\s+sharding type\s+compute kernel\s+ranks\s*")
_SHARD_HEAD = re.compile(r"param\s+shard offsets\s+shard sizes\s+placement\s*")
_PARAMETER = re.compile(r"(?P<name>\S+)\s+(?P<sharding>\w+)\s+(?P<kernel>\w+)(\s+(\[(?P<ranks>[\d, ]*)\]|None))?\s*")
_SHARD = re.compile(r"(?P<name>\S+)\s+\[(?P<offsets>[\d, ]+)\]\s+\[(?P<sizes>[\d, ]+)\]\s+(?P<placement>\S+)\s*")
_PLACEMENT = re.compile(r"rank:(?P<rank>\d{1,9})(/\S*)?")


def is_printed_plan(text: str) -> bool:
    """Whether a text is what TorchRec prints of a plan."""
    return any(_PARAMETER_HEAD.fullmatch(line.strip()) for line in text.splitlines()[:20])


def rows_of_json(rows: PlanRows, tree: Any) -> list[str]:
    """Take the shards of ``{table: {sharding_type, compute_kernel, shards}}``; returns what one may not expect.

    Raises
    ------
    WorkloadError : it is something else; with the key.
    """
    if not isinstance(tree, Mapping) or not tree:
        raise rows.error("", "not a plan: an object of tables is needed")
    kernels: set[str] = set()
    differing: list[str] = []
    for name, entry in tree.items():
        where = f": {name}"
        _require_keys(rows, where, entry, needed=("sharding_type",), allowed=("compute_kernel", "ranks", "shards"))
        index = rows.table(where, name, _sharding(rows, where, name, entry["sharding_type"]))
        tier = _tier(rows, where, entry.get("compute_kernel", "fused"), kernels)
        shards = entry.get("shards") or []
        if not isinstance(shards, list):
            raise rows.error(f"{where}.shards", f"{type(shards).__name__}; allowed: a list")
        if not shards and rows.sharding[index] is Sharding.DATA_PARALLEL:
            rows.add_everywhere(where, index, tier)
        held = {_add_json(rows, f"{where}.shards[{i}]", index, shard, tier) for i, shard in enumerate(shards)}
        if entry.get("ranks") is not None and None not in held:
            listed = _listed(rows, f"{where}.ranks", name, entry["ranks"])
            if (note := _require_ranks(rows, f"{where}.ranks", index, listed, held)) is not None:
                differing.append(note)
    return [*_notes(kernels), *differing]


def rows_of_printed(rows: PlanRows, text: str) -> list[str]:
    """Take the shards of a printed plan; returns what one may not expect.

    Raises
    ------
    WorkloadError : a line is not understood; with its number.
    """
    row_pattern: re.Pattern[str] | None = None
    kernels: set[str] = set()
    tables: dict[str, tuple[int, int, str]] = {}
    listed: dict[str, list[int]] = {}
    held: dict[str, set[int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        where, stripped = f":{number}", line.strip()
        if _PARAMETER_HEAD.fullmatch(stripped):
            row_pattern = _PARAMETER
        elif _SHARD_HEAD.fullmatch(stripped):
            row_pattern = _SHARD
        elif stripped.startswith("module:"):
            row_pattern = None
        elif stripped and set(stripped) - set("- "):
            match = row_pattern.fullmatch(stripped) if row_pattern is not None else None
            if match is None:
                kind = {_PARAMETER: "a parameter", _SHARD: "a shard"}.get(row_pattern, "a module's heading")  # type: ignore[arg-type]
                raise rows.error(where, f"{stripped[:60]!r} is not a line of a printed plan; expected: {kind}")
            if row_pattern is _PARAMETER:
                name = match["name"]
                if name in tables:
                    raise rows.error(where, f"table {name!r} is there twice; allowed: once")
                index = rows.table(where, name, _sharding(rows, where, name, match["sharding"]))
                tables[name] = (index, _tier(rows, where, match["kernel"], kernels), where)
                if match["ranks"]:
                    listed[name] = [
                        rows.figure(where, f"table {name!r}: rank", rank) for rank in re.findall(r"\d+", match["ranks"])
                    ]
            else:
                held.setdefault(match["name"], set()).add(_add_printed(rows, where, match, tables))
    differing = []
    for name, (index, tier, where) in tables.items():
        if name not in held and rows.sharding[index] is Sharding.DATA_PARALLEL:
            rows.add_everywhere(where, index, tier)
        if (note := _require_ranks(rows, where, index, listed.get(name), held.get(name, set()))) is not None:
            differing.append(note)
    return [*_notes(kernels), *differing]


def _sharding(rows: PlanRows, where: str, table: object, name: object) -> object:
    if name == _GRID:
        raise rows.error(
            where,
            f"table {table!r}: TorchRec's {_GRID} (shards of columns, each divided by rows over a machine) is not "
            f"read; allowed: {', '.join((*Sharding, *_SAME))}",
        )
    return _SAME.get(name, name) if isinstance(name, str) else name


def _require_ranks(rows: PlanRows, where: str, index: int, listed: Sequence[int] | None, held: set[Any]) -> str | None:
    """Compare the ranks that a table lists with its shards'; a note where a replicated one is for other ranks."""
    if listed is None or set(listed) == held:
        return None
    name, said = rows.name(index), _ranks(listed)
    if rows.sharding[index] is Sharding.DATA_PARALLEL and not held:
        is_all = set(listed) == set(range(rows.ranks))
        return None if is_all else f"table {name!r} is data parallel on ranks {said} in the file, and on all here"
    what = f"table {name!r} is on ranks {said} here, and its shards are on {_ranks(held)}"
    raise rows.error(where, f"{what}; allowed: the shards' ranks")


def _ranks(ranks: Iterable[int]) -> str:
    found = sorted(set(ranks))
    return ", ".join(map(str, found[:8])) + (f" and {len(found) - 8} more" if len(found) > 8 else "") or "none"


def _tier(rows: PlanRows, where: str, kernel: object, kernels: set[str]) -> int:
    if not isinstance(kernel, str) or kernel not in _KERNELS:
        hint = did_you_mean(str(kernel), _KERNELS)
        raise rows.error(where, f"there is no compute kernel {kernel!r}{hint}; allowed: {', '.join(_KERNELS)}")
    kernels.add(kernel)
    return TIERS.index(_KERNELS[kernel])


def _notes(kernels: set[str]) -> list[str]:
    if _CACHING not in kernels:
        return []
    return [f"tables of kernel {_CACHING} are in host memory; ignored: their cache in the accelerator's"]


def _require_keys(rows: PlanRows, where: str, entry: Any, *, needed: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    if not isinstance(entry, Mapping):
        raise rows.error(where, f"{type(entry).__name__}; allowed: an object of {', '.join((*needed, *allowed))}")
    for key in needed:
        if key not in entry:
            raise rows.error(where, f"{key} is missing")
    for key in entry:
        if key not in (*needed, *allowed):
            hint = did_you_mean(key, (*needed, *allowed))
            raise rows.error(where, f"unknown key {key!r}{hint}; allowed: {', '.join((*needed, *allowed))}")


def _add_json(rows: PlanRows, where: str, index: int, shard: Any, tier: int) -> int | None:
    """Add a shard, or one on every rank; returns its rank."""
    _require_keys(rows, where, shard, needed=("rank", "offsets", "sizes"), allowed=("tier",))
    name = rows.name(index)
    pairs = []
    for key in ("offsets", "sizes"):
        pair = shard[key]
        if not isinstance(pair, list) or len(pair) != 2:
            raise rows.error(f"{where}.{key}", "allowed: a list of two numbers, of rows and of columns")
        pairs.append([rows.figure(where, f"table {name!r}: {key}", value) for value in pair])
    (row_begin, dim_begin), (height, width) = pairs
    own = rows.tier(where, shard["tier"]) if "tier" in shard else tier
    cells = (row_begin, height, dim_begin, width)
    if shard["rank"] == _ALL:
        rows.add_everywhere(where, index, own, cells)
        return None
    rank = rows.rank(where, name, shard["rank"])
    if height:  # TorchRec lists ranks that the last rows do not reach
        rows.add(where, index, rank, cells, own)
    return rank


def _listed(rows: PlanRows, where: str, name: object, ranks: object) -> list[int]:
    if not isinstance(ranks, list):
        raise rows.error(where, f"{type(ranks).__name__}; allowed: a list of ranks")
    return [rows.figure(where, f"table {name!r}: rank", rank) for rank in ranks]


def _add_printed(rows: PlanRows, where: str, match: re.Match[str], tables: dict[str, tuple[int, int, str]]) -> int:
    """Add a shard; returns its rank."""
    name = match["name"]
    if name not in tables:
        raise rows.error(where, f"a shard of {name!r}, which is in no table of parameters above")
    index, tier, _ = tables[name]
    place = _PLACEMENT.fullmatch(match["placement"])
    if place is None:
        raise rows.error(where, f"placement {match['placement'][:40]!r}; allowed: rank:N/device")
    pairs = []
    for key in ("offsets", "sizes"):
        values = [rows.figure(where, f"table {name!r}: {key}", part) for part in match[key].split(",")]
        if len(values) != 2:
            raise rows.error(where, f"{key} [{match[key]}]; allowed: two numbers, of rows and of columns")
        pairs.append(values)
    (row_begin, dim_begin), (height, width) = pairs
    rank = rows.rank(where, name, place["rank"])
    if height:
        rows.add(where, index, rank, (row_begin, height, dim_begin, width), tier)
    return rank
