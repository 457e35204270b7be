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
    // What explains a standstill comes first: who is missing, who waits for a limit and who never
    // joined; then collectives under way; and last whoever merely comes after those.
    std::vector<WaitingItem> items;
    DescribeAbsent(limit, items);
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
ScheduleExecutor::IsAnyoneAbsent() const
{
    std::vector<WaitingItem> items;
    DescribeAbsent(1, items);
    return !items.empty();
}

void
ScheduleExecutor::DescribeAbsent(size_t limit, std::vector<WaitingItem>& items) const
{
    // A member may owe nothing to the others, whose parts then end without it.
    const size_t instances = m_schedule.instanceTemplate.size();
    std::vector<int64_t> parts(instances, 0);
    for (size_t op = 0; op < m_schedule.Ops(); ++op)
    {
        if (m_schedule.kind[op] == OuterKind::COLLECTIVE)
        {
            ++parts[static_cast<size_t>(m_schedule.instance[op])];
        }
    }
    for (uint32_t index = 0; index < instances && items.size() < limit; ++index)
    {
        const auto group = static_cast<size_t>(m_schedule.instanceGroup[index]);
        const int64_t size = m_schedule.groupPtr[group + 1] - m_schedule.groupPtr[group];
        if (parts[index] >= size)
        {
            continue;
        }
        std::vector<uint8_t> isPresent(static_cast<size_t>(size), 0);
        for (size_t op = 0; op < m_schedule.Ops(); ++op)
        {
            if (m_schedule.kind[op] == OuterKind::COLLECTIVE &&
                m_schedule.instance[op] == static_cast<int32_t>(index))
            {
                isPresent[static_cast<size_t>(m_schedule.member[op])] = 1;
            }
        }
        for (int32_t member = 0; member < size && items.size() < limit; ++member)
        {
            if (isPresent[static_cast<size_t>(member)] == 0)
            {
                WaitingItem item;
                item.what = "absent";
                item.instance = static_cast<int32_t>(index);
                item.rank = RankOf(index, member);
                items.push_back(item);
            }
        }
    }
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

int32_t
ScheduleExecutor::PoolWaitedFor(const Instance& instance, uint32_t op, bool isPosted) const
{
    const TemplateDescription& description = instance.graph->Description();
    const PoolColumns& pools = description.pools;
    const int64_t next = pools.usePtr[op] + instance.poolsHeld[op];
    const auto owner = static_cast<size_t>(description.src[op]);
    const bool isWaiting = !isPosted && instance.waitsFor[op] == 0 &&
                           instance.hasJoined[owner] != 0 && next < pools.usePtr[op + 1];
    return isWaiting ? pools.usePool[static_cast<size_t>(next)] : -1;
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
    for (size_t id = 0; id < m_rows.Size(); ++id)
    {
        if (m_rows[id].instance == static_cast<int32_t>(index))
        {
            posted.emplace(m_rows[id].op, id);
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
        if (!isOfMember || instance.isEnded[i] != 0)
        {
            continue; // Skipped messages count as ended.
        }
        if (description.kind[i] != OpKind::SEND)
        {
            item.what = "local";
            item.pool = PoolWaitedFor(instance, static_cast<uint32_t>(inner), false);
            item.isPosted = instance.waitsFor[i] == 0 && item.pool == -1;
            items.push_back(item);
            continue;
        }
        const auto message = posted.find(inner);
        item.isPosted = message != posted.end();
        item.pool = PoolWaitedFor(instance, static_cast<uint32_t>(inner), item.isPosted);
        item.isDelivered = item.isPosted && m_rows[message->second].delivered != NEVER_PS;
        if (!item.isPosted || m_rows[message->second].acked == NEVER_PS || !item.isDelivered)
        {
            item.what = "message";
            items.push_back(item);
        }
    }
}

} // namespace ns3
