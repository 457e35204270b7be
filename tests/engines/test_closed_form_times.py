# SPDX-License-Identifier: GPL-2.0-only
"""The analytic engine beside the closed form of every algorithm, on a platform where no two flows meet."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from astra_py.api import one_collective
from astra_py.collectives import SystemModel, algorithm_names, closed_form, level_form
from astra_py.collectives.closed_forms import has_closed_form
from astra_py.collectives.level_forms import has_level_form
from astra_py.collectives.partition import equal_matrix
from astra_py.config import load_scenario
from astra_py.workloads import COLLECTIVE_KINDS
from collective_cases import CHOSEN_AT_ISSUE

ALGORITHMS = [
    (kind, name) for kind in COLLECTIVE_KINDS for name in algorithm_names(kind) if name not in CHOSEN_AT_ISSUE
]
FLAT = [which for which in ALGORITHMS if has_closed_form(*which)]
TWO_LEVELS = [(kind, name) for kind, name in ALGORITHMS if has_level_form(kind, name) and name == "hierarchical"]
CHAINS = [("broadcast", "ring"), ("reduce", "ring")]
#: Algorithms whose phases overlap or share links, so that there is no closed time; their bytes are checked elsewhere.
WITHOUT_A_TIME = {
    ("all_reduce", "double_binary_tree"),
    ("all_reduce", "rail"),
    ("all_to_all", "pxn"),
    ("all_to_all_v", "pxn"),
}
#: Forms of a power of two of ranks; of both directions of one link; and of headers alone.
POWERS_OF_TWO = {"halving", "doubling", "recursive_doubling", "tree"}
NOT_ON_A_SWITCH = {("all_reduce", "ring_bidirectional"), ("barrier", "dissemination")}
ONE_SWITCH_PS = 2 * 500_000 + 300_000


def ethernet_bps(packets: int) -> Fraction:
    """Payload rate of messages of that many full packets at 100 Gb/s: 4,178 line bytes each and the first 16 more."""
    return 100 * 10**9 * Fraction(4096 * packets, 4178 * packets + 16)


#: Payload rate of full packets on an NVLink at 300 GB/s: 4,096 B in ceil(4,096 / 0.94) line bytes.
NVLINK_BPS = 2_400 * 10**9 * Fraction(4096, 4358)


def test_every_algorithm_has_a_closed_form() -> None:
    assert {*FLAT, *TWO_LEVELS, *CHAINS} | WITHOUT_A_TIME == set(ALGORITHMS)


def analytic_time_ps(kind: str, algorithm: str, size_bytes: int, *overrides: str) -> int:
    keys = (f"collective.{kind}={algorithm}", "engine=analytic", *overrides)
    scenario = load_scenario({}, keys)
    group = (0, 1) if kind == "sendrecv" else None
    return int(one_collective(scenario, kind, size_bytes, group).run().collectives["time_ps"][0])


def payload_of(kind: str, ranks: int, size_bytes: int) -> int | NDArray[np.int64]:
    return equal_matrix(size_bytes, ranks) if kind == "all_to_all_v" else size_bytes


def require_close(time_ps: int, form_ps: Callable[[int], int], bps: int) -> None:
    """A form's rate is a whole number of bit/s, and each message's time a whole number of ps."""
    assert form_ps(bps + 1) - 200 <= time_ps <= form_ps(bps) + 200


@pytest.mark.parametrize("packets", [1, 10_000])
@pytest.mark.parametrize("ranks", [2, 3, 8, 17])
@pytest.mark.parametrize(("kind", "algorithm"), [which for which in FLAT if which not in NOT_ON_A_SWITCH])
def test_flat(kind: str, algorithm: str, ranks: int, packets: int) -> None:
    if algorithm in POWERS_OF_TWO and ranks & (ranks - 1):
        pytest.skip("the form is that of a power of two of ranks")
    # parts of ranks and of the power of two below them are whole packets
    size = 4096 * packets * (1 if kind == "sendrecv" else ranks << (ranks.bit_length() - 1))
    members = 2 if kind == "sendrecv" else ranks
    time = analytic_time_ps(kind, algorithm, size, f"platform.ranks={ranks}")
    form, payload = closed_form(kind, algorithm), payload_of(kind, ranks, size)
    # the more packets a message has, the less its first one's 16 bytes matter
    slow, fast = (int(ethernet_bps(count)) for count in (packets, 10**12))
    times = [form.time_ps(members, payload, ONE_SWITCH_PS, bps) for bps in (fast + 1, slow)]
    assert times[0] - 200 <= time <= times[1] + 200


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize(("kind", "algorithm"), CHAINS)
def test_chains(kind: str, algorithm: str, ranks: int) -> None:
    size = 4096 * 32 * 100
    time = analytic_time_ps(kind, algorithm, size, f"platform.ranks={ranks}", "collective.tree_piece=128KiB")
    form, machines = level_form(kind, algorithm), np.arange(ranks, dtype=np.int32)
    require_close(
        time,
        lambda bps: form.time_ps(machines, size, inside=(0, 1), between=(ONE_SWITCH_PS, bps)),
        int(ethernet_bps(32)),
    )


@pytest.mark.parametrize("ranks", [3, 8])
def test_both_directions_of_a_ring_of_links(ranks: int) -> None:
    size = 4096 * 1000 * 2 * ranks
    time = analytic_time_ps("all_reduce", "ring_bidirectional", size, "platform.kind=ring", f"platform.ranks={ranks}")
    form = closed_form("all_reduce", "ring_bidirectional")
    require_close(time, lambda bps: form.time_ps(ranks, size, 500_000, bps), int(ethernet_bps(1000)))


def test_a_barrier_takes_its_steps() -> None:
    """Each of 3 steps of 8 ranks: a frame of 98 line bytes over two links of 500 ns and a switch of 300 ns."""
    keys = ("engine=analytic", "platform.ranks=8")
    time = int(one_collective(load_scenario({}, keys), "barrier", 0).run().collectives["time_ps"][0])
    assert time == 3 * (ONE_SWITCH_PS + 98 * 80)
    assert closed_form("barrier", "dissemination").time_ps(8, 0, ONE_SWITCH_PS, 10**11) == 3 * ONE_SWITCH_PS


@pytest.mark.parametrize("packets", [1, 10_000])
@pytest.mark.parametrize("shape", [(2, 8), (3, 4), (1, 8), (5, 1)])
@pytest.mark.parametrize(
    ("kind", "algorithm", "levels"),
    [
        (kind, algorithm, levels)
        for kind, algorithm in TWO_LEVELS
        for levels in (product(("direct", "ring"), repeat=2) if kind == "all_reduce" else [("direct", "ring")])
    ],
)
def test_two_levels(kind: str, algorithm: str, levels: tuple[str, str], shape: tuple[int, int], packets: int) -> None:
    (inside, between), (machines, local) = levels, shape
    ranks = machines * local
    size = 4096 * packets * ranks
    choice = [f"collective.all_reduce_inside={inside}", f"collective.all_reduce_between={between}"]
    keys = ["kind=zionex", f"nodes={machines}", f"accelerators_per_node={local}", f"ranks_per_leaf={ranks}"]
    overrides = [f"platform.{key}" for key in keys] + (choice if kind == "all_reduce" else [])
    time = analytic_time_ps(kind, algorithm, size, *overrides)
    # between machines an all-reduce sends its segments, and an all-to-all what its whole machine has for a rank
    rate = ethernet_bps(packets if kind == "all_reduce" else packets * local)
    require_close(
        time,
        lambda bps: level_form(kind, algorithm).time_ps(
            np.repeat(np.arange(machines, dtype=np.int32), local),
            payload_of(kind, ranks, size),
            inside=(2 * 250_000, int(NVLINK_BPS)),
            between=(ONE_SWITCH_PS, bps),
            system=SystemModel(all_reduce_inside=inside, all_reduce_between=between),
        ),
        int(rate),
    )
