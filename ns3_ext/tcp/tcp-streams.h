// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_STREAMS_H
#define ASTRA_TCP_STREAMS_H

#include "../core/fabric-simulator-impl.h"
#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "../core/slab.h"
#include "segment-bytes.h"
#include "tcp-columns.h"
#include "tcp-connection.h"
#include "tcp-host.h"

#include "ns3/ptr.h"
#include "ns3/socket.h"

#include <cstdint>
#include <deque>
#include <utility>

namespace ns3
{

/**
 * The applications at both ends: messages are written into streams and read from them, chunk by
 * chunk through their hosts, and their moments are told.
 *
 * The sources are by direction: tcp-streams-writing, tcp-streams-reading; tcp-streams has what is
 * told and counted.
 */
class TcpStreams
{
  public:
    /// How messages are written.
    struct Figures
    {
        uint32_t segmentBytes; ///< Payload of a full segment.
        ByteCount
            unsentLimit;     ///< Bytes handed to a socket that have not left, up to which more are.
        ByteCount writeUnit; ///< Bytes that are copied, and handed down, at a time: whole segments.
        TimePs receiveLatency;
    };

    TcpStreams(const Figures& figures, FabricSimulatorImpl& simulator, TcpHosts& hosts);

    TcpStreams(const TcpStreams&) = delete;
    TcpStreams& operator=(const TcpStreams&) = delete;

    void SetListener(MessageListener& listener)
    {
        m_listener = &listener;
    }

    /// A message that goes over so many connections.
    TcpStripes* NewStripes(uint32_t parts);

    /// A message, or a part of one, is the next of a connection's stream.
    void Append(TcpConnection& connection, MessageId id, ByteCount size, TcpStripes* whole);

    /// Let the application of a connection write what it may.
    void Write(TcpConnection& connection);

    /// Data have come to the receiving socket of a connection.
    void DataCame(Ptr<Socket> socket);

    /**
     * A segment with payload comes from TCP.
     *
     * @param connection Whose sender it is of.
     * @param segment Its numbers.
     * @param frame Gets what the fabric has to know of it.
     * @return The message of its first byte, or none where that is over.
     */
    TcpMessage* Emitted(TcpConnection& connection, const SegmentBytes& segment, Frame& frame);

    /// A stream has left its NIC up to there.
    void HasLeft(TcpConnection& connection, ByteCount streamEnd);

    /// A stream is known to have arrived up to there.
    void Acked(TcpConnection& connection, ByteCount streamEnd);

    /// What holds a stream's next byte may be another thing now.
    void LookAtHold(TcpConnection& connection);

    /// Time of a core for a message at an end of its connection; none: the message is over.
    void AddWork(const TcpEnd& end, const TcpMessage* message, TimePs work);

    /// What hosts did for each message of so many.
    MessageHostColumns MessageColumns(size_t messages) const;

  private:
    // Writing.
    void StageOut(TcpConnection& connection, TcpMessage& message);
    void StagedOut(uint64_t chunk);
    void CallFor(TcpConnection& connection);
    void Called(uint64_t connection);
    static ByteCount CopyableBytes(const TcpConnection& connection);
    void Copy(TcpConnection& connection);
    void CopiedIn(uint64_t connection);
    void HandDown(TcpConnection& connection);

    // Reading.
    void Read(TcpConnection& connection);
    void CopiedOut(uint64_t connection);
    void MessageRead(uint64_t message);
    void StageIn(TcpConnection& connection, TcpMessage& message, ByteCount upTo);
    void StagedIn(uint64_t message);
    void ChunkStagedIn(uint64_t unused);

    // Moments.
    void Passed(TcpConnection& connection, TcpMessage* message);
    void TellSent(const TcpMessage& message);
    void TellAcked(const TcpMessage& message);
    void Arrived(TcpMessage* message);
    void ReleaseIfOver(TcpStripes* whole);
    void SettleHold(TcpConnection& connection);
    void TellDelivered(MessageId id, ByteCount bytes);
    void ReceiveLatencyPassed(uint64_t unused);
    static uint32_t FillersIn(const TcpConnection& connection, ByteCount begin, ByteCount end);
    void AddCopy(const TcpEnd& end, const TcpMessage* message, ByteCount from, ByteCount to);
    void TouchColumns(const TcpMessage& message);
    ContextGuard ActAs(RankId rank);

    const Figures m_figures;
    FabricSimulatorImpl& m_simulator;
    TcpHosts& m_hosts;
    MessageListener* m_listener{nullptr};
    Slab<TcpMessage> m_messages;
    Slab<TcpStripes> m_stripes;
    Slab<TcpChunk> m_chunks;
    std::deque<std::pair<MessageId, ByteCount>> m_arrived; ///< Wait for the receive latency.
    MessageHostColumns m_columns;

    MemberWorkDone<TcpStreams, &TcpStreams::StagedOut> m_stagedOut;
    MemberWorkDone<TcpStreams, &TcpStreams::Called> m_called;
    MemberWorkDone<TcpStreams, &TcpStreams::CopiedIn> m_copiedIn;
    MemberWorkDone<TcpStreams, &TcpStreams::CopiedOut> m_copiedOut;
    MemberWorkDone<TcpStreams, &TcpStreams::MessageRead> m_messageRead;
    MemberWorkDone<TcpStreams, &TcpStreams::StagedIn> m_stagedIn;
    MemberWorkDone<TcpStreams, &TcpStreams::ChunkStagedIn> m_chunkStagedIn;
    MemberHandler<TcpStreams, &TcpStreams::ReceiveLatencyPassed> m_receiveLatencyHandler;
};

} // namespace ns3

#endif // ASTRA_TCP_STREAMS_H
