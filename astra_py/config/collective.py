# SPDX-License-Identifier: GPL-2.0-only
"""``[collective]``: which algorithm each kind of collective uses, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from astra_py.config.rules import Choice, Count, Name, QuantityRule, Rule
from astra_py.config.table import Condition, Table, parameter, rule_of
from astra_py.errors import did_you_mean
from astra_py.units import SIZE

__all__ = ["CollectiveConfig"]

#: More rings or machines of a group than these are a mistake.
_MOST_RINGS, _MOST_MACHINES = 1024, 2**20

_LEVEL_ALGORITHMS = ("ring", "direct", "halving_doubling")
_ALGORITHM = Name("a registered algorithm of this collective, or auto")
_HIERARCHICAL = Condition(
    "all_reduce",
    "collective.all_reduce = 'hierarchical', 'themis' or 'auto'",
    lambda algorithm: algorithm in ("hierarchical", "themis", "auto"),
)
_ONLY_CHUNKS = Condition("chunks", "collective.chunks above 1", lambda chunks: chunks > 1)


@dataclass(frozen=True)
class _PerLevel(Rule):
    """Names of algorithms, one for each level or one for all: ``"ring"``, ``"direct/ring"``."""

    type_name = "names"

    @property
    def allowed(self) -> str:
        return f"{', '.join(map(repr, _LEVEL_ALGORITHMS))}, or one for each level, the lowest first, as 'direct/ring'"

    def read(self, value: Any) -> str:
        for name in value.split("/") if isinstance(value, str) else [value]:
            if name not in _LEVEL_ALGORITHMS:
                hint = did_you_mean(name, _LEVEL_ALGORITHMS) if isinstance(name, str) else ""
                raise ValueError(f"{name!r} is unknown{hint}")
        return str(value)


@dataclass(frozen=True)
class _GroupSizes(Rule):
    """How many units form a group at each level: ``"4"``, ``"4x2"``."""

    type_name = "numbers"

    @property
    def allowed(self) -> str:
        return f"'none', or numbers from 2 to {_MOST_MACHINES} as '4' or '4x2', the lowest level first"

    def read(self, value: Any) -> tuple[int, ...]:
        if value == "none":
            return ()
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,7}(x[0-9]{1,7})*", text, re.ASCII):
            raise ValueError(f"{value!r} is no list of numbers")
        sizes = tuple(map(int, text.split("x")))
        if not all(2 <= size <= _MOST_MACHINES for size in sizes):
            raise ValueError(f"{value!r} has a number out of range")
        return sizes

    def write(self, value: tuple[int, ...]) -> str:
        return "x".join(map(str, value)) if value else "none"


class CollectiveConfig(Table):
    """Algorithms by kind of collective; that they exist is checked where they are registered, in ``collectives``."""

    key: ClassVar[str] = "collective"

    all_reduce: Annotated[str, _ALGORITHM] = parameter("ring", "Algorithm of all-reduce.")
    all_reduce_inside: Annotated[str, Choice("direct", "ring", "halving_doubling")] = parameter(
        "direct",
        "How a hierarchical all-reduce scatters and gathers inside a machine.",
        source="an NVSwitch connects every pair at full rate",
        only=_HIERARCHICAL,
    )
    all_reduce_between: Annotated[str, _PerLevel()] = parameter(
        "ring",
        "How a hierarchical all-reduce goes between machines, among the members of equal local index; with "
        "machines_per_group one for each level, the lowest first, as 'direct/ring', or one for all.",
        source="Patarasuk and Yuan, 2009: no incast",
        only=_HIERARCHICAL,
    )
    machines_per_group: Annotated[tuple[int, ...], _GroupSizes()] = parameter(
        "none",
        "Further levels of a hierarchical all-reduce: how many machines form a group, and how many groups a further "
        "one, as '4' or '4x2'.",
        source="two levels: machines and rails between them",
        only=_HIERARCHICAL,
    )
    reduce_scatter: Annotated[str, _ALGORITHM] = parameter("ring", "Algorithm of reduce-scatter.")
    all_gather: Annotated[str, _ALGORITHM] = parameter("ring", "Algorithm of all-gather.")
    all_to_all: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of all-to-all.")
    all_to_all_v: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of all-to-all with uneven sizes.")
    broadcast: Annotated[str, _ALGORITHM] = parameter("tree", "Algorithm of broadcast; the first member has the data.")
    reduce: Annotated[str, _ALGORITHM] = parameter("tree", "Algorithm of reduce; the first member gets the sum.")
    gather: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of gather; the first member gets all.")
    scatter: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of scatter; the first member has all.")
    barrier: Annotated[str, _ALGORITHM] = parameter("dissemination", "Algorithm of barrier.")
    sendrecv: Annotated[str, _ALGORITHM] = parameter("direct", "Algorithm of a send and its receive.")
    chunks: Annotated[int, Count(least=1)] = parameter(
        1,
        "How many chunks a collective is cut into: one after another in algorithms of one phase, pipelined in "
        "hierarchical ones. A send and its receive stay one message.",
        source="whole buffers",
    )
    active_chunks: Annotated[int, Count(least=1)] = parameter(
        1,
        "How many chunks of a collective are in one phase at a time: a chunk's phase begins after that of the chunk so "
        "many before it.",
        source="one after another",
        only=_ONLY_CHUNKS,
    )
    rings: Annotated[int | None, Count(least=1, most=_MOST_RINGS, words={"auto": None})] = parameter(
        1,
        "Rings that a ring algorithm parts its data among, each through machines in another order; 'auto' is one for "
        "each NIC of a rank.",
        source="a flat ring",
    )
    tree_piece: Annotated[int, QuantityRule(SIZE, least=1)] = parameter(
        "128KiB",
        "Most bytes of the pieces in which a double binary tree, or a broadcast or reduce from rank to rank, passes a "
        "buffer on.",
        source="assumed",
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
