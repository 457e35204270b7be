// SPDX-License-Identifier: GPL-2.0-only
#include "schedule-executor.h"

#include <utility>

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
    m_rows = MessageRows(messages);
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

} // namespace ns3
