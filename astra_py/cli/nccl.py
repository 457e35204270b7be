# SPDX-License-Identifier: GPL-2.0-only
"""The output format of nccl-tests, so that whatever reads its logs reads ours."""

from __future__ import annotations

from typing import Any

__all__ = ["nccl_table"]

#: nccl-tests' default data type, and its size in bytes.
_TYPE, _TYPE_BYTES = "float", 4
#: Kinds whose printed count is that of one peer's part, as nccl-tests has it.
_COUNTED_PER_RANK = ("all_to_all", "all_gather", "reduce_scatter", "gather", "scatter")
#: Kinds with a reduction in the column redop; nccl-tests prints its default one for sendrecv, too.
_WITH_REDOP = ("all_reduce", "reduce_scatter", "reduce", "sendrecv")
#: Kinds with a root, which is member 0; the others print -1.
_ROOTED = ("broadcast", "reduce", "gather", "scatter")


def nccl_table(rows: list[dict[str, Any]]) -> str:
    """Thirteen columns a size: size, count, type, redop, root; time, algbw, busbw, #wrong out of place, and in place.

    A simulated collective has no data that could be wrong, and it is not said where they would lie: its time stands
    under out of place, and what is not measured is N/A. Sizes that are no whole number of elements print the count
    rounded down.

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
        redop = "sum" if row["collective"] in _WITH_REDOP else "none"
        root = 0 if row["collective"] in _ROOTED else -1
        figures = (_time(row["time_ps"] / 1e6), *(f"{row[name] or 0:.2f}" for name in ("algbw_GBps", "busbw_GBps")))
        places = _place(*figures) + _place("N/A", "N/A", "N/A")
        lines.append(f"{row['size_bytes']:>12}  {count:>12}  {_TYPE:>8}  {redop:>6}  {root:>6}{places}")
    average = sum(row["busbw_GBps"] or 0 for row in rows) / len(rows)
    return "\n".join([*lines, "# Out of bounds values : N/A (no data)", f"# Avg bus bandwidth    : {average:g}", "#"])


def _place(time_us: str, algbw: str, busbw: str) -> str:
    """The four columns of one place, as wide as in nccl-tests."""
    return f"  {time_us:>7}  {algbw:>6}  {busbw:>6}    N/A"


def _time(time_us: float) -> str:
    """Microseconds with the decimals that nccl-tests gives them."""
    decimals = 0 if time_us >= 10_000 else 1 if time_us >= 100 else 2
    return f"{time_us:.{decimals}f}"
