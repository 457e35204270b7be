// SPDX-License-Identifier: GPL-2.0-only
// The receiving application: from the socket, and from host memory to accelerator memory.
#include "tcp-streams.h"

#include <algorithm>

namespace ns3
{

namespace
{

/// Largest piece that is read at a time where that takes time: what GRO hands up at most.
constexpr ByteCount READ_PIECE = 65536;

} // namespace

void
TcpStreams::DataCame(Ptr<Socket> socket)
{
    Read(*DynamicCast<FabricTcpSocket>(socket)->End()->connection);
}

void
TcpStreams::Read(TcpConnection& connection)
{
    if (connection.isReading)
    {
        return;
    }
    connection.isReading = true;
    const TcpEnd& end = connection.receiver;
    HostStack& stack = *m_hosts[end.rank].stack;
    while (end.socket->Readable() > 0)
    {
        connection.reading = std::min<ByteCount>(end.socket->Readable(), READ_PIECE);
        AddCopy(end, connection.arriving, connection.read, connection.read + connection.reading);
        stack.Work(end.core,
                   CoreWork::COPY,
                   static_cast<uint64_t>(connection.reading),
                   m_copiedOut,
                   reinterpret_cast<uint64_t>(&connection));
        if (connection.reading > 0)
        {
            connection.isReadLate = true;
            return;
        }
    }
    connection.isReading = false;
}

void
TcpStreams::CopiedOut(uint64_t argument)
{
    TcpConnection& connection = *reinterpret_cast<TcpConnection*>(argument);
    const TcpEnd& end = connection.receiver;
    const ContextGuard guard = ActAs(end.rank);
    TcpHost& host = m_hosts[end.rank];
    end.socket->Recv(static_cast<uint32_t>(connection.reading), 0);
    host.counters.receivedPayloadBytes += connection.reading;
    connection.read += connection.reading;
    connection.reading = 0;
    const bool isLate = connection.isReadLate;
    connection.isReadLate = false;
    if (isLate)
    {
        end.socket->TellWindow();
    }
    while (connection.arriving != nullptr && connection.arriving->end <= connection.read)
    {
        TcpMessage* message = connection.arriving;
        connection.arriving = message->next;
        host.counters.receivedPayloadBytes -= message->size == 0 ? 1 : 0;
        AddWork(end, message, host.stack->ServiceTime(CoreWork::MESSAGE, 1));
        host.stack->Work(end.core,
                         CoreWork::MESSAGE,
                         1,
                         m_messageRead,
                         reinterpret_cast<uint64_t>(message));
    }
    if (end.isStaged && connection.arriving != nullptr && connection.arriving->size > 0)
    {
        StageIn(connection, *connection.arriving, connection.read);
    }
    if (isLate)
    {
        connection.isReading = false;
        Read(connection);
    }
}

void
TcpStreams::MessageRead(uint64_t argument)
{
    auto* message = reinterpret_cast<TcpMessage*>(argument);
    if (message->connection->receiver.isStaged && message->size > 0)
    {
        StageIn(*message->connection, *message, message->end);
    }
    else
    {
        Arrived(message);
    }
}

void
TcpStreams::StageIn(TcpConnection& connection, TcpMessage& message, ByteCount upTo)
{
    const TcpHost& host = m_hosts[connection.receiver.rank];
    const ByteCount length = message.end - message.begin;
    while (message.unloaded < length)
    {
        const ByteCount bytes = std::min(host.stack->StagingChunk(), length - message.unloaded);
        if (message.begin + message.unloaded + bytes > upTo)
        {
            return; // Not all of the chunk has been read.
        }
        message.unloaded += bytes;
        if (message.unloaded == length)
        {
            // Copies of a rank are over in their order, so this is the message's end.
            host.stack->StageIn(host.localRank,
                                bytes,
                                m_stagedIn,
                                reinterpret_cast<uint64_t>(&message));
            return;
        }
        host.stack->StageIn(host.localRank, bytes, m_chunkStagedIn, 0);
    }
}

void
TcpStreams::StagedIn(uint64_t message)
{
    Arrived(reinterpret_cast<TcpMessage*>(message));
}

void
TcpStreams::ChunkStagedIn(uint64_t)
{
    // Nobody waits for it but the chunks behind it.
}

} // namespace ns3
