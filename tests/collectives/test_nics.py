# SPDX-License-Identifier: GPL-2.0-only
"""How many NICs a rank has, by how its machine's are reached."""

from __future__ import annotations

import pytest

from astra_py.collectives.nics import nics_per_rank
from platform_cases import built


@pytest.mark.parametrize(
    ("keys", "nics"),
    [
        (["kind=single_switch"], 1),
        (["kind=zion"], 1),
        (["kind=zionex"], 1),
        (["kind=zionex", "nics_per_node=4"], 1),
        (["kind=zionex", "nics_per_node=4", "nic_policy=pxn"], 1),
        (["kind=zionex", "nics_per_node=4", "nic_policy=hash"], 4),
        (["kind=rail_only", "nics_per_node=16", "nic_policy=striped"], 16),
        (["kind=dgx_h100", "nic_policy=hash"], 8),
    ],
)
def test_nics_that_each_rank_reaches(keys: list[str], nics: int) -> None:
    assert nics_per_rank(built(*keys).arrays()) == nics
