# SPDX-License-Identifier: GPL-2.0-only
"""A platform of one's own: a HyperX of two dimensions, beside a leaf-spine of the same accelerators.

Switches stand in rows and columns, each with a link to all others of its row and of its column (Ahn et al., "HyperX:
topology, routing, and packaging of efficient large-scale networks", SC 2009); no switch is above another one.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import astra_py as ap
from astra_py.api import one_collective
from astra_py.config import load_scenario
from astra_py.platforms import Platform, PlatformBuilder, build_platform, describe

#: Ranks on each switch, of either platform.
PER_SWITCH = 4


@ap.topology("hyperx")
def hyperx(config: Any) -> Platform:
    """A square of switches with ranks on each."""
    side = math.isqrt(config.ranks // PER_SWITCH)
    if side * side * PER_SWITCH != config.ranks:
        raise ap.ConfigError(f"platform.ranks = {config.ranks}; allowed: a square number times {PER_SWITCH}")
    build = PlatformBuilder(config)
    grid = [[build.add_switch(f"switch{row}.{column}") for column in range(side)] for row in range(side)]
    for rank in range(config.ranks):
        row, column = divmod(rank // PER_SWITCH, side)
        build.add_link(rank, grid[row][column], "host")
    columns = [list(column) for column in zip(*grid, strict=True)]
    for line in (*grid, *columns):
        for a, b in combinations(line, 2):
            build.add_fabric_link(a, b, "fabric")
    return build.build()


def main(ranks: int = 36, size_bytes: int = 4_000_000) -> dict[str, float]:
    """Time an all-to-all on both; us by kind of platform."""
    times = {}
    for platform_keys in ({"kind": "hyperx"}, {"kind": "leaf_spine", "ranks_per_leaf": PER_SWITCH}):
        scenario = load_scenario({"platform": {**platform_keys, "ranks": ranks}})
        kind = scenario.platform.kind
        platform = describe(build_platform(scenario.platform))
        result = one_collective(scenario, "all_to_all", size_bytes).run()
        times[kind] = float(result.collectives["time_us"].iloc[0])
        print(
            f"{kind}: {platform.switches} switches, {sum(each.links for each in platform.link_classes)} links, "
            f"diameter {platform.diameter_hops} links, bisection {(platform.bisection_bps or 0) / 1e9:g} Gb/s: "
            f"{times[kind]:.1f} us"
        )
    return times


if __name__ == "__main__":
    main()
