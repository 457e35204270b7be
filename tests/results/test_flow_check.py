# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from astra_py.collectives import lower
from astra_py.results import flow_check
from astra_py.results.flow_check import check_data_flow
from astra_py.workloads import CollectiveCall, TraceBuilder
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


def test_of_templates_that_differ_in_sizes_only_one_comes_before_other_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[tuple[str, int]] = []
    monkeypatch.setattr(
        flow_check, "check_dataflow", lambda template, size: followed.append((template.collective, size))
    )
    kinds = [("all_reduce", 400), ("all_reduce", 800), ("all_reduce", 404), ("all_to_all", 60)]
    build = TraceBuilder(4)
    for kind, size in kinds:
        build.collective(CollectiveCall(name=kind, kind=kind, group=(0, 1, 2, 3), size_bytes=size))
    trace = build.build()
    record = replace(one_collective(), trace=trace, schedule=lower(trace))
    # a ring of 4 has 24 messages, a direct all-to-all 12
    for most, found in ((36, [3, 1]), (60, [3, 1, 0]), (84, [3, 1, 0, 2])):
        followed.clear()
        monkeypatch.setattr(flow_check, "_MOST_OPERATIONS", most)
        assert check_data_flow(record).declared == len(found)
        assert followed == [kinds[i] for i in found]
