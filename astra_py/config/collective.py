# SPDX-License-Identifier: GPL-2.0-only
"""``[collective]``: which algorithm each kind of collective uses, and how."""

from __future__ import annotations

from typing import Annotated, ClassVar

from astra_py.config.rules import Choice, Count, Name
from astra_py.config.table import Condition, Table, parameter, rule_of

__all__ = ["CollectiveConfig"]

_ALGORITHM = Name("a registered algorithm of this collective")
_HIERARCHICAL = Condition(
    "all_reduce",
    "collective.all_reduce = 'hierarchical' or 'themis'",
    lambda algorithm: algorithm in ("hierarchical", "themis"),
)


class CollectiveConfig(Table):
    """Algorithms by kind of collective; that they exist is checked where they are registered, in ``collectives``."""

    key: ClassVar[str] = "collective"

    all_reduce: Annotated[str, _ALGORITHM] = parameter("ring", "Algorithm of all-reduce.")
    all_reduce_inside: Annotated[str, Choice("direct", "ring")] = parameter(
        "direct",
        "How a hierarchical all-reduce scatters and gathers inside a machine.",
        source="an NVSwitch connects every pair at full rate",
        only=_HIERARCHICAL,
    )
    all_reduce_between: Annotated[str, Choice("ring", "direct")] = parameter(
        "ring",
        "How a hierarchical all-reduce goes between machines, among the members of equal local index.",
        source="Patarasuk and Yuan, 2009: no incast",
        only=_HIERARCHICAL,
    )
    reduce_scatter: Annotated[str, _ALGORITHM] = parameter("ring", "Algorithm of reduce-scatter.")
    all_gather: Annotated[str, _ALGORITHM] = parameter("ring", "Algorithm of all-gather.")
    all_to_all: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of all-to-all.")
    all_to_all_v: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of all-to-all with uneven sizes.")
    sendrecv: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of a send and its receive.")
    chunks: Annotated[int, Count(least=1)] = parameter(
        1,
        "How many chunks a collective is cut into: one after another in algorithms of one phase, pipelined in "
        "hierarchical ones. A send and its receive stay one message.",
        source="whole buffers",
    )
    in_flight: Annotated[int | None, Count(least=1, words={"none": None})] = parameter(
        "none",
        "Most messages of one rank of one direct exchange on the way at a time.",
        source="ASTRA-sim posts all at once",
    )

    def algorithm(self, kind: str) -> str:
        """Return the algorithm's name for a kind of collective such as ``"all_reduce"``.

        Raises
        ------
        KeyError
            the kind has no key here.
        """
        fields = type(self).model_fields
        if kind not in fields or rule_of(fields[kind]) is not _ALGORITHM:
            raise KeyError(kind)
        name: str = getattr(self, kind)
        return name
