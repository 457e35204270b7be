// SPDX-License-Identifier: GPL-2.0-only
// The half of ScheduleExecutor that meets the network: posts, moments, notifications, faults.
#include "../core/errors.h"
#include "schedule-executor.h"

#include <set>
#include <tuple>

namespace ns3
{

void
ScheduleExecutor::Announce() const
{
    // Collectives of the same kind, group and priority use the same pairs.
    std::set<std::tuple<int32_t, int32_t, uint8_t>> told;
    for (uint32_t index = 0; index < m_schedule.instanceTemplate.size(); ++index)
    {
        const int32_t number = m_schedule.instanceTemplate[index];
        const int32_t group = m_schedule.instanceGroup[index];
        const uint8_t priority = m_schedule.instancePriority[index];
        if (!told.emplace(number, group, priority).second)
        {
            continue;
        }
        const TemplateDescription& description = m_schedule.templates[static_cast<size_t>(number)];
        for (uint32_t op = 0; op < description.Ops(); ++op)
        {
            if (description.kind[op] == OpKind::SEND)
            {
                m_network.Expect(static_cast<RankId>(RankOf(index, description.src[op])),
                                 static_cast<RankId>(RankOf(index, description.dst[op])),
                                 description.IsControl(op) ? MAX_MESSAGE_PRIORITY : priority);
            }
        }
    }
}

void
ScheduleExecutor::PostMessage(uint32_t index, uint32_t op)
{
    const TemplateDescription& description = m_instances[index]->graph->Description();
    ByteCount size = description.size[op];
    const uint64_t here = Pack(index, op);
    if (here == m_swapped.first)
    {
        size = m_swappedSize.second;
    }
    else if (here == m_swapped.second)
    {
        size = m_swappedSize.first;
    }
    const MessageRow row{static_cast<int32_t>(index),
                         static_cast<int32_t>(op),
                         description.src[op],
                         description.dst[op],
                         size,
                         m_loop.Now()};
    const MessageId id = m_rows.Append(row);
    ++m_openMessages;
    if (m_fault == Fault::DROP_MESSAGE && id == 0)
    {
        m_loop.ScheduleTimer(m_loop.Now(), m_dropHandler, id);
        return;
    }
    MessageRequest request{id,
                           static_cast<RankId>(RankOf(index, row.src)),
                           static_cast<RankId>(RankOf(index, row.dst)),
                           size,
                           PriorityOf(index, op)};
    m_network.Post(request);
    if (m_fault == Fault::DOUBLE_MESSAGE && id == 0)
    {
        m_ghost = m_rows.Append(row);
        ++m_openMessages;
        request.id = m_ghost;
        m_network.Post(request);
    }
}

uint8_t
ScheduleExecutor::PriorityOf(uint32_t index, uint32_t op) const
{
    // What only controls is short, and much waits for it: Meta's switches, too, let it pass.
    return m_instances[index]->graph->Description().IsControl(op)
               ? MAX_MESSAGE_PRIORITY
               : m_schedule.instancePriority[index];
}

void
ScheduleExecutor::MessageSent(MessageId id)
{
    MessageRow& row = m_rows[id];
    row.sent = m_loop.Now();
    if (id == m_ghost)
    {
        return;
    }
    const auto index = static_cast<uint32_t>(row.instance);
    const auto op = static_cast<uint32_t>(row.op);
    const auto member = static_cast<uint32_t>(row.src);
    Instance& instance = *m_instances[index];
    ReleaseInner(index, op, EdgeOn::SENT);
    Fire(index, op, EdgeOn::SENT);
    --instance.partLeft[member];
    PartProgress(index, member);
}

void
ScheduleExecutor::MessageDelivered(MessageId id, ByteCount bytes)
{
    MessageRow& row = m_rows[id];
    row.delivered = m_loop.Now();
    row.deliveredBytes += bytes;
    MomentCame(id, EdgeOn::DELIVERED, m_deliveryHandler);
}

void
ScheduleExecutor::MessageAcked(MessageId id)
{
    m_rows[id].acked = m_loop.Now();
    MomentCame(id, EdgeOn::ACKED, m_ackHandler);
}

void
ScheduleExecutor::MomentCame(MessageId id, EdgeOn moment, EventHandler& handler)
{
    // A receive latency may put the delivery after the acknowledgement.
    const MessageRow& row = m_rows[id];
    const bool isOver = row.delivered != NEVER_PS && row.acked != NEVER_PS;
    m_openMessages -= isOver ? 1 : 0;
    if (id != m_ghost)
    {
        const auto index = static_cast<uint32_t>(row.instance);
        const auto op = static_cast<uint32_t>(row.op);
        if (isOver)
        {
            OpOver(index, op);
        }
        ReleaseInner(index, op, moment);
        NotifyLater(id, moment, handler);
        FreeIfOver(index);
    }
    CheckCompletion();
}

void
ScheduleExecutor::PacketRepeated(MessageId id)
{
    m_rows.CountRepeated(id);
}

void
ScheduleExecutor::NotifyLater(MessageId id, EdgeOn moment, EventHandler& handler)
{
    const MessageRow& row = m_rows[id];
    const Instance& instance = *m_instances[static_cast<size_t>(row.instance)];
    const TemplateGraph& graph = *instance.graph;
    const bool isAwaited = graph.Description().notifyOn == moment ||
                           !graph.Successors(static_cast<uint32_t>(row.op), moment).empty();
    if (!isAwaited)
    {
        return;
    }
    if (m_endpointDelay == 0)
    {
        Notify(id, moment);
    }
    else
    {
        m_loop.ScheduleTimer(m_loop.Now() + m_endpointDelay, handler, id);
    }
}

void
ScheduleExecutor::DeliveryNotified(uint64_t id)
{
    Notify(static_cast<MessageId>(id), EdgeOn::DELIVERED);
}

void
ScheduleExecutor::AckNotified(uint64_t id)
{
    Notify(static_cast<MessageId>(id), EdgeOn::ACKED);
}

void
ScheduleExecutor::Notify(MessageId id, EdgeOn moment)
{
    const MessageRow& row = m_rows[id];
    const auto index = static_cast<uint32_t>(row.instance);
    const auto member = static_cast<uint32_t>(row.dst);
    Instance& instance = *m_instances[index];
    const EdgeOn notifyOn = instance.graph->Description().notifyOn;
    Fire(index, static_cast<uint32_t>(row.op), moment);
    if (notifyOn == moment)
    {
        --instance.partLeft[member];
        PartProgress(index, member);
    }
}

void
ScheduleExecutor::DropMessage(uint64_t argument)
{
    const auto id = static_cast<MessageId>(argument);
    MessageSent(id);
    MessageDelivered(id, 0);
    MessageAcked(id);
}

void
ScheduleExecutor::PlanSwap()
{
    uint64_t first = NO_OPERATION;
    for (uint32_t index = 0; index < m_schedule.instanceTemplate.size(); ++index)
    {
        const auto number = static_cast<size_t>(m_schedule.instanceTemplate[index]);
        const TemplateDescription& description = m_schedule.templates[number];
        for (uint32_t op = 0; op < description.Ops(); ++op)
        {
            if (description.kind[op] != OpKind::SEND)
            {
                continue;
            }
            if (first == NO_OPERATION)
            {
                first = Pack(index, op);
                m_swappedSize.first = description.size[op];
            }
            else if (description.size[op] != m_swappedSize.first)
            {
                m_swapped = {first, Pack(index, op)};
                m_swappedSize.second = description.size[op];
                return;
            }
        }
    }
    throw InvariantError("fault swap_sizes: the schedule has no two messages of different sizes");
}

} // namespace ns3
