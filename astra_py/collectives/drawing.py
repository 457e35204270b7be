# SPDX-License-Identifier: GPL-2.0-only
"""Drawings of small templates, ranks by steps: as text, and as axes of matplotlib.

A message's step is one more than that of the last message it waits for, however many local operations lie between: what
a schedule would take if every message took equally long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import Combine, Template
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_template", "message_steps", "plot_template"]

#: Largest template that is drawn; of a larger one nothing could be read.
_MOST_RANKS, _MOST_STEPS = 64, 128


def message_steps(template: Template) -> NDArray[np.int64]:
    """The step of each operation of ``template``, i64[m] from 1 on; a local operation has that of what it waits for."""
    is_send = template.is_send.astype(np.int64).tolist()
    step = [0] * len(template)
    pointers, before = template.dep_ptr.tolist(), template.dep_op.tolist()
    for op in range(len(template)):
        latest = max((step[earlier] for earlier in before[pointers[op] : pointers[op + 1]]), default=0)
        step[op] = latest + is_send[op]
    return np.array(step, dtype=np.int64)


def draw_template(template: Template) -> str:
    """Draw ``template`` as a table: a row a rank, a column a step, and in it what the rank sends in that step.

    ``->2 [0 3]+`` is a message to rank 2 with blocks 0 and 3 of the collective's data, which rank 2 adds to its own;
    without ``+`` they take the place of what it has, and without blocks none are named. Of alternatives of which one is
    picked at issue the first is drawn.

    Raises
    ------
    ConfigError : more ranks or steps than can be read.
    """
    steps = message_steps(template)
    last = _require_small(template, steps)
    cells: list[list[list[str]]] = [[[] for _ in range(last)] for _ in range(template.ranks)]
    shown = _shown(template)
    for op in shown.tolist():
        cells[int(template.src[op])][int(steps[op]) - 1].append(_message(template, op))
    rows = [["", *(f"step {number}" for number in range(1, last + 1))]]
    rows += [[f"rank {rank}", *("  ".join(cell) for cell in row)] for rank, row in enumerate(cells)]
    widths = [max(len(row[column]) for row in rows) for column in range(last + 1)]
    table = ["   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    title = f"{template.collective} {template.algorithm}, {template.ranks} ranks, {len(shown)} messages"
    title += ", the first alternative of each choice" if template.choices else ""
    return "\n".join([title, "", *table])


def plot_template(template: Template, ax: Axes | None = None) -> Axes:
    """Draw ``template`` on axes of matplotlib: an arrow a message, from its sender to its receiver a step later.

    Colours are phases, and a dashed arrow is added by its receiver. Of alternatives the first is drawn.

    Parameters
    ----------
    template : the template.
    ax : where to draw; new axes where None.

    Raises
    ------
    ConfigError : more ranks or steps than can be read, or matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ConfigError("a plot needs matplotlib: pip install 'astra-py[plot]'") from None

    steps = message_steps(template)
    last = _require_small(template, steps)
    if ax is None:
        _, ax = plt.subplots(figsize=(2 + 1.2 * last, 1 + 0.5 * template.ranks))
    for op in _shown(template).tolist():
        start, src, dst = int(steps[op]) - 1, int(template.src[op]), int(template.dst[op])
        style = "solid" if template.combine[op] == Combine.KEEP else "dashed"
        ax.annotate(
            "",
            xy=(start + 1, dst),
            xytext=(start, src),
            arrowprops={"arrowstyle": "->", "color": f"C{int(template.phase[op]) % 10}", "linestyle": style},
        )
    for number, name in enumerate(template.phase_names):
        ax.plot([], [], color=f"C{number % 10}", label=name)
    ax.set(
        xlim=(-0.2, last + 0.2),
        ylim=(template.ranks - 0.5, -0.5),
        xticks=range(last + 1),
        yticks=range(template.ranks),
        xlabel="step",
        ylabel="rank",
        title=f"{template.collective} {template.algorithm}",
    )
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _shown(template: Template) -> NDArray[np.int64]:
    """The messages that are drawn: of alternatives, which stand for one another, the first."""
    return np.flatnonzero(template.is_send & template.is_counted)


def _require_small(template: Template, steps: NDArray[np.int64]) -> int:
    """The last step, of a template that is not too large."""
    last = int(steps.max(initial=0))
    if template.ranks > _MOST_RANKS or last > _MOST_STEPS:
        raise ConfigError(
            f"{template.collective} {template.algorithm}: {template.ranks} ranks in {last} steps are not drawn; "
            f"allowed: up to {_MOST_RANKS} ranks and {_MOST_STEPS} steps"
        )
    return last


def _message(template: Template, op: int) -> str:
    blocks = template.block[template.block_ptr[op] : template.block_ptr[op + 1]]
    text = f"->{int(template.dst[op])}"
    if len(blocks):
        text += f" [{' '.join(map(str, blocks.tolist()))}]"
    return text + ("" if template.combine[op] == Combine.KEEP else "+")
