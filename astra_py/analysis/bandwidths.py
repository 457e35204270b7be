# SPDX-License-Identifier: GPL-2.0-only
"""A platform's bandwidths: what a collective of a size on some ranks reaches, as sharders of the field look it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.platforms import build_platform

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "KINDS", "bandwidth_table"]

#: Collectives of a sharded DLRM.
KINDS = ("all_to_all", "all_reduce", "reduce_scatter", "all_gather")

#: Columns of the table; bandwidths are nccl-tests'.
COLUMNS = ("collective", "ranks", "size_bytes", "time_us", "algbw_GBps", "busbw_GBps", "algorithm", "engine")


def bandwidth_table(
    source: str | Path | Mapping[str, Any],
    *overrides: str,
    sizes: Sequence[int],
    kinds: Sequence[str] = KINDS,
    ranks: Sequence[int] | None = None,
    engine: str = "analytic",
    tell: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Time collectives alone, one after another, on the first so many ranks of a platform.

    Parameters
    ----------
    source, overrides : platform, transport and algorithms, as :func:`astra_py.load` takes them; a workload is not run.
    sizes : each rank's buffer, in bytes; the whole array for all_gather and reduce_scatter.
    kinds : collectives.
    ranks : how many ranks take part, from rank 0 on; all of them where None.
    engine : ``"analytic"``, ``"flow"``, or ``"packet"`` for every packet.
    tell : called with a line for each collective before it runs.

    Returns
    -------
    A row for each collective, number of ranks and size, with :data:`COLUMNS`.

    Raises
    ------
    ConfigError : there is no such collective, size, engine or number of ranks.
    """
    import pandas as pd

    scenario = load_scenario(source, (*overrides, f"engine={engine}"))
    most = build_platform(scenario.platform).ranks
    counts = [most] if ranks is None else list(ranks)
    for count in counts:
        if not 2 <= count <= most:
            raise ConfigError(f"a collective on {count} of the platform's {most} ranks; allowed: 2 to {most}")
    rows = []
    for kind in kinds:
        for count in counts:
            for size_bytes in sizes:
                if tell is not None:
                    tell(f"{kind} on {count} ranks, {size_bytes:,} B")
                result = one_collective(scenario, kind, size_bytes, tuple(range(count))).run()
                (row,) = result.collectives.to_dict("records")
                rows.append([kind, count, size_bytes, *(row[column] for column in COLUMNS[3:-1]), engine])
    return pd.DataFrame(rows, columns=list(COLUMNS))
