// SPDX-License-Identifier: GPL-2.0-only
// The sending application: from accelerator memory to host memory, and into the socket.
#include "tcp-streams.h"

#include <algorithm>

namespace ns3
{

namespace
{

/// So many bytes more that what is kept in the socket then ends with a whole unit.
ByteCount
UpToUnit(ByteCount kept, ByteCount atMost, ByteCount unit)
{
    return (kept + atMost) / unit * unit - kept;
}

} // namespace

void
TcpStreams::Append(TcpConnection& connection, MessageId id, ByteCount size, TcpStripes* whole)
{
    TcpMessage* message = m_messages.Take();
    message->id = id;
    message->whole = whole;
    message->connection = &connection;
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
    for (TcpMessage** first : {&connection.calling,
                               &connection.opened,
                               &connection.filling,
                               &connection.writing,
                               &connection.emitting,
                               &connection.leaving,
                               &connection.arriving,
                               &connection.acking})
    {
        *first = *first == nullptr ? message : *first;
    }
    TouchColumns(*message);
    if (connection.sender.isStaged && size > 0)
    {
        StageOut(connection, *message);
        return;
    }
    if (connection.lastChunk != nullptr)
    {
        connection.lastChunk->end = message->end; // Nothing to copy, but behind what is.
        return;
    }
    connection.staged = connection.posted;
    CallFor(connection);
    Write(connection);
}

void
TcpStreams::StageOut(TcpConnection& connection, TcpMessage& message)
{
    const TcpHost& host = m_hosts[connection.sender.rank];
    const ByteCount most = host.stack->StagingChunk();
    const ByteCount end = message.end; // It may be over before its last chunk's call comes back.
    for (ByteCount from = message.begin; from < end;)
    {
        const ByteCount bytes = std::min(most, end - from);
        from += bytes;
        TcpChunk* chunk = m_chunks.Take();
        chunk->connection = &connection;
        chunk->end = from;
        connection.lastChunk = chunk;
        host.stack->StageOut(host.localRank, bytes, m_stagedOut, reinterpret_cast<uint64_t>(chunk));
    }
}

void
TcpStreams::StagedOut(uint64_t argument)
{
    auto* chunk = reinterpret_cast<TcpChunk*>(argument);
    TcpConnection& connection = *chunk->connection;
    connection.staged = chunk->end;
    if (connection.lastChunk == chunk)
    {
        connection.lastChunk = nullptr;
    }
    m_chunks.Give(chunk);
    CallFor(connection);
    Write(connection);
}

void
TcpStreams::CallFor(TcpConnection& connection)
{
    HostStack& stack = *m_hosts[connection.sender.rank].stack;
    while (connection.calling != nullptr && connection.staged > connection.calling->begin)
    {
        TcpMessage* message = connection.calling;
        connection.calling = message->next;
        AddWork(connection.sender, message, stack.ServiceTime(CoreWork::MESSAGE, 1));
        stack.Work(connection.sender.core,
                   CoreWork::MESSAGE,
                   1,
                   m_called,
                   reinterpret_cast<uint64_t>(&connection));
    }
}

void
TcpStreams::Called(uint64_t argument)
{
    TcpConnection& connection = *reinterpret_cast<TcpConnection*>(argument);
    // The calls of a connection are over in their order: one core makes them.
    connection.called = connection.opened->end;
    connection.opened = connection.opened->next;
    Write(connection);
}

ByteCount
TcpStreams::CopyableBytes(const TcpConnection& connection)
{
    return std::min(connection.staged, connection.called) - connection.copied;
}

void
TcpStreams::Write(TcpConnection& connection)
{
    if (connection.opening != TcpOpening::OPEN || connection.isWriting ||
        connection.writing == nullptr)
    {
        return;
    }
    const ContextGuard guard = ActAs(connection.sender.rank);
    connection.isWriting = true;
    Copy(connection);
    HandDown(connection);
    connection.isWriting = false;
    LookAtHold(connection);
}

void
TcpStreams::Copy(TcpConnection& connection)
{
    const FabricTcpSocket& socket = *connection.sender.socket;
    HostStack& stack = *m_hosts[connection.sender.rank].stack;
    const ByteCount segment = m_figures.segmentBytes;
    while (connection.copying == 0 && CopyableBytes(connection) > 0)
    {
        const ByteCount room = socket.GetTxAvailable() - (connection.copied - connection.written);
        const ByteCount wanted = std::min({m_figures.writeUnit,
                                           CopyableBytes(connection),
                                           connection.filling->end - connection.copied});
        const ByteCount bytes = wanted <= room ? wanted : UpToUnit(0, room, segment);
        if (bytes == 0)
        {
            return; // An acknowledgement makes room.
        }
        connection.copying = bytes;
        AddCopy(connection.sender,
                connection.filling,
                connection.copied,
                connection.copied + bytes);
        stack.Work(connection.sender.core,
                   CoreWork::COPY,
                   static_cast<uint64_t>(bytes),
                   m_copiedIn,
                   reinterpret_cast<uint64_t>(&connection));
    }
}

void
TcpStreams::CopiedIn(uint64_t argument)
{
    TcpConnection& connection = *reinterpret_cast<TcpConnection*>(argument);
    connection.copied += connection.copying;
    connection.copying = 0;
    if (connection.copied == connection.filling->end)
    {
        connection.filling = connection.filling->next;
    }
    Write(connection); // Which goes on by itself where it takes no time.
}

void
TcpStreams::HandDown(TcpConnection& connection)
{
    const ByteCount unit = m_figures.writeUnit;
    while (connection.written < connection.copied)
    {
        const ByteCount unsent = connection.written - connection.left;
        if (unsent >= m_figures.unsentLimit)
        {
            return;
        }
        // What the socket then has not emitted is whole units, but for a message's end.
        const ByteCount kept = connection.written - connection.emitted;
        const ByteCount there = connection.copied - connection.written;
        ByteCount bytes = std::min(UpToUnit(kept, m_figures.unsentLimit - unsent + unit - 1, unit),
                                   connection.writing->end - connection.written);
        bytes = bytes <= there ? bytes : UpToUnit(kept, there, m_figures.segmentBytes);
        if (bytes <= 0)
        {
            return; // More of the message is to come.
        }
        connection.written += bytes;
        if (connection.written == connection.writing->end)
        {
            connection.writing = connection.writing->next;
        }
        connection.sender.socket->Send(Create<Packet>(static_cast<uint32_t>(bytes)), 0);
    }
}

} // namespace ns3
