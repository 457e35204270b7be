# SPDX-License-Identifier: GPL-2.0-only
"""Random sizes, matrices and systems for the tests of collectives."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from astra_py.collectives import EdgeOn, SystemModel

#: Algorithms whose templates have alternatives, of which one is picked when a run comes to it: they are tested apart.
CHOSEN_AT_ISSUE = {"themis"}

sizes = st.one_of(st.integers(0, 40), st.integers(0, 2**20), st.sampled_from([2**32 + 1, 2**40]))

systems = st.builds(
    SystemModel,
    local_memory_bandwidth_bps=st.one_of(st.none(), st.integers(10**9, 10**14)),
    is_whole_ns=st.booleans(),
    notify_on=st.sampled_from([EdgeOn.DELIVERED, EdgeOn.ACKED]),
    in_flight=st.one_of(st.none(), st.integers(1, 5)),
)


@st.composite
def matrices(draw: st.DrawFn, most_ranks: int = 9) -> NDArray[np.int64]:
    """Byte matrices in which about half of the entries are zero."""
    ranks = draw(st.integers(1, most_ranks))
    entry = st.one_of(st.just(0), st.integers(1, 2**33))
    row = st.lists(entry, min_size=ranks, max_size=ranks)
    return np.array(draw(st.lists(row, min_size=ranks, max_size=ranks)), dtype=np.int64)
