// SPDX-License-Identifier: GPL-2.0-only
// Messages as bytes of streams: who writes them when, and when their moments are.
#include "tcp-transport.h"

#include <algorithm>
#include <limits>

namespace ns3
{

void
TcpTransport::SetListener(MessageListener& listener)
{
    m_listener = &listener;
    m_scaleUp.SetListener(listener);
}

void
TcpTransport::Post(const MessageRequest& request)
{
    if (PeerOf(request.src, request.dst, request.priority).isScaleUp)
    {
        m_scaleUp.Post(request);
        return;
    }
    if (m_sendLatency == 0)
    {
        Submit(request);
        return;
    }
    EventLoop& loop = m_fabric.Loop();
    m_submitted.push_back(request);
    loop.ScheduleTimer(loop.Now() + m_sendLatency, m_sendLatencyHandler, 0);
}

void
TcpTransport::SendLatencyPassed(uint64_t)
{
    const MessageRequest request = m_submitted.front();
    m_submitted.pop_front();
    Submit(request);
}

void
TcpTransport::Submit(const MessageRequest& request)
{
    Expect(request.src, request.dst, request.priority);
    Peer& peer = PeerOf(request.src, request.dst, request.priority);
    const auto sockets = static_cast<uint32_t>(peer.connections.size());
    const auto take = [&peer, sockets]() -> TcpConnection& {
        TcpConnection& connection = *peer.connections[peer.next];
        peer.next = (peer.next + 1) % sockets;
        return connection;
    };
    const ByteCount segments =
        std::max<ByteCount>((request.size + m_segmentBytes - 1) / m_segmentBytes, 1);
    const ByteCount parts = m_figures.socketPolicy == SocketPolicy::STRIPED
                                ? std::min<ByteCount>(sockets, segments)
                                : ByteCount{1};
    if (parts == 1)
    {
        Append(take(), request.id, request.size, nullptr);
        return;
    }
    TcpStripes* whole = m_stripes.Take();
    whole->partsToSend = static_cast<uint32_t>(parts);
    whole->partsToDeliver = whole->partsToSend;
    whole->partsToAck = whole->partsToSend;
    ByteCount rest = request.size;
    for (ByteCount part = 0; part < parts; ++part)
    {
        const ByteCount count = segments / parts + (part < segments % parts ? 1 : 0);
        const ByteCount size = std::min<ByteCount>(count * m_segmentBytes, rest);
        rest -= size;
        Append(take(), request.id, size, whole);
    }
}

void
TcpTransport::Append(TcpConnection& connection, MessageId id, ByteCount size, TcpStripes* whole)
{
    TcpMessage* message = m_messages.Take();
    message->id = id;
    message->whole = whole;
    message->size = size;
    message->begin = connection.posted;
    message->end = connection.posted + std::max<ByteCount>(size, 1);
    connection.posted = message->end;
    connection.fillers += size == 0 ? 1 : 0;
    if (connection.last != nullptr)
    {
        connection.last->next = message;
    }
    connection.last = message;
    for (TcpMessage** first :
         {&connection.writing, &connection.leaving, &connection.reading, &connection.acking})
    {
        if (*first == nullptr)
        {
            *first = message;
        }
    }
    if (connection.opening == TcpOpening::CLOSED)
    {
        const ContextGuard guard = ActAs(connection.sender.rank);
        Open(connection);
    }
    Write(connection);
}

void
TcpTransport::Write(TcpConnection& connection)
{
    if (connection.opening != TcpOpening::OPEN || connection.writing == nullptr)
    {
        return;
    }
    const ContextGuard guard = ActAs(connection.sender.rank);
    FabricTcpSocket& socket = *connection.sender.socket;
    while (connection.writing != nullptr)
    {
        const ByteCount unsent = connection.written - connection.left;
        if (unsent >= connection.unsentLimit)
        {
            return;
        }
        // What the socket then has not emitted is whole segments, but for a message's end.
        const ByteCount kept = connection.written - connection.emitted;
        const ByteCount upTo = kept + connection.unsentLimit - unsent;
        const ByteCount wanted =
            (upTo + m_segmentBytes - 1) / m_segmentBytes * m_segmentBytes - kept;
        ByteCount bytes = std::min(wanted, connection.writing->end - connection.written);
        const ByteCount room = socket.GetTxAvailable();
        if (bytes > room)
        {
            bytes = (kept + room) / m_segmentBytes * m_segmentBytes - kept;
        }
        if (bytes <= 0)
        {
            return; // An acknowledgement makes room.
        }
        connection.written += bytes;
        if (connection.written == connection.writing->end)
        {
            connection.writing = connection.writing->next;
        }
        socket.Send(Create<Packet>(static_cast<uint32_t>(bytes)), 0);
    }
}

void
TcpTransport::SegmentHasLeft(uint64_t argument)
{
    auto* departure = reinterpret_cast<Departure*>(argument);
    TcpConnection& connection = *departure->connection;
    connection.left = std::max(connection.left, departure->streamEnd);
    m_departures.Give(departure);
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
TcpTransport::Acked(TcpConnection& connection, ByteCount bytes)
{
    connection.acked = bytes;
    while (connection.acking != nullptr && connection.acking->end <= bytes)
    {
        TcpMessage* message = connection.acking;
        connection.acking = message->next;
        TellAcked(*message);
        Passed(connection, message);
    }
    Write(connection);
}

void
TcpTransport::DataCame(Ptr<Socket> socket)
{
    TcpConnection& connection = *DynamicCast<FabricTcpSocket>(socket)->End()->connection;
    const Ptr<Packet> data = socket->Recv(std::numeric_limits<uint32_t>::max(), 0);
    if (!data)
    {
        return;
    }
    const ByteCount bytes = data->GetSize();
    NicCounters& counters = m_hosts[connection.receiver.rank].counters;
    counters.receivedPayloadBytes += bytes;
    connection.read += bytes;
    while (connection.reading != nullptr && connection.reading->end <= connection.read)
    {
        TcpMessage* message = connection.reading;
        connection.reading = message->next;
        counters.receivedPayloadBytes -= message->size == 0 ? 1 : 0;
        TellRead(*message);
        Passed(connection, message);
    }
}

void
TcpTransport::Passed(TcpConnection& connection, TcpMessage* message)
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
TcpTransport::TellSent(const TcpMessage& message)
{
    if (message.whole == nullptr || --message.whole->partsToSend == 0)
    {
        m_listener->MessageSent(message.id);
    }
}

void
TcpTransport::TellAcked(const TcpMessage& message)
{
    TcpStripes* whole = message.whole;
    if (whole != nullptr && --whole->partsToAck != 0)
    {
        return;
    }
    m_listener->MessageAcked(message.id);
    if (whole != nullptr)
    {
        m_stripes.Give(whole); // All parts were delivered, and sent, before they were acknowledged.
    }
}

void
TcpTransport::TellRead(const TcpMessage& message)
{
    ByteCount bytes = message.size;
    if (TcpStripes* whole = message.whole; whole != nullptr)
    {
        whole->deliveredBytes += bytes;
        if (--whole->partsToDeliver != 0)
        {
            return;
        }
        bytes = whole->deliveredBytes;
    }
    TellDelivered(message.id, bytes);
}

void
TcpTransport::TellDelivered(MessageId id, ByteCount bytes)
{
    if (m_receiveLatency == 0)
    {
        m_listener->MessageDelivered(id, bytes);
        return;
    }
    EventLoop& loop = m_fabric.Loop();
    m_arrived.emplace_back(id, bytes);
    loop.ScheduleTimer(loop.Now() + m_receiveLatency, m_receiveLatencyHandler, 0);
}

void
TcpTransport::ReceiveLatencyPassed(uint64_t)
{
    const auto [id, bytes] = m_arrived.front();
    m_arrived.pop_front();
    m_listener->MessageDelivered(id, bytes);
}

} // namespace ns3
