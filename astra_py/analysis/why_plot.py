# SPDX-License-Identifier: GPL-2.0-only
"""The parts of collectives' times as a stacked bar each, on axes of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astra_py.analysis.stretches import Part
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_parts"]


def plot_parts(why: pd.DataFrame, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw a stacked bar for each row of ``why``, the first one on top: parts in us, side by side.

    Parts that no row has are left out; what is unexplained is hatched.

    Parameters
    ----------
    why : rows of :attr:`astra_py.analysis.comparison.Comparison.why`.
    names : what each row's bar is called.
    ax : where to draw; new axes where None.

    Raises
    ------
    ConfigError : matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ConfigError("a plot needs matplotlib: pip install 'astra-py[plot]'") from None

    if ax is None:
        _, ax = plt.subplots(figsize=(8, 1.5 + 0.4 * len(why)))
    place = np.arange(len(why))
    left = np.zeros(len(why))
    colours = plt.get_cmap("tab20")
    for number, part in enumerate(Part):
        time_us = why[f"{part}_us"].to_numpy(dtype=float)
        if time_us.any():
            hatch = "//" if part == Part.UNEXPLAINED else None
            ax.barh(place, time_us, left=left, color=colours(number), hatch=hatch, label=part.replace("_", " "))
            left += time_us
    ax.set(yticks=place, yticklabels=list(names), xlabel="time on the critical path in us")
    ax.invert_yaxis()
    if left.any():
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return ax
