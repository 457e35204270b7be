# SPDX-License-Identifier: GPL-2.0-only
"""The output format of nccl-tests, so that whatever reads its logs reads ours."""

from __future__ import annotations

from typing import Any

__all__ = ["nccl_table"]

#: nccl-tests' default data type, and its size in bytes.
_TYPE, _TYPE_BYTES = "float", 4
#: Kinds whose printed count is that of one peer's part, as nccl-tests has it.
_COUNTED_PER_RANK = ("all_to_all", "all_gather", "reduce_scatter")


def nccl_table(rows: list[dict[str, Any]]) -> str:
    """Thirteen columns a size: size, count, type, redop, root; time, algbw, busbw, #wrong out of place, and in place.

    A simulated collective has one time for both places, and no data that could be wrong (N/A). Sizes that are no whole
    number of elements print the count rounded down.

    Parameters
    ----------
    rows : of one collective, with the public names of JSON.
    """
    lines = [
        "#",
        "#" + " " * 60 + "out-of-place" + " " * 23 + "in-place",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong"
        "     time   algbw   busbw #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]
    for row in rows:
        parts = row["ranks"] if row["collective"] in _COUNTED_PER_RANK else 1
        count = row["size_bytes"] // _TYPE_BYTES // parts
        redop = "sum" if row["collective"] in ("all_reduce", "reduce_scatter", "reduce") else "none"
        place = f"  {_time(row['time_ps'] / 1e6)}  {row['algbw_GBps'] or 0:6.2f}  {row['busbw_GBps'] or 0:6.2f}    N/A"
        lines.append(f"{row['size_bytes']:>12}  {count:>12}  {_TYPE:>8}  {redop:>6}  {-1:>6}{place}{place}")
    average = sum(row["busbw_GBps"] or 0 for row in rows) / len(rows)
    return "\n".join([*lines, "# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {average:g}", "#"])


def _time(time_us: float) -> str:
    """Microseconds in the seven places that nccl-tests gives them."""
    decimals = 0 if time_us >= 10_000 else 1 if time_us >= 100 else 2
    return f"{time_us:7.{decimals}f}"
