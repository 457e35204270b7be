# SPDX-License-Identifier: GPL-2.0-only
"""Write a TorchRec sharding plan as JSON. A file of its own: copy it to where TorchRec is installed.

In a training script, after planning::

    from export_torchrec_plan import export_plan

    plan = planner.collective_plan(model, sharders, process_group)
    export_plan(plan, "plan.json")

or for a plan that was pickled: ``python export_torchrec_plan.py plan.pickle plan.json``. Unpickling runs code: do it
with files of your own only.

The file holds ``{table: {"sharding_type", "compute_kernel", "ranks", "shards": [{"rank", "offsets", "sizes"}]}}``, with
offsets and sizes as [rows, columns], for every table of every module of the plan.
"""

import json
import pickle
import re
import sys
from typing import Any


def plan_to_dict(plan: Any) -> dict[str, Any]:
    """Return a TorchRec ``ShardingPlan``, or the plan of one module, as plain lists and dictionaries.

    Raises ValueError where two modules have a table of the same name, or a shard's placement names no rank.
    """
    modules = plan.plan if hasattr(plan, "plan") else {"": plan}
    tables: dict[str, Any] = {}
    for module, parameters in modules.items():
        for name, sharding in parameters.items():
            if name in tables:
                raise ValueError(f"module {module!r}: there is a table {name!r} in another module too")
            specification = getattr(sharding, "sharding_spec", None)
            shards = getattr(specification, "shards", None) or []
            tables[name] = {
                "sharding_type": _text(sharding.sharding_type),
                "compute_kernel": _text(sharding.compute_kernel),
                "ranks": None if sharding.ranks is None else [int(rank) for rank in sharding.ranks],
                "shards": [_shard(name, shard) for shard in shards],
            }
    return tables


def export_plan(plan: Any, path: str) -> None:
    """Write a plan to a file."""
    with open(path, "w", encoding="utf-8") as out:
        json.dump(plan_to_dict(plan), out, indent=1)
        out.write("\n")


def _shard(name: str, shard: Any) -> dict[str, Any]:
    return {
        "rank": _rank(name, shard.placement),
        "offsets": [int(offset) for offset in shard.shard_offsets],
        "sizes": [int(size) for size in shard.shard_sizes],
    }


def _rank(name: str, placement: Any) -> int:
    """Return the rank of a placement: an object with a method ``rank``, or text such as ``rank:3/cuda:3``."""
    if callable(getattr(placement, "rank", None)):
        return int(placement.rank())
    match = re.match(r"rank:(\d+)", str(placement))
    if match is None:
        raise ValueError(f"table {name!r}: a shard's placement is {placement!r}, which names no rank")
    return int(match[1])


def _text(value: Any) -> str:
    """Return the value of an enumeration, or the text itself."""
    return str(getattr(value, "value", value))


def main(arguments: list[str]) -> None:
    """Convert a pickled plan."""
    if len(arguments) != 2:
        sys.exit("usage: python export_torchrec_plan.py PICKLED_PLAN OUT.json")
    import torchrec  # type: ignore[import-not-found]  # noqa: F401  (its classes are those of the pickled plan)

    with open(arguments[0], "rb") as source:
        export_plan(pickle.load(source), arguments[1])


if __name__ == "__main__":
    main(sys.argv[1:])
