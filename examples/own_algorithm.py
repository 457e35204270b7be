# SPDX-License-Identifier: GPL-2.0-only
"""An algorithm of one's own in twenty lines: an all-to-all in steps, one partner at a time, beside the built-in one.

In step k every rank sends to the rank k after it, once its own message of the step before has left and the one to it
has come. The built-in one posts all at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import astra_py as ap
from astra_py.api import one_collective
from astra_py.collectives import Dep, EdgeOn, Group, build_template, draw_template
from astra_py.config import load_scenario


@ap.collective("all_to_all", name="my_pairwise")
def my_pairwise(build: ap.ScheduleBuilder, group: Group, matrix: Any) -> None:
    """Add one message a rank in each of n - 1 steps."""
    n, rank = group.size, np.arange(group.size)
    after = None
    for step in range(1, n):
        partner = (rank + step) % n
        sent = build.send(rank, partner, matrix[rank, partner], after, blocks=rank * n + partner)
        received = sent[(rank - step) % n]
        after = [Dep(sent, on=EdgeOn.SENT), received]


def main(ranks: int = 8, size_bytes: int = 8_000_000) -> dict[str, float]:
    """Check it, draw it small, and run it and the built-in one; time in us by algorithm."""
    ap.check_dataflow(build_template("all_to_all", "my_pairwise", ranks, size_bytes))
    print(draw_template(build_template("all_to_all", "my_pairwise", 4, 4000)), end="\n\n")
    times = {}
    for algorithm in ("direct", "my_pairwise"):
        scenario = load_scenario({"platform": {"ranks": ranks}}, [f"collective.all_to_all={algorithm}"])
        result = one_collective(scenario, "all_to_all", size_bytes).run()
        times[algorithm] = float(result.collectives["time_us"].iloc[0])
        print(f"{algorithm}: {times[algorithm]:.3f} us")
    return times


if __name__ == "__main__":
    main()
