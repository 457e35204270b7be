# SPDX-License-Identifier: GPL-2.0-only
"""The quick proof: it knows the large templates to be right, and never one that the full check refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from astra_py.collectives import Group, SystemModel, Template, build_template, check_dataflow, flow_proof
from astra_py.collectives.flow_proof import is_proven
from astra_py.collectives.promises import promises_of

MACHINES = Group(tuple(range(8)), np.repeat(np.arange(2, dtype=np.int32), 4))
PROVEN = [
    (kind, algorithm)
    for kind, algorithms in (
        ("all_reduce", ("ring", "direct")),
        ("reduce_scatter", ("ring", "direct")),
        ("all_gather", ("ring", "direct")),
        ("all_to_all", ("direct",)),
    )
    for algorithm in algorithms
]


def proves(template: Template, payload: int | NDArray[np.int64]) -> bool:
    return is_proven(template, promises_of(template, payload))


@pytest.mark.parametrize("ranks", [17, 32, 100])
@pytest.mark.parametrize(("kind", "algorithm"), PROVEN)
def test_large_templates_are_proven(kind: str, algorithm: str, ranks: int) -> None:
    size = 1000 * ranks + 3
    assert proves(build_template(kind, algorithm, ranks, size), size)
    if algorithm == "ring":
        assert proves(
            build_template(kind, algorithm, ranks, size, SystemModel(local_memory_bandwidth_bps=10**12)), size
        )


def test_small_templates_are_left_to_the_full_check() -> None:
    assert not proves(build_template("all_reduce", "ring", 8, 800), 800)


def without_an_edge(template: Template, edge: int) -> Template:
    op = np.repeat(np.arange(len(template)), np.diff(template.dep_ptr))
    kept = np.arange(len(template.dep_op)) != edge
    return replace(
        template,
        dep_ptr=np.searchsorted(op[kept], np.arange(len(template) + 1)),
        dep_op=template.dep_op[kept],
        dep_on=template.dep_on[kept],
    )


def changed(template: Template, column: str, at: int, value: int) -> Template:
    values = getattr(template, column).copy()
    values[at] = value
    return replace(template, **{column: values})


@settings(deadline=None, max_examples=200)
@given(
    which=st.sampled_from([*PROVEN, ("all_reduce", "hierarchical"), ("all_to_all", "hierarchical")]),
    chunks=st.integers(1, 2),
    data=st.data(),
)
def test_what_is_proven_passes_the_full_check(which: tuple[str, str], chunks: int, data: st.DataObject) -> None:
    """Templates with one dependency, block, size, moment or kind of addition changed."""
    size = 240
    template = build_template(*which, MACHINES, size, SystemModel(chunks=chunks))
    what = data.draw(st.sampled_from(["edge", "block", "size_bytes", "dep_on", "combine"]))
    rows = len(template.dep_op if what == "edge" else getattr(template, what))
    if rows:
        at = data.draw(st.integers(0, rows - 1))
        values = st.integers(0, {"dep_on": 2, "combine": 1}.get(what, 70))
        template = without_an_edge(template, at) if what == "edge" else changed(template, what, at, data.draw(values))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow_proof, "_FEWEST_MESSAGES", 0)
        is_known = proves(template, size)
        patch.setattr(flow_proof, "_FEWEST_MESSAGES", 2**31)
        if is_known:
            check_dataflow(template, size)


@settings(deadline=None)
@given(which=st.sampled_from(PROVEN), data=st.data())
def test_one_lost_dependency_of_many_is_not_proven(which: tuple[str, str], data: st.DataObject) -> None:
    ranks = 17
    template = build_template(*which, ranks, 100 * ranks)
    if len(template.dep_op):
        edge = data.draw(st.integers(0, len(template.dep_op) - 1))
        assert not proves(without_an_edge(template, edge), 100 * ranks)


@settings(deadline=None)
@given(which=st.sampled_from(PROVEN), data=st.data())
def test_one_wrong_block_of_many_is_not_proven(which: tuple[str, str], data: st.DataObject) -> None:
    ranks = 17
    template = build_template(*which, ranks, 100 * ranks)
    at = data.draw(st.integers(0, len(template.block) - 1))
    block = data.draw(st.integers(0, int(template.block.max())).filter(lambda block: block != template.block[at]))
    assert not proves(changed(template, "block", at, block), 100 * ranks)
