// SPDX-License-Identifier: GPL-2.0-only
#include "schedule-executor.h"

#include "../core/errors.h"

#include <algorithm>
#include <string>

namespace ns3
{

ScheduleExecutor::ScheduleExecutor(const ScheduleDescription& schedule,
                                   EventLoop& loop,
                                   MessageNetwork& network,
                                   TimePs endpointDelay,
                                   SlowdownFactor slowdown,
                                   Fault fault)
    : m_schedule(schedule),
      m_loop(loop),
      m_network(network),
      m_endpointDelay(endpointDelay),
      m_fault(fault),
      m_outerEndHandler(*this),
      m_slowedHandler(*this),
      m_joinHandler(*this),
      m_innerEndHandler(*this),
      m_postHandler(*this),
      m_deliveryHandler(*this),
      m_ackHandler(*this),
      m_dropHandler(*this)
{
    m_network.SetListener(*this);
    m_graphs.reserve(schedule.templates.size());
    for (const TemplateDescription& description : schedule.templates)
    {
        m_graphs.emplace_back(description);
    }
    m_instances.resize(schedule.instanceTemplate.size());
    for (const int32_t index : schedule.instanceTemplate)
    {
        m_firstPick.push_back(m_picked.size());
        const size_t choices = schedule.templates[static_cast<size_t>(index)].choices.Choices();
        m_picked.resize(m_picked.size() + choices, -1);
    }
    m_loads.Reset(static_cast<size_t>(schedule.ranks));
    if (!slowdown.IsOne())
    {
        m_slowdown = std::make_unique<ComputeSlowdown>(slowdown,
                                                       static_cast<size_t>(schedule.ranks),
                                                       loop,
                                                       m_slowedHandler);
    }

    const size_t ops = schedule.Ops();
    m_start.assign(ops, NEVER_PS);
    m_end.assign(ops, NEVER_PS);
    m_poolsHeld.assign(ops, 0);
    m_waitsFor.resize(ops);
    m_pools.Reset(schedule.pools);
    m_successorPtr.assign(ops + 1, 0);
    for (const int32_t before : schedule.depOp)
    {
        ++m_successorPtr[static_cast<size_t>(before) + 1];
    }
    for (size_t op = 0; op < ops; ++op)
    {
        m_successorPtr[op + 1] += m_successorPtr[op];
    }
    m_successor.resize(schedule.depOp.size());
    std::vector<uint32_t> fill(m_successorPtr.begin(), m_successorPtr.end() - 1);
    for (size_t op = 0; op < ops; ++op)
    {
        const auto begin = static_cast<size_t>(schedule.depPtr[op]);
        const auto end = static_cast<size_t>(schedule.depPtr[op + 1]);
        m_waitsFor[op] = static_cast<uint32_t>(end - begin);
        for (size_t edge = begin; edge < end; ++edge)
        {
            m_successor[fill[static_cast<size_t>(schedule.depOp[edge])]++] =
                static_cast<uint32_t>(op);
        }
    }
    size_t messages = fault == Fault::DOUBLE_MESSAGE ? 1 : 0;
    for (const int32_t index : schedule.instanceTemplate)
    {
        messages += m_graphs[static_cast<size_t>(index)].Messages();
    }
    m_log.Reserve(messages);
    if (fault == Fault::SWAP_SIZES)
    {
        PlanSwap();
    }
}

void
ScheduleExecutor::WatchOperations()
{
    size_t rows = 0;
    m_firstRow.clear();
    for (const int32_t index : m_schedule.instanceTemplate)
    {
        m_firstRow.push_back(rows);
        rows += m_graphs[static_cast<size_t>(index)].Ops();
    }
    m_operations = std::make_unique<OperationLog>();
    m_operations->Reset(rows);
}

void
ScheduleExecutor::LogReady(uint32_t index, uint32_t op)
{
    // Whoever is granted a pool comes here once more.
    TimePs& ready = m_operations->ready[m_firstRow[index] + op];
    ready = ready == NEVER_PS ? m_loop.Now() : ready;
}

void
ScheduleExecutor::LogPoolWait(uint32_t index, uint32_t op, int32_t pool)
{
    m_operations->Waits(m_firstRow[index] + op, pool, m_loop.Now());
}

void
ScheduleExecutor::Start()
{
    // Whatever these start may make others ready; those have their own way to OuterReady.
    std::vector<uint32_t> roots;
    for (uint32_t op = 0; op < m_schedule.Ops(); ++op)
    {
        if (m_waitsFor[op] == 0)
        {
            roots.push_back(op);
        }
    }
    for (const uint32_t op : roots)
    {
        OuterReady(op);
    }
    CheckCompletion();
}

// ----------------------------------------------------------------- operations of the schedule

void
ScheduleExecutor::OuterReady(uint32_t op)
{
    const PoolColumns& pools = m_schedule.pools;
    const auto uses = static_cast<uint16_t>(pools.usePtr[op + 1] - pools.usePtr[op]);
    while (m_poolsHeld[op] < uses)
    {
        const auto use = static_cast<size_t>(pools.usePtr[op] + m_poolsHeld[op]);
        if (!m_pools.Take(static_cast<size_t>(pools.usePool[use]),
                          Pack(OUTER, op),
                          m_schedule.priority[op]))
        {
            return;
        }
        ++m_poolsHeld[op];
    }
    OuterStart(op);
}

void
ScheduleExecutor::OuterStart(uint32_t op)
{
    m_start[op] = m_loop.Now();
    if (m_schedule.kind[op] != OuterKind::COLLECTIVE)
    {
        if (m_slowdown)
        {
            m_slowdown->BeginWork(op, m_schedule.rank[op], m_schedule.duration[op]);
            return;
        }
        m_loop.ScheduleTimer(m_loop.Now() + m_schedule.duration[op], m_outerEndHandler, op);
        return;
    }
    if (m_slowdown && IsOfCollective(op))
    {
        m_slowdown->BeginCollective(m_schedule.rank[op]);
    }
    const auto instance = static_cast<uint32_t>(m_schedule.instance[op]);
    const auto index = static_cast<size_t>(m_schedule.instanceTemplate[instance]);
    if (m_endpointDelay == 0 || m_graphs[index].Ops() == 0)
    {
        Join(op);
    }
    else
    {
        m_loop.ScheduleTimer(m_loop.Now() + m_endpointDelay, m_joinHandler, op);
    }
}

bool
ScheduleExecutor::IsOfCollective(uint32_t op) const
{
    if (m_schedule.kind[op] != OuterKind::COLLECTIVE)
    {
        return false;
    }
    const auto instance = static_cast<size_t>(m_schedule.instance[op]);
    const auto index = static_cast<size_t>(m_schedule.instanceTemplate[instance]);
    return !m_schedule.templates[index].isFlows;
}

void
ScheduleExecutor::SlowedTimer(uint64_t argument)
{
    const auto op = static_cast<uint32_t>(argument);
    if (m_slowdown->IsEnded(op, m_schedule.rank[op]))
    {
        OuterEnd(op);
    }
    else
    {
        CheckCompletion();
    }
}

void
ScheduleExecutor::OuterEnd(uint64_t op)
{
    m_ended.push_back(static_cast<uint32_t>(op));
    if (m_isFinishing)
    {
        return;
    }
    m_isFinishing = true;
    for (size_t i = 0; i < m_ended.size(); ++i)
    {
        FinishOuter(m_ended[i]);
    }
    m_ended.clear();
    m_isFinishing = false;
    CheckCompletion();
}

void
ScheduleExecutor::FinishOuter(uint32_t op)
{
    m_end[op] = m_loop.Now();
    ++m_doneOps;
    if (m_slowdown && IsOfCollective(op))
    {
        m_slowdown->EndCollective(m_schedule.rank[op]);
    }
    const PoolColumns& pools = m_schedule.pools;
    for (int64_t use = pools.usePtr[op]; use < pools.usePtr[op + 1]; ++use)
    {
        const auto pool = static_cast<size_t>(pools.usePool[static_cast<size_t>(use)]);
        Granted(m_pools.Release(pool));
    }
    for (uint32_t i = m_successorPtr[op]; i < m_successorPtr[op + 1]; ++i)
    {
        if (--m_waitsFor[m_successor[i]] == 0)
        {
            OuterReady(m_successor[i]);
        }
    }
}

void
ScheduleExecutor::CheckCompletion()
{
    if (IsComplete() && (!m_slowdown || m_slowdown->IsQuiet()) && m_completed)
    {
        const auto completed = std::exchange(m_completed, nullptr);
        completed();
    }
}

// ------------------------------------------------------------------ operations of an instance

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
