# SPDX-License-Identifier: GPL-2.0-only
"""A job as Chakra files, one a rank: written, looked at, and run again to the same picosecond.

What is written is read by MLCommons' tools and by ASTRA-sim, and a trace that these made is run in the same way: all
that a scenario needs is the beginning of the files' names.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import astra_py as ap
from astra_py.formats import inspect, write_chakra

#: A small job of one DLRM iteration: an uneven exchange of pooled vectors, and gradients.
MODEL = """
name = "small"
bottom = [13, 64, 16]
top = [64, 1]
interaction = "concatenation"
local_batch = 256

[[tables]]
name = "table"
count = 5
rows = 100_000
dim = 16
pooling = 10
dtype = "fp32"
"""


def main(folder: Path) -> tuple[int, int]:
    """Write and run the job in ``folder``, and return its time as it was and as it was read again, in ps."""
    (folder / "small.toml").write_text(MODEL)
    platform = {"ranks": 4}
    workload = {"kind": "dlrm", "file": str(folder / "small.toml"), "iterations": 1}
    run = ap.load({"platform": platform, "workload": workload})
    for line in write_chakra(run.trace, folder / "small"):
        print(line)
    for line in inspect(folder / "small").notes:
        print(line)
    again = ap.load({"platform": platform, "workload": {"file": str(folder / "small"), "iterations": 1}})
    ends = [int(each.run().operations["end_ps"].max()) for each in (run, again)]
    print(f"as it was {ends[0] / 1e6} us, as it was read again {ends[1] / 1e6} us")
    return ends[0], ends[1]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
