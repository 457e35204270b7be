# SPDX-License-Identifier: GPL-2.0-only
"""Flow lists as schedules: one message a flow, what they declare, and that limits of collectives are not theirs."""

from dataclasses import replace

import numpy as np
import pytest

from astra_py.collectives import (
    OpKind,
    SystemModel,
    algorithm_names,
    check_dataflow,
    declared_level_bytes,
    declared_rank_bytes,
    lower,
)
from astra_py.collectives.bandwidth import algorithm_bytes, bus_bytes
from astra_py.collectives.flows import flow_template
from astra_py.errors import CheckError, ConfigError
from astra_py.workloads import CollectiveCall, FlowList, TraceBuilder
from astra_py.workloads.flow_job import flow_call, flow_trace

FLOWS = FlowList([3, 1, 3], [1, 5, 5], [1000, 0, 70], [50, 0, 50])


def test_each_flow_is_a_message_posted_at_its_start() -> None:
    schedule = lower(flow_trace(6, FLOWS))
    (template,) = schedule.templates
    assert schedule.group(0).tolist() == [1, 3, 5]
    assert template.kind.tolist() == [OpKind.SEND] * 3
    assert template.src.tolist() == [1, 0, 1]
    assert template.dst.tolist() == [0, 2, 2]
    assert template.size_bytes.tolist() == [1000, 0, 70]
    assert template.duration_ps.tolist() == [50, 0, 50]
    assert not len(template.dep_op)


def test_what_a_list_declares_is_its_own_bytes() -> None:
    trace = flow_trace(6, FLOWS)
    for schedule in (None, lower(trace)):
        sent, received = declared_rank_bytes(trace, schedule=schedule)
        assert sent.tolist() == [0, 0, 0, 1070, 0, 0]
        assert received.tolist() == [0, 1000, 0, 0, 0, 70]
    level = declared_level_bytes(trace, np.array([0, 0, 1, 1, 2, 2], dtype=np.int32))
    assert level.sent_inside.sum() == 0
    assert level.sent_between.tolist() == [0, 0, 0, 1070, 0, 0]
    assert algorithm_bytes("flows", FLOWS) == 1070
    assert bus_bytes("flows", 6, FLOWS) == 1070


def test_the_data_flow_check_follows_each_flow() -> None:
    template = flow_template(6, FLOWS)
    check_dataflow(template, FLOWS)
    with pytest.raises(CheckError, match="rank 5 ends without flow 2"):
        check_dataflow(replace(template, dst=np.array([1, 5, 4], dtype=np.int32)), FLOWS)
    with pytest.raises(CheckError, match="1000 bytes, and its blocks have 1001"):
        check_dataflow(template, FLOWS.scaled(FLOWS.size_bytes + np.array([1, 0, 0])))


def test_a_long_list_is_proven_at_once() -> None:
    count = 20_000
    src = np.arange(count) % 64
    flows = FlowList(src, (src + 1 + np.arange(count) % 63) % 64, np.arange(count), np.arange(count) * 1000)
    template = flow_template(64, flows)
    check_dataflow(template)
    assert len(template) == count


def test_a_librarys_costs_and_limits_are_not_those_of_flows() -> None:
    build = TraceBuilder(6)
    build.collective(flow_call("background", FLOWS))
    build.collective(CollectiveCall(name="sum", kind="all_reduce", group=(1, 3, 5), size_bytes=3000))
    trace = build.build()
    system = SystemModel(protocol="simple", channels=1, admission=1, chunks=4)
    schedule = lower(trace, system=system, max_active_collectives=1, rank_machine=np.arange(6, dtype=np.int32))
    flows, _ = schedule.templates
    assert flows.size_bytes.tolist() == FLOWS.size_bytes.tolist()
    assert flows.duration_ps.tolist() == FLOWS.start_ps.tolist()
    assert not len(flows.use_pool)
    uses = np.diff(schedule.use_ptr)
    assert uses[~trace.is_collective].tolist() == [0, 0, 0]
    assert uses[trace.is_collective].tolist() == [1, 1, 1]


def test_equal_lists_share_a_template() -> None:
    build = TraceBuilder(12)
    for shift in (0, 6, 0):
        build.collective(flow_call("list", FLOWS.between(np.arange(shift, shift + 6, dtype=np.int32))))
    schedule = lower(build.build())
    assert len(schedule.templates) == 1
    assert schedule.instance_group.tolist() == [0, 1, 0]


def test_no_algorithm_can_be_chosen_for_flows() -> None:
    with pytest.raises(ConfigError, match="unknown collective 'flows'"):
        algorithm_names("flows")
