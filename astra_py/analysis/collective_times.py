# SPDX-License-Identifier: GPL-2.0-only
"""One collective alone over a range of sizes: a row of figures a size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from astra_py.analysis.cases import Observe, unobserved
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.errors import ConfigError
from astra_py.results.provenance import provenance
from astra_py.results.rows import collective_rows, run_row

__all__ = ["collective_times"]

#: Figures of a collective in a job that say nothing of one alone.
_LEFT_OUT = ("name", "iteration", "exposed_us")


def collective_times(
    source: str | Path | Mapping[str, Any],
    *overrides: str,
    kind: str,
    sizes: Sequence[int],
    group: tuple[int, ...] | None = None,
    observe: Observe = unobserved,
    warn: Callable[[str], object] | None = None,
) -> Iterator[dict[str, Any]]:
    """Time one collective at each size, all ranks joining at once; a size is run when its row is asked for.

    ``pandas.DataFrame(collective_times(...))`` has all of them.

    Parameters
    ----------
    source, overrides : a scenario, as :func:`astra_py.load` takes them; its workload is not run. The algorithm is
        ``collective.KIND``.
    kind : ``"all_reduce"``, ``"all_to_all"``, ...; a ``sendrecv`` is from rank 0 to rank 1 where ``group`` names no
        others.
    sizes : each rank's buffer in bytes, as :func:`~astra_py.api.one_collective` counts it; a barrier's is 0.
    group : the ranks that take part; all of them where None.
    observe : called with what is run, to be told how far it is; see :data:`~astra_py.analysis.cases.Observe`.
    warn : called with each warning of the scenario, once.

    Yields
    ------
    dict : of plain values, units in the names: ``time_ps``, ``algbw_GBps``, ``busbw_GBps``, ``ideal_time_ps``,
        ``analytic_time_ps``, what the run cost and counted, its scenario (a file's name, or the kind, "alone"),
        platform, seed, digest and the checks that it passed.

    Raises
    ------
    ConfigError : a key, kind, size or rank is not allowed, or there is one rank; and what :meth:`astra_py.Run.run`
        raises.
    """
    scenario = load_scenario(source, overrides)
    if scenario.platform.ranks == 1:
        raise ConfigError(f"platform.ranks = 1: {kind} has nobody to send to; allowed here: 2 or more")
    if kind == "sendrecv" and group is None:
        group = (0, 1)
    name = f"{kind} alone" if isinstance(source, Mapping) else Path(source).name
    warned: set[str] = set()
    for size_bytes in sizes:
        run = one_collective(scenario, kind, size_bytes, group, started=time.process_time())
        for warning in run.warnings:
            if warn is not None and warning not in warned:
                warn(warning)
            warned.add(warning)
        with observe(run.title) as progress:
            result = run.run(progress=progress)
        (row,) = collective_rows(result)
        yield (
            {key: value for key, value in row.items() if key not in _LEFT_OUT}
            | {"scenario": name, "platform": provenance(result)["platform"]}
            | {key: value for key, value in run_row(result).items() if key != "time_ps"}
        )
