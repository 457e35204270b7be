# SPDX-License-Identifier: GPL-2.0-only
"""What overlaps what in a training iteration, drawn from a simulation.

Without arguments: rank 0 in the second iteration of DLRM-A on 128 accelerators, by the analytic engine. Otherwise a
scenario file, and keys as on the command line of ``astra-py run``: ``what_overlaps.py FILE engine=packet``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import astra_py as ap
from astra_py.results.timeline import draw_timeline

SCENARIO = Path(__file__).parents[1] / "workloads" / "dlrm_a_net_128.toml"


def main(scenario: str | Path = SCENARIO, *overrides: str) -> None:
    """Run a scenario and draw its second iteration, where all-reduces of the first one are still under way."""
    result = ap.load(scenario, *overrides).run()
    print(draw_timeline(result, rank=0, iteration=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
