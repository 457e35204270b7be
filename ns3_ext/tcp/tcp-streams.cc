// SPDX-License-Identifier: GPL-2.0-only
// What is told of messages, and what is counted of them.
#include "tcp-streams.h"

#include <algorithm>

namespace ns3
{

TcpStreams::TcpStreams(const Figures& figures, FabricSimulatorImpl& simulator, TcpHosts& hosts)
    : m_figures(figures),
      m_simulator(simulator),
      m_hosts(hosts),
      m_stagedOut(*this),
      m_called(*this),
      m_copiedIn(*this),
      m_copiedOut(*this),
      m_messageRead(*this),
      m_stagedIn(*this),
      m_chunkStagedIn(*this),
      m_receiveLatencyHandler(*this)
{
}

ContextGuard
TcpStreams::ActAs(RankId rank)
{
    return ContextGuard(m_simulator, m_hosts[rank].node->GetId());
}

// ---------------------------------------------------------------------------------------- moments

TcpStripes*
TcpStreams::NewStripes(uint32_t parts)
{
    TcpStripes* whole = m_stripes.Take();
    whole->partsToSend = parts;
    whole->partsToDeliver = parts;
    whole->partsToAck = parts;
    return whole;
}

void
TcpStreams::ReleaseIfOver(TcpStripes* whole)
{
    if (whole->partsToSend == 0 && whole->partsToDeliver == 0 && whole->partsToAck == 0)
    {
        m_stripes.Give(whole);
    }
}

void
TcpStreams::Passed(TcpConnection& connection, TcpMessage* message)
{
    constexpr uint8_t MOMENTS = 3;
    if (++message->moments < MOMENTS)
    {
        return;
    }
    connection.fillers -= message->size == 0 ? 1 : 0;
    if (connection.last == message)
    {
        connection.last = nullptr;
    }
    m_messages.Give(message);
}

void
TcpStreams::HasLeft(TcpConnection& connection, ByteCount streamEnd)
{
    connection.left = std::max(connection.left, streamEnd);
    while (connection.leaving != nullptr && connection.leaving->end <= connection.left)
    {
        TcpMessage* message = connection.leaving;
        connection.leaving = message->next;
        TellSent(*message);
        Passed(connection, message);
    }
    Write(connection);
}

void
TcpStreams::Acked(TcpConnection& connection, ByteCount streamEnd)
{
    while (connection.acking != nullptr && connection.acking->end <= streamEnd)
    {
        TcpMessage* message = connection.acking;
        connection.acking = message->next;
        TellAcked(*message);
        Passed(connection, message);
    }
    Write(connection);
}

void
TcpStreams::Arrived(TcpMessage* message)
{
    TcpStripes* whole = message->whole;
    if (whole == nullptr)
    {
        TellDelivered(message->id, message->size);
    }
    else
    {
        whole->deliveredBytes += message->size;
        if (--whole->partsToDeliver == 0)
        {
            TellDelivered(message->id, whole->deliveredBytes);
            ReleaseIfOver(whole);
        }
    }
    Passed(*message->connection, message);
}

void
TcpStreams::TellSent(const TcpMessage& message)
{
    TcpStripes* whole = message.whole;
    if (whole != nullptr && --whole->partsToSend != 0)
    {
        return;
    }
    m_listener->MessageSent(message.id);
    if (whole != nullptr)
    {
        ReleaseIfOver(whole);
    }
}

void
TcpStreams::TellAcked(const TcpMessage& message)
{
    TcpStripes* whole = message.whole;
    if (whole != nullptr && --whole->partsToAck != 0)
    {
        return;
    }
    m_listener->MessageAcked(message.id);
    if (whole != nullptr)
    {
        ReleaseIfOver(whole);
    }
}

void
TcpStreams::TellDelivered(MessageId id, ByteCount bytes)
{
    if (m_figures.receiveLatency == 0)
    {
        m_listener->MessageDelivered(id, bytes);
        return;
    }
    EventLoop& loop = m_simulator.Loop();
    m_arrived.emplace_back(id, bytes);
    loop.ScheduleTimer(loop.Now() + m_figures.receiveLatency, m_receiveLatencyHandler, 0);
}

void
TcpStreams::ReceiveLatencyPassed(uint64_t)
{
    const auto [id, bytes] = m_arrived.front();
    m_arrived.pop_front();
    m_listener->MessageDelivered(id, bytes);
}

// --------------------------------------------------------------------------------------- segments

TcpMessage*
TcpStreams::Emitted(TcpConnection& connection, const SegmentBytes& segment, Frame& frame)
{
    SettleHold(connection);
    // Sequence numbers have 32 bits and start at 1, where the stream's bytes start at 0.
    const auto emitted = static_cast<uint32_t>(connection.emitted + 1);
    const ByteCount begin = connection.emitted + static_cast<int32_t>(segment.sequence - emitted);
    const ByteCount end = begin + segment.payloadBytes;
    const uint32_t fillers = connection.fillers == 0 ? 0 : FillersIn(connection, begin, end);
    frame.payloadBytes = segment.payloadBytes - fillers;
    frame.notes->streamEnd = end;
    NicCounters& counters = m_hosts[connection.sender.rank].counters;
    ++connection.segments;
    TcpMessage* first = connection.emitting;
    if (begin < connection.emitted)
    {
        frame.isRepetition = true;
        ++connection.repeatedSegments;
        ++counters.repeatedPackets;
        first = nullptr;
        for (TcpMessage* message = connection.acking;
             message != nullptr && message->begin < std::min(end, connection.emitted);
             message = message->next)
        {
            if (message->end > begin)
            {
                first = first == nullptr ? message : first;
                m_listener->PacketRepeated(message->id);
            }
        }
    }
    else
    {
        ++counters.dataPackets;
    }
    if (end > connection.emitted)
    {
        const ByteCount from = std::max(begin, connection.emitted);
        const ByteCount fresh = end - from - (fillers == 0 ? 0 : FillersIn(connection, from, end));
        counters.sentPayloadBytes += fresh;
        connection.sentBytes += fresh;
        connection.emitted = end;
        while (connection.emitting != nullptr && connection.emitting->end <= end)
        {
            connection.emitting = connection.emitting->next;
        }
    }
    return first;
}

uint32_t
TcpStreams::FillersIn(const TcpConnection& connection, ByteCount begin, ByteCount end)
{
    uint32_t count = 0;
    for (const TcpMessage* message = connection.acking; message != nullptr && message->begin < end;
         message = message->next)
    {
        count += message->size == 0 && message->begin >= begin ? 1 : 0;
    }
    return count;
}

// ---------------------------------------------------------------------------------------- columns

void
TcpStreams::TouchColumns(const TcpMessage& message)
{
    if (message.id < m_columns.srcCore.size() && m_columns.srcCore[message.id] >= 0)
    {
        return; // Of several parts, the first one's.
    }
    if (message.id >= m_columns.srcCore.size())
    {
        const size_t rows = message.id + 1;
        m_columns.srcCore.resize(rows, -1);
        m_columns.dstCore.resize(rows, -1);
        for (std::vector<int64_t>* column : {&m_columns.srcCoreTime,
                                             &m_columns.dstCoreTime,
                                             &m_columns.copyTime,
                                             &m_columns.congestionWindow,
                                             &m_columns.receiveWindow,
                                             &m_columns.sendBuffer})
        {
            column->resize(rows, 0);
        }
    }
    m_columns.srcCore[message.id] = static_cast<int32_t>(message.connection->sender.core);
    m_columns.dstCore[message.id] = static_cast<int32_t>(message.connection->receiver.core);
}

void
TcpStreams::AddWork(const TcpEnd& end, const TcpMessage* message, TimePs work)
{
    if (message != nullptr && work > 0)
    {
        (end.isSender ? m_columns.srcCoreTime : m_columns.dstCoreTime)[message->id] += work;
    }
}

void
TcpStreams::AddCopy(const TcpEnd& end, const TcpMessage* message, ByteCount from, ByteCount to)
{
    const HostStack& stack = *m_hosts[end.rank].stack;
    for (; message != nullptr && message->begin < to; message = message->next)
    {
        const ByteCount bytes = std::min(to, message->end) - std::max(from, message->begin);
        const TimePs work = stack.ServiceTime(CoreWork::COPY, static_cast<uint64_t>(bytes));
        AddWork(end, message, work);
        m_columns.copyTime[message->id] += work;
    }
}

void
TcpStreams::SettleHold(TcpConnection& connection)
{
    const TimePs now = m_simulator.Loop().Now();
    if (connection.emitting != nullptr && connection.hold != TcpHold::NOTHING)
    {
        std::vector<int64_t>& column =
            connection.hold == TcpHold::CONGESTION_WINDOW ? m_columns.congestionWindow
            : connection.hold == TcpHold::RECEIVE_WINDOW  ? m_columns.receiveWindow
                                                          : m_columns.sendBuffer;
        column[connection.emitting->id] += now - connection.holdSince;
    }
    connection.holdSince = now;
}

void
TcpStreams::LookAtHold(TcpConnection& connection)
{
    if (connection.opening != TcpOpening::OPEN)
    {
        return;
    }
    const FabricTcpSocket& socket = *connection.sender.socket;
    TcpHold hold = socket.HoldOf(connection.written - connection.emitted);
    if (connection.copied == connection.emitted && connection.copying == 0 &&
        connection.written - connection.left < m_figures.unsentLimit &&
        CopyableBytes(connection) > 0)
    {
        hold = TcpHold::SEND_BUFFER; // Else it would have been written.
    }
    if (hold != connection.hold)
    {
        SettleHold(connection);
        connection.hold = hold;
    }
}

MessageHostColumns
TcpStreams::MessageColumns(size_t messages) const
{
    MessageHostColumns columns = m_columns;
    if (columns.srcCore.empty())
    {
        return columns;
    }
    columns.srcCore.resize(messages, -1);
    columns.dstCore.resize(messages, -1);
    for (std::vector<int64_t>* column : {&columns.srcCoreTime,
                                         &columns.dstCoreTime,
                                         &columns.copyTime,
                                         &columns.congestionWindow,
                                         &columns.receiveWindow,
                                         &columns.sendBuffer})
    {
        column->resize(messages, 0);
    }
    return columns;
}

} // namespace ns3
