// SPDX-License-Identifier: GPL-2.0-only
// Collectives under way: expanded when a first member joins, given back when all is over.
#include "../core/errors.h"
#include "schedule-executor.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ns3
{

ScheduleExecutor::Instance&
ScheduleExecutor::Expand(uint32_t index)
{
    std::unique_ptr<Instance>& place = m_instances[index];
    if (place)
    {
        return *place;
    }
    if (m_spare.empty())
    {
        place = std::make_unique<Instance>();
    }
    else
    {
        place = std::move(m_spare.back());
        m_spare.pop_back();
    }
    Instance& instance = *place;
    const TemplateGraph& graph = m_graphs[static_cast<size_t>(m_schedule.instanceTemplate[index])];
    const auto members = static_cast<size_t>(graph.Description().ranks);
    instance.graph = &graph;
    instance.waitsFor = graph.DependencyCounts();
    instance.poolsHeld.assign(graph.Ops(), 0);
    instance.partLeft = graph.PartCounts();
    instance.outerOp.assign(members, -1);
    instance.hasJoined.assign(members, 0);
    instance.isEnded.assign(graph.Ops(), 0);
    instance.choiceLeft.assign(graph.Description().choices.Choices(), 0);
    instance.pools.Reset(graph.Description().pools);
    instance.membersLeft = static_cast<uint32_t>(members);
    instance.opsLeft = graph.Ops();
    m_peakInstances = std::max(m_peakInstances, ++m_liveInstances);
    return instance;
}

void
ScheduleExecutor::Join(uint64_t outer)
{
    const auto op = static_cast<uint32_t>(outer);
    const auto index = static_cast<uint32_t>(m_schedule.instance[op]);
    const auto member = static_cast<uint32_t>(m_schedule.member[op]);
    Instance& instance = Expand(index);
    if (instance.hasJoined[member] != 0)
    {
        throw InvariantError("operation " + std::to_string(op) + " joins instance " +
                             std::to_string(index) + " as member " + std::to_string(member) +
                             ", which has joined already");
    }
    instance.hasJoined[member] = 1;
    instance.outerOp[member] = static_cast<int32_t>(op);
    if (instance.partLeft[member] == 0)
    {
        PartProgress(index, member);
        return;
    }
    // What is picked among alternatives makes others ready, which have their own way to InnerReady.
    std::vector<uint32_t> roots;
    for (const uint32_t owned : instance.graph->Owned(member))
    {
        if (instance.waitsFor[owned] == 0)
        {
            roots.push_back(owned);
        }
    }
    for (const uint32_t root : roots)
    {
        InnerReady(index, root);
    }
}

void
ScheduleExecutor::InnerReady(uint32_t index, uint32_t op)
{
    if (!IsPicked(index, op))
    {
        return;
    }
    if (m_operations) [[unlikely]]
    {
        LogReady(index, op);
    }
    Instance& instance = *m_instances[index];
    const PoolColumns& pools = instance.graph->Description().pools;
    const auto uses = static_cast<uint16_t>(pools.usePtr[op + 1] - pools.usePtr[op]);
    while (instance.poolsHeld[op] < uses)
    {
        const auto use = static_cast<size_t>(pools.usePtr[op] + instance.poolsHeld[op]);
        if (!TakePool(index, op, pools.usePool[use]))
        {
            if (m_operations) [[unlikely]]
            {
                LogPoolWait(index, op, pools.usePool[use]);
            }
            return;
        }
        ++instance.poolsHeld[op];
    }
    InnerStart(index, op);
}

int32_t
ScheduleExecutor::RankOf(uint32_t index, int32_t member) const
{
    const auto group = static_cast<size_t>(m_schedule.instanceGroup[index]);
    return m_schedule.groupRank[static_cast<size_t>(m_schedule.groupPtr[group] + member)];
}

void
ScheduleExecutor::InnerStart(uint32_t index, uint32_t op)
{
    const TemplateGraph& graph = *m_instances[index]->graph;
    const TimePs duration = graph.Description().duration[op];
    if (m_operations) [[unlikely]]
    {
        m_operations->start[m_firstRow[index] + op] = m_loop.Now();
    }
    if (!graph.IsMessage(op))
    {
        m_loop.ScheduleTimer(m_loop.Now() + duration, m_innerEndHandler, Pack(index, op));
    }
    else if (duration > 0)
    {
        m_loop.ScheduleTimer(m_loop.Now() + duration, m_postHandler, Pack(index, op));
    }
    else
    {
        PostMessage(index, op);
    }
}

void
ScheduleExecutor::PostDelayed(uint64_t instanceAndOp)
{
    PostMessage(static_cast<uint32_t>(instanceAndOp >> 32), static_cast<uint32_t>(instanceAndOp));
}

void
ScheduleExecutor::InnerEnd(uint64_t instanceAndOp)
{
    const auto index = static_cast<uint32_t>(instanceAndOp >> 32);
    const auto op = static_cast<uint32_t>(instanceAndOp);
    Instance& instance = *m_instances[index];
    if (m_operations) [[unlikely]]
    {
        m_operations->end[m_firstRow[index] + op] = m_loop.Now();
    }
    ReleaseInner(index, op, EdgeOn::SENT);
    Fire(index, op, EdgeOn::SENT);
    OpOver(index, op);
    instance.isEnded[op] = 1;
    const auto owner = static_cast<uint32_t>(instance.graph->Description().src[op]);
    --instance.partLeft[owner];
    PartProgress(index, owner);
    FreeIfOver(index);
}

void
ScheduleExecutor::Fire(uint32_t index, uint32_t op, EdgeOn moment)
{
    Instance& instance = *m_instances[index];
    for (const uint32_t next : instance.graph->Successors(op, moment))
    {
        const auto owner = static_cast<size_t>(instance.graph->Description().src[next]);
        if (--instance.waitsFor[next] == 0 && instance.hasJoined[owner] != 0)
        {
            InnerReady(index, next);
        }
    }
}

void
ScheduleExecutor::PartProgress(uint32_t index, uint32_t member)
{
    Instance& instance = *m_instances[index];
    if (instance.partLeft[member] == 0 && instance.hasJoined[member] != 0)
    {
        // What is skipped of a choice may find a part's end more than once.
        const int32_t op = std::exchange(instance.outerOp[member], -1);
        if (op < 0)
        {
            return;
        }
        --instance.membersLeft;
        FreeIfOver(index); // A part without messages may be all there is.
        OuterEnd(static_cast<uint64_t>(op));
    }
}

void
ScheduleExecutor::FreeIfOver(uint32_t index)
{
    std::unique_ptr<Instance>& place = m_instances[index];
    if (place && place->membersLeft == 0 && place->opsLeft == 0)
    {
        m_spare.push_back(std::move(place));
        --m_liveInstances;
    }
}

} // namespace ns3
