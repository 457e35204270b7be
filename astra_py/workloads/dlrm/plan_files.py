# SPDX-License-Identifier: GPL-2.0-only
"""Sharding plans in files: a table in CSV, and JSON, to read, edit and feed back.

CSV has a row a shard and the columns of :data:`COLUMNS`; ``rank`` is ``all`` for a table that is data parallel. JSON is
what our exporter makes of a TorchRec plan, ``{table: {sharding_type, compute_kernel, shards: [{rank, offsets,
sizes}]}}``, where a shard may name its ``tier``. What TorchRec prints of a plan is read too.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.plan_rows import PlanRows
from astra_py.workloads.dlrm.sharding import TIERS, Sharding
from astra_py.workloads.dlrm.torchrec import is_printed_plan, rows_of_json, rows_of_printed

__all__ = ["COLUMNS", "PlanFile", "parse_plan", "read_plan", "read_plan_file", "write_plan"]

#: Columns of a plan in CSV.
COLUMNS = ("table", "sharding", "rank", "row_begin", "rows", "dim_begin", "dims", "tier")

_ALL = "all"


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """What was read.

    Attributes
    ----------
    plan : the plan.
    form : ``"csv"``, ``"json"`` or ``"printed"``.
    notes : what was taken, a sentence each.
    """

    plan: Plan
    form: str
    notes: tuple[str, ...]


def read_plan(path: str | Path, model: DlrmModel, ranks: int) -> Plan:
    """Read a plan; as :func:`read_plan_file`, without its account."""
    return read_plan_file(path, model, ranks).plan


def read_plan_file(path: str | Path, model: DlrmModel, ranks: int) -> PlanFile:
    """Read a plan of one of the three forms, recognised from its content.

    Parameters
    ----------
    path : the file.
    model : whose tables it is about.
    ranks : number of ranks of the job; the plan may be for fewer.

    Raises
    ------
    WorkloadError : it cannot be read or is no plan of the model's tables on these ranks; with line, or key of JSON.
    """
    rows = PlanRows(str(path), model, ranks)
    form, notes = parse_plan(rows, Path(path))
    plan = rows.plan()
    return PlanFile(plan=plan, form=form, notes=(_account(Path(path), plan), *notes))


def parse_plan(rows: PlanRows, path: Path) -> tuple[str, list[str]]:
    """Give a file's shards to ``rows``; returns its form, and what one may not expect.

    Raises
    ------
    WorkloadError : it cannot be read, or is not understood.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WorkloadError(f"{path}: not a plan: UTF-8 text is needed, and byte {error.start} is not") from error
    if text.lstrip().startswith("{"):
        return "json", rows_of_json(rows, _json(path, text))
    if is_printed_plan(text):
        return "printed", rows_of_printed(rows, text)
    _rows_of_csv(rows, text)
    return "csv", []


def write_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan, as CSV or as JSON by the path's suffix; :func:`read_plan` makes the same plan of it.

    Raises
    ------
    WorkloadError : another suffix, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix not in (".csv", ".json"):
        raise WorkloadError(f"{path}: a plan's file ends in .csv or .json, not in {path.suffix!r}")
    try:
        with path.open("w", encoding="utf-8", newline="") as out:
            if path.suffix == ".csv":
                table = csv.writer(out, lineterminator="\n")
                table.writerow(COLUMNS)
                table.writerows(_csv_row(shard) for shard in _shards(plan))
            else:
                json.dump(_tree(plan), out, indent=1)
                out.write("\n")
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be written: {error.strerror}") from error


