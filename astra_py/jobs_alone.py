# SPDX-License-Identifier: GPL-2.0-only
"""How much longer jobs take beside one another than each would alone, on the same ranks of the same platform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from astra_py.errors import ConfigError
from astra_py.results.text import figure, grid

if TYPE_CHECKING:
    from astra_py.api import Run
    from astra_py.results.result import Result

__all__ = ["JobSlowdown", "job_slowdowns", "slowdown_lines"]


@dataclass(frozen=True)
class JobSlowdown:
    """A job's time, from its start to the end of its last iteration.

    Attributes
    ----------
    job : its name.
    time_ps, alone_time_ps : beside the other jobs and the background, and with neither.
    """

    job: str
    time_ps: int
    alone_time_ps: int

    @property
    def slowdown(self) -> float:
        """How many times as long it takes beside the others."""
        return self.time_ps / self.alone_time_ps if self.alone_time_ps else float("nan")


def job_slowdowns(run: Run, result: Result) -> list[JobSlowdown]:
    """Run each job of ``run`` again with nothing else on the network.

    Parameters
    ----------
    run : of jobs, or of a workload with background beside it.
    result : what it gave.

    Raises
    ------
    ConfigError : there is one job and no background, so that it is alone already.
    SimulationError : as :meth:`~astra_py.Run.run`.
    """
    names = list(dict.fromkeys(result.iterations["job"].tolist()))
    if len(names) + len(run.scenario.background) < 2:
        raise ConfigError("the job is alone already: there are no [jobs] and no [background] beside it")
    return [JobSlowdown(name, _time(result, name), _time(run.alone(name).run(), name)) for name in names]


def _time(result: Result, job: str) -> int:
    """Time of a job's iterations together; where it is the only one it has no name."""
    table = result.columns("iterations")
    return int(table["time_ps"][np.isin(table["job"], [job, ""])].sum())


def slowdown_lines(slowdowns: list[JobSlowdown]) -> list[str]:
    """Lines of a table of slowdowns."""
    rows = [
        [each.job, figure(each.time_ps / 1e6), figure(each.alone_time_ps / 1e6), figure(each.slowdown)]
        for each in slowdowns
    ]
    return grid(["job", "time us", "alone us", "slowdown"], rows)
