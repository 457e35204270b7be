# SPDX-License-Identifier: GPL-2.0-only
"""A template as the data-flow check sees it: data without the protocol's bytes, and one alternative of each choice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astra_py.collectives.schedule import Template

__all__ = ["data_views"]


def data_views(template: Template) -> Iterator[Template]:
    """Templates without control bytes and choices that together are all that ``template`` can become.

    Choices are between ways of bringing the data of a chunk to its ends, and chunks have no data in common: it is
    enough that every alternative is there once, the first ones together, then the second ones.
    """
    template = replace(template, size_bytes=template.data_bytes, control_bytes=np.zeros(0, dtype=np.int64))
    alternatives = np.diff(template.choice_ptr)
    for number in range(int(alternatives.max(initial=1))):
        yield _only(template, template.is_picked(np.minimum(number, alternatives - 1).astype(np.int32)))


def _only(template: Template, keep: NDArray[np.bool_]) -> Template:
    """The operations to ``keep``, renumbered, without dependencies on the others."""
    if keep.all():
        return template
    number = np.cumsum(keep, dtype=np.int32) - 1
    dep_ptr, is_dep = _rows(template.dep_ptr, keep, keep[template.dep_op])
    use_ptr, is_use = _rows(template.use_ptr, keep, np.ones(len(template.use_pool), dtype=np.bool_))
    block_ptr, is_block = _rows(template.block_ptr, keep, np.ones(len(template.block), dtype=np.bool_))
    per_op: dict[str, Any] = {
        name: getattr(template, name)[keep]
        for name in ("kind", "src", "dst", "size_bytes", "duration_ps", "combine", "phase", "chunk")
    }
    return replace(
        template,
        **per_op,
        dep_ptr=dep_ptr,
        dep_op=number[template.dep_op[is_dep]],
        dep_on=template.dep_on[is_dep],
        use_ptr=use_ptr,
        use_pool=template.use_pool[is_use],
        release_on=template.release_on[is_use],
        release_op=number[template.release_op[is_use]] if len(template.release_op) else template.release_op,
        block_ptr=block_ptr,
        block=template.block[is_block],
        alternative=np.zeros(0, dtype=np.int32),
        choice_ptr=np.zeros(0, dtype=np.int64),
        visit_ptr=np.zeros(0, dtype=np.int64),
        visit_level=np.zeros(0, dtype=np.int32),
        visit_load_ps=np.zeros(0, dtype=np.int64),
    )


def _rows(
    ptr: NDArray[np.int64], keep: NDArray[np.bool_], is_there: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Pointers of the rows to keep, and which entries they have: of those that are there."""
    counts = np.diff(ptr)
    kept = np.repeat(keep, counts) & is_there
    row = np.repeat(np.arange(len(counts)), counts)[kept]
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(counts))[keep])]).astype(np.int64), kept
