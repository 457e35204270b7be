# SPDX-License-Identifier: GPL-2.0-only
"""What the algorithm ``auto`` takes, by times that are given."""

from __future__ import annotations

import numpy as np

from astra_py.collectives import Group, ScheduleBuilder, SystemModel, Template
from astra_py.collectives.auto import fastest


def timed(times: dict[str, int], *, senders: dict[str, int]) -> Template:
    """What auto takes of algorithms with these times, and as many senders to rank 0 each."""

    def build(name: str) -> Template:
        builder = ScheduleBuilder("gather", name, 5)
        builder.send(np.arange(1, senders[name] + 1), 0, 10)
        return builder.build()

    system = SystemModel(measure=lambda template, ranks: times[template.algorithm])
    return fastest("gather", tuple(times), Group(tuple(range(5))), system, build)


def test_of_nearly_equal_times_the_fewest_senders_count() -> None:
    senders = {"many": 4, "few": 1, "some": 2}
    assert timed({"many": 1600, "few": 1701, "some": 1701}, senders=senders).algorithm == "many (auto)"
    assert timed({"many": 1600, "few": 1701, "some": 1700}, senders=senders).algorithm == "some (auto)"
    assert timed({"many": 1600, "few": 1700, "some": 1650}, senders=senders).algorithm == "few (auto)"
    senders["few"] = senders["some"] = 4
    assert timed({"many": 1600, "few": 1599, "some": 1599}, senders=senders).algorithm == "few (auto)"
