# SPDX-License-Identifier: GPL-2.0-only
"""Drawings of templates: what is in them, and that what could not be read is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from astra_py.collectives import Group, SystemModel, build_template, draw_template, plot_template
from astra_py.collectives.drawing import message_steps
from astra_py.errors import ConfigError

RING = """\
all_reduce ring, 3 ranks, 12 messages

         step 1     step 2     step 3    step 4
rank 0   ->1 [0]+   ->1 [2]+   ->1 [1]   ->1 [0]
rank 1   ->2 [1]+   ->2 [0]+   ->2 [2]   ->2 [1]
rank 2   ->0 [2]+   ->0 [1]+   ->0 [0]   ->0 [2]"""

EXCHANGE = """\
all_to_all direct, 3 ranks, 6 messages

         step 1
rank 0   ->1 [1]  ->2 [2]
rank 1   ->2 [5]  ->0 [3]
rank 2   ->0 [6]  ->1 [7]"""


@pytest.mark.parametrize("system", [SystemModel(), SystemModel(local_memory_bandwidth_bps=10**12)])
def test_a_ring_is_drawn_step_by_step_whatever_reductions_take(system: SystemModel) -> None:
    assert draw_template(build_template("all_reduce", "ring", 3, 3000, system)) == RING


def test_messages_of_one_step_are_in_one_cell_in_their_order() -> None:
    assert draw_template(build_template("all_to_all", "direct", 3, 3000)) == EXCHANGE


def test_of_alternatives_the_first_is_drawn() -> None:
    """Each rank sends four messages, whichever level comes first; a table has those of both ways, and says so."""
    group = Group(tuple(range(4)), np.array([0, 0, 1, 1], dtype=np.int32))
    template = build_template("all_reduce", "themis", group, 400)
    title, _, _, *rows = draw_template(template).splitlines()
    assert title == "all_reduce themis, 4 ranks, 16 messages, the first alternative of each choice"
    assert [row.count("->") for row in rows] == [4] * 4
    table = template.to_pandas()
    assert table[table["kind"] == "send"]["alternative"].value_counts().to_dict() == {0: 16, 1: 16}
    assert set(build_template("all_reduce", "ring", 3, 300).to_pandas()["alternative"]) == {-1}


def test_steps_of_a_ring() -> None:
    steps = message_steps(build_template("all_gather", "ring", 5, 500))
    assert steps.tolist() == [step for step in (1, 2, 3, 4) for _ in range(5)]


def test_nothing_is_drawn_of_nothing() -> None:
    assert draw_template(build_template("all_gather", "ring", 1, 500)).splitlines()[-1] == "rank 0"


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(ConfigError, match="65 ranks in 1 steps are not drawn; allowed: up to 64 ranks"):
        draw_template(build_template("all_gather", "direct", 65, 650))


def test_a_plot_has_an_arrow_a_message_and_a_colour_a_phase() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    template = build_template("all_reduce", "ring", 4, 4000)
    ax = plot_template(template)
    assert len(ax.texts) == len(template)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["reduce_scatter", "all_gather"]
    assert plot_template(template, ax) is ax
    matplotlib.pyplot.close("all")


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ConfigError, match=r"astra-py\[plot\]"):
        plot_template(build_template("all_reduce", "ring", 4, 4000))