def _shards(plan: Plan) -> list[dict[str, Any]]:
    """Return shards in order of tables, rows and columns; a data-parallel table once, where its replicas are alike."""
    is_uniform = _uniform_replicas(plan)
    shards = []
    for shard in sorted(range(len(plan.table)), key=lambda i: (plan.table[i], plan.row_begin[i], plan.dim_begin[i])):
        index = int(plan.table[shard])
        is_replica = plan.sharding[index] is Sharding.DATA_PARALLEL and index in is_uniform
        if is_replica and plan.rank[shard] != 0:
            continue
        shards.append(
            {
                "table": plan.model.tables[index].name,
                "sharding": str(plan.sharding[index]),
                "rank": _ALL if is_replica else int(plan.rank[shard]),
                "row_begin": int(plan.row_begin[shard]),
                "rows": int(plan.rows[shard]),
                "dim_begin": int(plan.dim_begin[shard]),
                "dims": int(plan.dims[shard]),
                "tier": str(TIERS[int(plan.tier[shard])]),
            }
        )
    return shards


def _uniform_replicas(plan: Plan) -> set[int]:
    """Return the data-parallel tables whose replicas are all in one tier."""
    tiers: dict[int, set[int]] = {}
    for shard in plan.is_data_parallel.nonzero()[0].tolist():
        tiers.setdefault(int(plan.table[shard]), set()).add(int(plan.tier[shard]))
    return {index for index, found in tiers.items() if len(found) == 1}


def _csv_row(shard: dict[str, Any]) -> list[Any]:
    return [shard[column] for column in COLUMNS]


def _tree(plan: Plan) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for shard in _shards(plan):
        entry = tree.setdefault(
            shard["table"], {"sharding_type": shard["sharding"], "compute_kernel": "fused", "shards": []}
        )
        entry["shards"].append(
            {
                "rank": shard["rank"],
                "offsets": [shard["row_begin"], shard["dim_begin"]],
                "sizes": [shard["rows"], shard["dims"]],
                "tier": shard["tier"],
            }
        )
    return tree


def _json(path: Path, text: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) != len(items):
            names = [name for name, _ in items]
            twice = next(name for name in names if names.count(name) > 1)
            raise WorkloadError(f"{path}: key {twice!r} is there twice; allowed: once")
        return made

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise WorkloadError(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise WorkloadError(f"{path}: not a plan in JSON: {error}") from error


def _rows_of_csv(rows: PlanRows, text: str) -> None:
    lines = csv.reader(text.splitlines(), strict=True)
    try:
        header = [cell.strip() for cell in next(lines, [])]
        if header != list(COLUMNS):
            raise rows.error(
                ":1", f"columns are {','.join(header)[:80]!r}; allowed: {','.join(COLUMNS)}, or JSON, or a printed plan"
            )
        for cells in lines:
            if cells:
                _add_csv(rows, f":{lines.line_num}", [cell.strip() for cell in cells])
    except csv.Error as error:
        raise rows.error(f":{lines.line_num}", f"not CSV: {error}") from error


def _add_csv(rows: PlanRows, where: str, cells: list[str]) -> None:
    if len(cells) != len(COLUMNS):
        raise rows.error(where, f"{len(cells)} cells; allowed: {len(COLUMNS)}, {','.join(COLUMNS)}")
    name, sharding, rank, *figures, tier = cells
    index = rows.table(where, name, sharding)
    named = zip(("row_begin", "rows", "dim_begin", "dims"), figures, strict=True)
    values = [rows.figure(where, f"table {name!r}: {what}", value) for what, value in named]
    tier_index = rows.tier(where, tier)
    if rank == _ALL:
        rows.add_everywhere(where, index, tier_index, values)
    else:
        rows.add(where, index, rows.rank(where, name, rank), values, tier_index)


def _account(path: Path, plan: Plan) -> str:
    """Say how many ranks hold shards, and how many tables are divided in which way."""
    holders = int((plan.rank_shards > 0).sum())
    ways = [f"{plan.sharding.count(way)} {way}" for way in Sharding if way in plan.sharding]
    return (
        f"{path}: {len(plan.table)} shards of {len(plan.sharding)} tables on {holders} of the job's {plan.ranks} ranks "
        f"({', '.join(ways)}); each row and column is held once, data-parallel tables by every rank"
    )
