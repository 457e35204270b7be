# SPDX-License-Identifier: GPL-2.0-only
"""A study with a plot: how much of a training iteration is exposed communication, by the rate of the links.

Five rates of the main job, with all collectives that are ready at once and with one at a time, every packet simulated.
The figure is written as ``exposed.svg``, or as the argument names it; it needs matplotlib
(``pip install 'astra-py[plot]'``).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd

import astra_py as ap

mpl.use("Agg")
import matplotlib.pyplot as plt

SCENARIO = Path(__file__).parents[1] / "workloads" / "astra2020_16.toml"
RATES_GBPS = (25, 50, 100, 200, 400)


def main(figure: Path, rates_gbps: tuple[int, ...] = RATES_GBPS) -> pd.DataFrame:
    """Run all, draw them to ``figure``, and return a row a run: times in us."""
    rows = []
    for active in ("none", "1"):
        for rate in rates_gbps:
            changes = (f"system.max_active_collectives={active}", f"platform.link_rate={rate}Gbps")
            (iteration,) = ap.load(SCENARIO, "workload.iterations=1", *changes).run().iterations.to_dict("records")
            times = {name: iteration[name] for name in ("time_us", "compute_us", "exposed_us")}
            rows.append({"max_active_collectives": active, "link_rate_Gbps": rate, **times})
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))

    axes = plt.figure(layout="constrained").add_subplot()
    for active, part in table.groupby("max_active_collectives"):
        axes.plot(part["link_rate_Gbps"], 100 * part["exposed_us"] / part["time_us"], "o-", label=f"{active}")
    axes.set(xscale="log", xlabel="rate of links (Gb/s)", ylabel="exposed communication (%)", ylim=(0, 100))
    axes.set_xticks(rates_gbps, [str(rate) for rate in rates_gbps], minor=False)
    axes.legend(title="most active collectives")
    plt.savefig(figure)
    plt.close()
    print(f"figure: {figure}")
    return table


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "exposed.svg"))
