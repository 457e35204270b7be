# SPDX-License-Identifier: GPL-2.0-only
"""The planner: which way to divide each table, found by trying.

1. *Enumerate.* Every table in one way; and a family of proposals, each of which leaves a table whole unless it costs
   more than some share of a rank's mean load, or fits no memory. Then it is divided, by columns, over a machine's ranks
   or over all ranks, in the first way whose shards cost less than that, or else the cheapest. With or without tables on
   all ranks, where their all-reduce costs each rank less than their mean share of what they cost elsewhere.
2. *Place* each proposal's parts longest first, costs being closed forms of the rates at hand.
3. *Rate* the plans by :func:`~astra_py.workloads.dlrm.sharders.estimate.plan_seconds`, keep the best.
4. *Improve* the best: of the costliest table on the busiest rank, try every other way, as long as that helps.
5. *Judge* the finalists, by an engine where one is given.

The steps are those of TorchRec's planner (Ivchenko et al., RecSys 2022, section 4); tables of equal figures are rated
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from astra_py.errors import WorkloadError
from astra_py.workloads.dlrm.memory import Memory
from astra_py.workloads.dlrm.model import DlrmModel
from astra_py.workloads.dlrm.plan import Plan
from astra_py.workloads.dlrm.sharders.estimate import Rates, part_seconds, plan_seconds
from astra_py.workloads.dlrm.sharders.greedy import place_greedy
from astra_py.workloads.dlrm.sharders.parts import MIN_SHARD_DIM, Division, Parts, column_counts, divide
from astra_py.workloads.dlrm.sharders.tiers import place_in_tiers
from astra_py.workloads.dlrm.sharding import Sharding

__all__ = ["Judge", "Proposal", "find_plan"]

#: Gives the time of an iteration with a plan, in ps.
Judge = Callable[[Plan], int]

#: Multiples of a rank's mean load above which a table is divided.
_MULTIPLES = (1.0, 0.5, 0.25, 0.125)
#: Ways to divide, first to last resort.
_WAYS = (
    (Sharding.COLUMN_WISE, Sharding.TABLE_ROW_WISE, Sharding.ROW_WISE),
    (Sharding.TABLE_ROW_WISE, Sharding.ROW_WISE),
    (Sharding.ROW_WISE,),
)
_WHOLE = "every table whole"
_MOST_IMPROVEMENTS = 12
_FINALISTS = 3
_PICOSECONDS = 1e12


@dataclass(frozen=True, kw_only=True, eq=False)
class Proposal:
    """A plan that was tried.

    Attributes
    ----------
    plan : the plan.
    title : how its tables were divided.
    seconds : time of its embedding phases by the closed forms.
    judged_ps : time of an iteration by an engine, or -1 where it was not judged.
    """

    plan: Plan
    title: str
    seconds: float
    judged_ps: int = -1


def find_plan(
    model: DlrmModel, memory: Memory, rates: Rates, *, min_shard_dim: int = MIN_SHARD_DIM, judge: Judge | None = None
) -> list[Proposal]:
    """Find a plan.

    Parameters
    ----------
    model, memory : what is sharded, and into what.
    rates : what a rank reaches.
    min_shard_dim : least columns of a column-wise shard.
    judge : times the finalists, or None.

    Returns
    -------
    Proposals that differ, the best first: judged ones by their judgement, then the others by the closed forms.

    Raises
    ------
    WorkloadError : nothing fits; says why and what would help.
    """
    search = _Search(model, memory, rates, min_shard_dim)
    for title, divisions in search.enumerate():
        search.propose(title, divisions)
    if not search.found:
        assert search.refused is not None
        raise search.refused
    search.improve()
    ranked = sorted(search.found, key=lambda proposal: proposal.seconds)
    if judge is None:
        return ranked
    # what is simplest is judged too, so that one sees what dividing tables gains
    chosen = [each for i, each in enumerate(ranked) if i < _FINALISTS or each.title == _WHOLE]
    finalists = [replace(proposal, judged_ps=judge(proposal.plan)) for proposal in chosen]
    others = [proposal for proposal in ranked if proposal not in chosen]
    return sorted(finalists, key=lambda proposal: proposal.judged_ps) + others


class _Search:
    def __init__(self, model: DlrmModel, memory: Memory, rates: Rates, min_shard_dim: int) -> None:
        self.model = model
        self.memory = memory
        self.rates = rates
        self.min_shard_dim = min_shard_dim
        self.found: list[Proposal] = []
        self.tried: dict[tuple[Division, ...], Proposal | None] = {}
        self.refused: WorkloadError | None = None
        self.most_bytes = max(memory.room_bytes(model), memory.host_bytes)
        machines = np.bincount(memory.machines)
        self.has_machines = len(machines) > 1 and bool(machines.min() == machines.max() > 1)
        self.options: dict[Division, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}

    def option(self, division: Division) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """f64[tables] and i64[tables]: cost and memory of a rank that holds (a shard of) each table, so divided."""
        if division not in self.options:
            whole = Division(Sharding.TABLE_WISE)
            fits = [division.columns <= max(table.dim // self.min_shard_dim, 1) for table in self.model.tables]
            parts = divide(self.model, self.memory, [division if fit else whole for fit in fits])
            first = np.searchsorted(parts.table, np.arange(len(self.model.tables)))
            self.options[division] = part_seconds(parts, self.rates)[first], parts.rank_bytes[first]
        return self.options[division]

    def enumerate(self) -> Iterator[tuple[str, list[Division]]]:
        """Yield titles, and a division of each table."""
        tables = range(len(self.model.tables))
        yield _WHOLE, [Division(Sharding.TABLE_WISE)] * len(tables)
        for way in (Sharding.TABLE_ROW_WISE, Sharding.ROW_WISE, Sharding.DATA_PARALLEL):
            if way is not Sharding.TABLE_ROW_WISE or self.has_machines:
                yield f"every table {way}", [Division(way)] * len(tables)
        for replicated, ways, multiple in product((False, True), _WAYS, _MULTIPLES):
            also = ", small ones data_parallel" if replicated else ""
            title = f"tables above {multiple:g} of the mean load divided, {ways[0]} first{also}"
            yield title, self.divided(ways, multiple, replicated=replicated)

    def divided(self, ways: Sequence[Sharding], multiple: float, *, replicated: bool) -> list[Division]:
        """Divide each table as a proposal says."""
        whole = Division(Sharding.TABLE_WISE)
        cost, size = self.option(whole)
        everywhere, replica = self.option(Division(Sharding.DATA_PARALLEL))
        is_replicated = np.zeros(len(cost), dtype=np.bool_)
        if replicated:
            # as many as fit in a tenth of the room, those that gain most for their size first (assumed)
            gain = cost / self.memory.ranks - everywhere
            order = np.argsort(-gain / replica, kind="stable")
            fits = np.cumsum(replica[order]) <= self.memory.room_bytes(self.model) // 10
            is_replicated[order[fits]] = True
            is_replicated &= gain > 0
        limit = multiple * float(cost[~is_replicated].sum()) / self.memory.ranks
        divisions = []
        for index in range(len(cost)):
            if is_replicated[index]:
                divisions.append(Division(Sharding.DATA_PARALLEL))
            elif cost[index] <= limit and size[index] <= self.most_bytes:
                divisions.append(whole)
            else:
                divisions.append(self.way(index, ways, limit))
        return divisions

    def way(self, index: int, ways: Sequence[Sharding], limit: float) -> Division:
        """Return the first division of a table whose shards are within cost and memory, else the cheapest that fits."""
        cheapest, least = Division(ways[-1]), np.inf
        for division in self.divisions(index, ways):
            cost, size = self.option(division)
            if size[index] <= self.most_bytes:
                if cost[index] <= limit:
                    return division
                if cost[index] < least:
                    cheapest, least = division, float(cost[index])
        return cheapest

    def divisions(self, index: int, ways: Sequence[Sharding]) -> Iterator[Division]:
        """Yield the divisions of a table that the ways allow."""
        for way in ways:
            if way is Sharding.COLUMN_WISE:
                for columns in column_counts(self.model.tables[index].dim, self.min_shard_dim):
                    yield Division(way, columns)
            elif way is not Sharding.TABLE_ROW_WISE or self.has_machines:
                yield Division(way)

    def propose(self, title: str, divisions: Sequence[Division]) -> Proposal | None:
        """Place and rate one; None where it does not fit, or its mean load alone is above the best that was found."""
        key = tuple(divisions)
        if key not in self.tried:
            parts = divide(self.model, self.memory, divisions)
            best = min((proposal.seconds for proposal in self.found), default=np.inf)
            share = np.where(parts.is_replicated, 1, parts.widths / self.memory.ranks)
            if float((part_seconds(parts, self.rates) * share).sum()) > best:
                self.tried[key] = None
                return None
            try:
                plan = parts.plan(place_in_tiers(parts, partial(self.costs, parts), place_greedy))
            except WorkloadError as error:
                self.refused = error
                self.tried[key] = None
                return None
            proposal = Proposal(plan=plan, title=title, seconds=plan_seconds(plan, self.memory.machines, self.rates))
            self.tried[key] = proposal
            self.found.append(proposal)
        return self.tried[key]

    def costs(self, parts: Parts, is_host: NDArray[np.bool_]) -> list[int]:
        """Costs of parts in whole picoseconds."""
        costs: list[int] = np.rint(part_seconds(parts, self.rates, is_host) * _PICOSECONDS).astype(np.int64).tolist()
        return costs

    def improve(self) -> None:
        """From the best proposal on, divide the costliest table of the busiest rank otherwise while that helps."""
        best = min(self.found, key=lambda proposal: proposal.seconds)
        divisions = list(next(key for key, made in self.tried.items() if made is best))
        for _ in range(_MOST_IMPROVEMENTS):
            index = self.bottleneck(best.plan)
            tried: list[tuple[float, int, Proposal, list[Division]]] = []
            for division in (Division(Sharding.TABLE_WISE), *self.divisions(index, tuple(Sharding)[1:])):
                changed = [*divisions]
                changed[index] = division
                name = self.model.tables[index].name
                if (made := self.propose(f"{best.title}; {name} {division.sharding}", changed)) is not None:
                    tried.append((made.seconds, len(tried), made, changed))
            if not tried or min(each[0] for each in tried) >= best.seconds:
                return
            _, _, best, divisions = min(tried, key=lambda each: each[:2])

    def bottleneck(self, plan: Plan) -> int:
        """Return the costliest table of the rank that looks up and sends most."""
        figures = plan.lookup_bytes / self.rates.hbm_Bps + np.where(
            plan.is_data_parallel, 0, plan.dims * plan.ranks * plan.model.local_batch * 4 / self.rates.between_Bps
        )
        busiest = int(np.bincount(plan.rank, weights=figures, minlength=plan.ranks).argmax())
        mine = np.flatnonzero(plan.rank == busiest)
        return int(plan.table[mine[figures[mine].argmax()]])
