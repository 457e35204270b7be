# SPDX-License-Identifier: GPL-2.0-only
"""``[collective]``: which algorithm each kind of collective uses."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.rules import Count, Name
from astra_py.config.table import Table, parameter

__all__ = ["CollectiveConfig"]

_ALGORITHM = Name("a registered algorithm of this collective")


class CollectiveConfig(Table):
    """Algorithms by kind of collective; that they exist is checked where they are registered, in ``collectives``."""

    key: ClassVar[str] = "collective"

    all_reduce: Annotated[str, _ALGORITHM] = parameter("ring", "Algorithm of all-reduce.")
    all_to_all: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of all-to-all.")
    all_to_all_v: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of all-to-all with uneven sizes.")
    sendrecv: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of a send and its receive.")
    in_flight: Annotated[int | None, Count(least=1, words={"none": None})] = parameter(
        "none",
        "Most messages of one rank of one direct collective on the way at a time.",
        source="ASTRA-sim posts all at once",
    )

    def algorithm(self, kind: str) -> str:
        """Return the algorithm's name for a kind of collective such as ``"all_reduce"``.

        Raises
        ------
        KeyError
            the kind has no key here.
        """
        if kind not in type(self).model_fields or kind == "in_flight":
            raise KeyError(kind)
        name: str = getattr(self, kind)
        return name
