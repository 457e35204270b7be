// SPDX-License-Identifier: GPL-2.0-only
// What ScheduleExecutor tells of a run that did not complete.
#include "schedule-executor.h"

#include <algorithm>
#include <unordered_map>

namespace ns3
{

namespace
{

/// Messages told of one rank's part in a collective; the others wait alike.
constexpr size_t ITEMS_PER_PART = 2;

} // namespace

std::vector<WaitingItem>
ScheduleExecutor::DescribeWaiting(size_t limit) const
{
    // What explains a standstill comes first: who waits for a limit and who never joined; then
    // collectives under way; and last whoever merely comes after those.
    std::vector<WaitingItem> items;
    for (uint32_t op = 0; op < m_schedule.Ops() && items.size() < limit; ++op)
    {
        if (m_start[op] == NEVER_PS && m_waitsFor[op] == 0)
        {
            items.push_back(DescribePoolWait(op));
        }
        else if (IsUnderWay(op) && m_schedule.kind[op] == OuterKind::COLLECTIVE)
        {
            DescribeJoins(op, limit, items);
        }
    }
    for (uint32_t op = 0; op < m_schedule.Ops() && items.size() < limit; ++op)
    {
        if (!IsUnderWay(op))
        {
            continue;
        }
        if (m_schedule.kind[op] == OuterKind::COLLECTIVE)
        {
            DescribeParticipation(op, std::min(limit, items.size() + ITEMS_PER_PART), items);
        }
        else
        {
            items.push_back(ItemOf("operation", op));
        }
    }
    for (uint32_t op = 0; op < m_schedule.Ops() && items.size() < limit; ++op)
    {
        if (m_waitsFor[op] == 0)
        {
            continue;
        }
        WaitingItem item = ItemOf("dependency", op);
        const auto begin = static_cast<size_t>(m_schedule.depPtr[op]);
        const auto end = static_cast<size_t>(m_schedule.depPtr[op + 1]);
        for (size_t edge = begin; edge < end && item.blocker < 0; ++edge)
        {
            const int32_t before = m_schedule.depOp[edge];
            item.blocker = m_end[static_cast<size_t>(before)] == NEVER_PS ? before : -1;
        }
        items.push_back(item);
    }
    return items;
}

bool
ScheduleExecutor::IsUnderWay(uint32_t op) const
{
    return m_start[op] != NEVER_PS && m_end[op] == NEVER_PS;
}

WaitingItem
ScheduleExecutor::ItemOf(const char* what, uint32_t op) const
{
    WaitingItem item;
    item.what = what;
    item.op = static_cast<int32_t>(op);
    item.rank = m_schedule.rank[op];
    item.instance = m_schedule.instance[op];
    return item;
}

WaitingItem
ScheduleExecutor::DescribePoolWait(uint32_t op) const
{
    WaitingItem item = ItemOf("pool", op);
    const PoolColumns& pools = m_schedule.pools;
    const int32_t pool = pools.usePool[static_cast<size_t>(pools.usePtr[op] + m_poolsHeld[op])];
    for (uint32_t other = 0; other < m_schedule.Ops() && item.blocker < 0; ++other)
    {
        const auto first = pools.usePool.begin() + pools.usePtr[other];
        const auto last = pools.usePool.begin() + pools.usePtr[other + 1];
        if (IsUnderWay(other) && std::find(first, last, pool) != last)
        {
            item.blocker = static_cast<int32_t>(other);
        }
    }
    return item;
}

void
ScheduleExecutor::DescribeJoins(uint32_t op, size_t limit, std::vector<WaitingItem>& items) const
{
    const auto index = static_cast<size_t>(m_schedule.instance[op]);
    if (!m_instances[index])
    {
        return; // Within the endpoint delay before the first one joins.
    }
    const Instance& instance = *m_instances[index];
    const auto group = static_cast<size_t>(
        m_schedule.groupPtr[static_cast<size_t>(m_schedule.instanceGroup[index])]);
    for (size_t other = 0; other < instance.hasJoined.size() && items.size() < limit; ++other)
    {
        if (instance.hasJoined[other] == 0)
        {
            WaitingItem item = ItemOf("join", op);
            item.rank = m_schedule.groupRank[group + other];
            items.push_back(item);
        }
    }
}

void
ScheduleExecutor::DescribeParticipation(uint32_t op,
                                        size_t limit,
                                        std::vector<WaitingItem>& items) const
{
    const auto index = static_cast<uint32_t>(m_schedule.instance[op]);
    const auto member = m_schedule.member[op];
    if (!m_instances[index])
    {
        items.push_back(ItemOf("operation", op)); // Within the endpoint delay before it joins.
        return;
    }
    WaitingItem item = ItemOf("message", op);
    const Instance& instance = *m_instances[index];
    const TemplateDescription& description = instance.graph->Description();
    const auto group = static_cast<size_t>(
        m_schedule.groupPtr[static_cast<size_t>(m_schedule.instanceGroup[index])]);
    std::unordered_map<int32_t, size_t> posted; // Operation to message.
    for (size_t id = 0; id < m_log.Size(); ++id)
    {
        if (m_log.instance[id] == static_cast<int32_t>(index))
        {
            posted.emplace(m_log.op[id], id);
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
        item.innerOp = inner;
        item.rank = m_schedule.groupRank[group + static_cast<size_t>(description.src[i])];
        if (isOfMember && description.kind[i] != OpKind::SEND && instance.isEnded[i] == 0)
        {
            item.what = "local";
            item.isPosted = instance.waitsFor[i] == 0;
            items.push_back(item);
        }
        if (!isOfMember || description.kind[i] != OpKind::SEND)
        {
            continue;
        }
        const auto message = posted.find(inner);
        item.isPosted = message != posted.end();
        item.isDelivered = item.isPosted && m_log.delivered[message->second] != NEVER_PS;
        if (!item.isPosted || m_log.acked[message->second] == NEVER_PS || !item.isDelivered)
        {
            item.what = "message";
            items.push_back(item);
        }
    }
}

} // namespace ns3
