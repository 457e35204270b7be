# SPDX-License-Identifier: GPL-2.0-only
"""A run as one flat row: what one plots over the keys of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astra_py.errors import ConfigError
from astra_py.results.rows import run_row

if TYPE_CHECKING:
    from astra_py.batch.point import Point
    from astra_py.batch.study import Study
    from astra_py.results.result import Result

__all__ = ["point_row", "run_point"]

#: Figures of a run that differ from one time to the next, and belong to what it cost.
_COST = ("setup_cpu_s", "simulation_cpu_s", "peak_rss_bytes")
#: What a row has from the run as a whole, by these names of its own.
_RUN = ("time_ps", "messages", "events", "packets", "packet_hops", "wire_bytes")


def run_point(study: Study, point: Point) -> tuple[dict[str, Any], dict[str, float]]:
    """Run a point and give its row and what it cost.

    Raises
    ------
    AstraPyError : as :meth:`astra_py.Run.run`; a ConfigError where an input file is no longer what it was when the
        sweep began.
    """
    from astra_py.api import Run

    scenario = study.scenario(point)
    if scenario.digest != point.digest:
        raise ConfigError(
            f"{point.title}: an input file was changed after the sweep began: its digest was "
            f"{point.digest[:12]} and is {scenario.digest[:12]}"
        )
    result = Run(scenario).run()
    return point_row(result), {name: result.manifest["run"][name] for name in _COST}


def point_row(result: Result) -> dict[str, Any]:
    """The headline figures of a run, by column; the same for the same run whoever made it.

    Columns: ``iteration_time_us``, ``compute_us``, ``communication_us``, ``exposed_us`` and ``exposed_percent`` of the
    last iteration; of each kind of collective ``KIND_time_us``, ``KIND_exposed_us`` and ``KIND_busbw_GBps``; the run's
    ``time_ps`` and counts.
    """
    run = run_row(result)
    return {name: run[name] for name in _RUN}
