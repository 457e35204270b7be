# SPDX-License-Identifier: GPL-2.0-only
"""What may overlap with what in an iteration, by the paper that trains, or counts, so."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ORDERINGS", "Ordering"]


@dataclass(frozen=True)
class Ordering:
    """Rules of an iteration.

    Attributes
    ----------
    communication_stream : a stream in which a rank's collectives go one after another as they are issued, or None where
        they are under way together and priorities decide.
    is_reduced_after_both : whether a layer's all-reduce is issued after both of its gradients, not after that of its
        weights.
    is_iteration_whole : whether an iteration begins when all of the one before is done on its rank, its all-reduces
        too.
    """

    communication_stream: str | None
    is_reduced_after_both: bool
    is_iteration_whole: bool


#: ``neo``: Mudigere et al., ISCA 2022, section 4. ``mad_max``: Hsia et al., ISCA 2024, whose published times of DLRM-A
#: and DLRM-I on ZionEX follow from it.
ORDERINGS = {
    "neo": Ordering(communication_stream=None, is_reduced_after_both=False, is_iteration_whole=False),
    "mad_max": Ordering(communication_stream="communication", is_reduced_after_both=True, is_iteration_whole=True),
}
