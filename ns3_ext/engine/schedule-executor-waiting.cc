// SPDX-License-Identifier: GPL-2.0-only
// What ScheduleExecutor tells of a run that did not complete.
#include "schedule-executor.h"

#include <set>

namespace ns3
{

std::vector<WaitingItem>
ScheduleExecutor::DescribeWaiting(size_t limit) const
{
    std::vector<WaitingItem> items;
    for (uint32_t op = 0; op < m_schedule.Ops() && items.size() < limit; ++op)
    {
        if (m_end[op] != NEVER_PS)
        {
            continue;
        }
        WaitingItem item;
        item.op = static_cast<int32_t>(op);
        item.rank = m_schedule.rank[op];
        if (m_waitsFor[op] > 0)
        {
            const auto begin = static_cast<size_t>(m_schedule.depPtr[op]);
            const auto end = static_cast<size_t>(m_schedule.depPtr[op + 1]);
            item.what = "dependency";
            for (size_t edge = begin; edge < end && item.blocker < 0; ++edge)
            {
                const int32_t before = m_schedule.depOp[edge];
                item.blocker = m_end[static_cast<size_t>(before)] == NEVER_PS ? before : -1;
            }
            items.push_back(item);
        }
        else if (m_start[op] == NEVER_PS)
        {
            const auto use = static_cast<size_t>(m_schedule.pools.usePtr[op] + m_poolsHeld[op]);
            item.what = "pool";
            item.blocker = m_schedule.pools.usePool[use];
            items.push_back(item);
        }
        else if (m_schedule.kind[op] == OuterKind::COLLECTIVE)
        {
            DescribeParticipation(op, limit, items);
        }
        else
        {
            item.what = "operation";
            items.push_back(item);
        }
    }
    return items;
}

void
ScheduleExecutor::DescribeParticipation(uint32_t op,
                                        size_t limit,
                                        std::vector<WaitingItem>& items) const
{
    const auto index = static_cast<uint32_t>(m_schedule.instance[op]);
    const auto member = m_schedule.member[op];
    WaitingItem item;
    item.op = static_cast<int32_t>(op);
    item.instance = static_cast<int32_t>(index);
    item.rank = m_schedule.rank[op];
    if (!m_instances[index])
    {
        item.what = "operation"; // Within the endpoint delay before it joins.
        items.push_back(item);
        return;
    }
    const Instance& instance = *m_instances[index];
    const TemplateDescription& description = instance.graph->Description();
    const auto group = static_cast<size_t>(
        m_schedule.groupPtr[static_cast<size_t>(m_schedule.instanceGroup[index])]);
    for (size_t other = 0; other < instance.hasJoined.size() && items.size() < limit; ++other)
    {
        if (instance.hasJoined[other] == 0)
        {
            item.what = "join";
            item.rank = m_schedule.groupRank[group + other];
            items.push_back(item);
        }
    }
    std::set<int32_t> posted;
    std::set<int32_t> delivered;
    for (size_t id = 0; id < m_log.Size(); ++id)
    {
        if (m_log.instance[id] == static_cast<int32_t>(index))
        {
            posted.insert(m_log.op[id]);
            if (m_log.delivered[id] != NEVER_PS)
            {
                delivered.insert(m_log.op[id]);
            }
        }
    }
    for (int32_t inner = 0; inner < static_cast<int32_t>(description.Ops()); ++inner)
    {
        const auto i = static_cast<size_t>(inner);
        const bool isOfMember = description.src[i] == member || description.dst[i] == member;
        if (items.size() >= limit)
        {
            return;
        }
        if (description.kind[i] == OpKind::SEND && isOfMember && !delivered.contains(inner))
        {
            item.what = "message";
            item.innerOp = inner;
            item.rank = m_schedule.groupRank[group + static_cast<size_t>(description.src[i])];
            item.isPosted = posted.contains(inner);
            items.push_back(item);
        }
    }
}

} // namespace ns3
