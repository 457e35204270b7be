# SPDX-License-Identifier: GPL-2.0-only
"""``[workload]`` of a DLRM: how its tables are sharded."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, ClassVar

from astra_py.config.condition import AllOf, AnyOf, Condition
from astra_py.config.dlrm_training import ONLY_DLRM
from astra_py.config.rules import Choice, Count, FileRule, QuantityRule
from astra_py.config.table import Table, parameter
from astra_py.units import SIZE, parse_size

__all__ = ["DlrmSharding", "table_files"]

_ONLY_WITHOUT_PLAN = AllOf(ONLY_DLRM, Condition("plan", "workload.plan = 'none'", lambda plan: plan is None))
_ONLY_ONE_WAY = AllOf(
    _ONLY_WITHOUT_PLAN,
    Condition("sharder", "workload.sharder = 'greedy' or 'karmarkar_karp'", lambda sharder: sharder != "planner"),
)
_ONLY_COLUMNS = AllOf(
    _ONLY_WITHOUT_PLAN,
    AnyOf(
        Condition("sharder", "(workload.sharder = 'planner'", lambda sharder: sharder == "planner"),
        Condition("sharding", "workload.sharding = 'column_wise')", lambda sharding: sharding == "column_wise"),
    ),
)


class DlrmSharding(Table):
    """The keys of ``[workload]`` that say which rank holds what of a DLRM's tables; a part of that table."""

    key: ClassVar[str] = "workload"

    plan: Annotated[str | None, FileRule("a sharding plan", words={"none": None})] = parameter(
        "none",
        "A sharding plan to use, in place of a sharder: CSV or JSON as astra-py plan writes them, TorchRec's as our "
        "exporter writes it, or TorchRec's printed form. Relative paths are taken as those of workload.file.",
        only=ONLY_DLRM,
    )
    sharder: Annotated[str, Choice("greedy", "karmarkar_karp", "planner")] = parameter(
        "greedy",
        "Who shards the tables: all in one way and balanced by cost, the costliest first or by largest differencing; "
        "or a search for the best way for each table by closed forms of the platform's rates.",
        source="Neo (Mudigere et al., ISCA 2022, section 4.2.5) for the first two, TorchRec's planner for the third",
        only=_ONLY_WITHOUT_PLAN,
    )
    sharding: Annotated[str, Choice("table_wise", "row_wise", "column_wise", "table_row_wise", "data_parallel")] = (
        parameter("table_wise", "How every table is divided.", only=_ONLY_ONE_WAY)
    )
    min_shard_dim: Annotated[int, Count(least=1, most=2**16)] = parameter(
        128,
        "Least columns of a column-wise shard.",
        source="TorchRec, torchrec.distributed.planner.constants.MIN_CW_DIM",
        only=_ONLY_COLUMNS,
    )
    host_memory: Annotated[int, QuantityRule(SIZE, least=0, most=parse_size("1000TB"))] = parameter(
        "0B",
        "Memory of a machine's host that its ranks share for tables that the accelerators have no room for; with 0 B "
        "all tables are in the accelerators' own.",
        source="tables in HBM alone",
        only=ONLY_DLRM,
    )

    @property
    def sharding_files(self) -> dict[str, Path]:
        """Files that say something of the tables beside the model's description: what they are, to path."""
        found = {} if self.plan is None else {"workload.plan": Path(self.plan)}
        path = getattr(self, "input_path", None)
        if getattr(self, "kind", None) == "dlrm" and path is not None:
            found.update({f"tables of {path.name}: {file.name}": file for file in table_files(path)})
        return found


def table_files(model: Path) -> list[Path]:
    """Return the files of table statistics that a model's description names; none where it is not understood."""
    try:
        tree = tomllib.loads(model.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return []
    tables = tree.get("tables")
    entries = tables if isinstance(tables, list) else []
    files = [entry.get("file") for entry in entries if isinstance(entry, dict)]
    return [model.parent / file for file in files if isinstance(file, str)]
