# SPDX-License-Identifier: GPL-2.0-only
"""``[background.NAME]``: flows beside the jobs, or alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar

from astra_py.config.condition import AllOf, Condition
from astra_py.config.rules import Choice, Count, Number, PathRule, QuantityRule, Registered, Rule
from astra_py.config.spans import RanksRule
from astra_py.config.table import FieldError, Table, parameter
from astra_py.errors import did_you_mean
from astra_py.plugins import FILE, file_of
from astra_py.units import SIZE, TIME, parse_size, parse_time

__all__ = ["BackgroundConfig"]

_KINDS = ("incast", "permutation", "poisson", "file")
_ONLY_INCAST = Condition("kind", "kind = 'incast'", lambda kind: kind == "incast")
_ONLY_POISSON = Condition("kind", "kind = 'poisson'", lambda kind: kind == "poisson")
_ONLY_IN_ROUNDS = Condition("kind", "kind = 'incast' or 'permutation'", lambda kind: kind in ("incast", "permutation"))
_ONLY_FILE = Condition("kind", "kind = 'file'", lambda kind: kind == "file")
_ONLY_DRAWN = Condition("kind", "kind other than 'file'", lambda kind: kind != "file")
_ONLY_FIXED = AllOf(Condition("sizes", "sizes = 'fixed'", lambda sizes: sizes == "fixed"), _ONLY_DRAWN)
_HPCC = "Li et al., HPCC, SIGCOMM 2019, 5.1"


class SizesRule(Rule):
    """Where sizes of flows come from: a name, or a file."""

    type_name = "name"
    names = ("fixed", "web_search", "hadoop")
    allowed = f"{Choice(*names).allowed} or '{FILE}PATH', a file with a size in bytes and a percentage on each line"

    def read(self, value: Any) -> str:
        if isinstance(value, str) and (value in self.names or (value.startswith(FILE) and value != FILE)):
            return value
        hint = did_you_mean(value, self.names) if isinstance(value, str) else ""
        raise ValueError(f"{value!r} is unknown{hint}")


class BackgroundConfig(Table):
    """A list of flows that is drawn with the run's seed and its name, so that it is the same beside whatever else runs.

    All its flows are run to their end, whether a job still runs or not.
    """

    key: ClassVar[str] = "background.NAME"

    kind: Annotated[str, Choice(*_KINDS)] = parameter(
        ...,
        "Who sends to whom: many to one, each to one other and from one other, flows of drawn ranks at drawn times, or "
        "those of a file.",
    )
    file: Annotated[str | None, PathRule("the path of a file of flows")] = parameter(
        None, "File of flows; must be given. Paths are as those of workload.file.", only=_ONLY_FILE
    )
    format: Annotated[str, Registered("astra_py.formats", "auto", "hpcc_flows")] = parameter(
        "auto", "Format of the file. 'auto': recognised from its content.", only=_ONLY_FILE
    )
    ranks: Annotated[tuple[int, ...] | None, RanksRule(words={"all": None})] = parameter(
        "all", "Ranks that it is among, those of jobs or others.", only=_ONLY_DRAWN
    )
    priority: Annotated[int, Count(most=6)] = parameter(
        0, "Priority of its flows, as of collectives; larger first.", source="that of collectives"
    )
    start: Annotated[int, QuantityRule(TIME, most=parse_time("1000s"))] = parameter(
        "0ns", "When it starts: its first flows, or time 0 of a file.", source="with the jobs"
    )
    stop: Annotated[int | None, QuantityRule(TIME, least=1, most=parse_time("1000s"), words={"none": None})] = (
        parameter(
            "none",
            "The time from which no flow starts any more; must be given.",
            source="none is right",
            only=_ONLY_POISSON,
        )
    )
    rounds: Annotated[int, Count(least=1, most=10**6)] = parameter(
        1, "How often all senders send.", source="once", only=_ONLY_IN_ROUNDS
    )
    period: Annotated[int, QuantityRule(TIME, most=parse_time("1000s"))] = parameter(
        "0ns", "Time from one round to the next.", source="all at once", only=_ONLY_IN_ROUNDS
    )
    senders: Annotated[int | None, Count(least=1, words={"all": None})] = parameter(
        "all",
        "How many ranks send in a round, drawn anew for each; all but the receiver.",
        source="all",
        only=_ONLY_INCAST,
    )
    receiver: Annotated[int | None, Count(words={"drawn": None})] = parameter(
        "drawn",
        "The rank that they send to, or one that is drawn anew for each round.",
        source=_HPCC,
        only=_ONLY_INCAST,
    )
    load: Annotated[float, Number(least=0, most=1, is_least_allowed=False)] = parameter(
        0.3,
        "Share of its ranks' NIC rates that the flows' payload is to take on average.",
        source=_HPCC,
        only=_ONLY_POISSON,
    )
    sizes: Annotated[str, SizesRule()] = parameter(
        "fixed",
        "Sizes of flows: all 'size', or drawn from a distribution: of web search (Alizadeh et al., DCTCP, SIGCOMM "
        "2010) or of Hadoop (Roy et al., SIGCOMM 2015), both by the points in the traffic generator published with "
        "HPCC (SIGCOMM 2019).",
        only=_ONLY_POISSON,
    )
    size: Annotated[int, QuantityRule(SIZE, least=1, most=parse_size("1024TiB"))] = parameter(
        "500kB", "Bytes of each flow.", source=_HPCC, only=_ONLY_FIXED
    )

    @property
    def sizes_path(self) -> Path | None:
        """The file that sizes are drawn from, or None."""
        return file_of(self.sizes)

    def check(self) -> None:  # noqa: D102  (as the base)
        if self.kind == "file" and self.file is None:
            raise FieldError("file", "missing, and kind = 'file' needs it", "the path of a file of flows")
        if self.kind == "poisson" and self.stop is None:
            raise FieldError("stop", "missing, and kind = 'poisson' needs it", "a time after start")
        if self.stop is not None and self.stop <= self.start:
            raise FieldError(
                "stop", f"{self.text('stop')!r} is not after start = {self.text('start')!r}", "a later time"
            )
        if self.ranks is not None and len(self.ranks) < 2:
            raise FieldError("ranks", f"{self.text('ranks')!r} is one rank, and flows need two", "at least two ranks")
        if self.receiver is not None and self.ranks is not None and self.receiver not in self.ranks:
            raise FieldError("receiver", f"{self.receiver} is none of ranks = {self.text('ranks')!r}", "one of them")
