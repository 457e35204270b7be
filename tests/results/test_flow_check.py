# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from astra_py.results import flow_check
from astra_py.results.flow_check import check_data_flow
from result_cases import one_collective


@pytest.mark.parametrize(("kind", "algorithm"), [("all_reduce", "ring"), ("all_to_all", "direct")])
def test_a_built_in_algorithm_is_followed_too(kind: str, algorithm: str) -> None:
    record = one_collective(kind, algorithm)
    check = check_data_flow(record)
    assert (check.declared, check.measured, check.passed) == (1, 1, True)


def test_a_ring_without_its_dependencies_is_found_though_its_bytes_are_right() -> None:
    record = one_collective()
    (ring,) = record.schedule.templates
    loose = replace(
        ring,
        dep_ptr=np.zeros(len(ring) + 1, dtype=np.int64),
        dep_op=np.zeros(0, dtype=np.int32),
        dep_on=np.zeros(0, dtype=np.uint8),
    )
    check = check_data_flow(replace(record, schedule=replace(record.schedule, templates=(loose,))))
    assert (check.declared, check.measured, check.passed) == (1, 0, False)
    assert "may not have got operation" in str(check)


def test_what_is_too_large_to_follow_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    record = one_collective(ranks=4)  # 24 messages
    for most, followed in ((24, 1), (23, 0)):
        monkeypatch.setattr(flow_check, "_MOST_OPERATIONS", most)
        assert check_data_flow(record).declared == followed
