// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_QUEUE_PAIR_H
#define ASTRA_QUEUE_PAIR_H

#include "../core/message-network.h"
#include "../core/units.h"

#include <cstdint>

namespace ns3
{

/// A message in a queue pair, from its post to its last acknowledgement.
struct OutgoingMessage
{
    OutgoingMessage* next{nullptr};
    MessageId id{0};
    ByteCount size{0};
    ByteCount bytesBefore{0}; ///< Payload of all messages before it in the queue pair.
    uint64_t firstPsn{0};
    uint64_t packets{0};
    bool isSent{false}; ///< Its last packet has left at least once.

    uint64_t EndPsn() const
    {
        return firstPsn + packets;
    }
};

/**
 * A reliable connection between two ranks, both ends of it.
 *
 * Sequence numbers count packets in 64 bits here; frames carry their lower 24. Messages are a list
 * in order of posting: `head` is the oldest that is not acknowledged, `sending` the one that has
 * the next packet, `receiving` the one that the receiver is in.
 */
struct QueuePair
{
    // Identity and way.
    QueuePair* next{nullptr};
    uint32_t index{0};
    RankId src{0};
    RankId dst{0};
    uint32_t number{0};
    uint8_t priority{0};
    bool isTransient{false}; ///< Made for one message; goes with its last acknowledgement.
    const ChannelId* path{nullptr};
    const ChannelId* ackPath{nullptr};
    uint16_t hops{0};
    uint16_t ackHops{0};
    uint64_t ringKey{0}; ///< Its place in the round robin of its port.
    TimePs ackPathLatency{0};
    uint32_t payload{0};   ///< Largest of a packet.
    bool isScaleUp{false}; ///< No link of its way is Ethernet: no ACK frames, no window, no loss.

    // Sender.
    OutgoingMessage* head{nullptr};
    OutgoingMessage* tail{nullptr};
    OutgoingMessage* sending{nullptr};
    uint64_t nextPsn{0};
    uint64_t unackedPsn{0};
    uint64_t highestPsn{0}; ///< One past the last packet that was ever sent.
    uint64_t postedPsn{0};
    ByteCount postedBytes{0};
    ByteCount sentBytes{0};  ///< Payload before nextPsn.
    ByteCount ackedBytes{0}; ///< Payload before unackedPsn.
    ByteCount window{0};     ///< Limit of sentBytes - ackedBytes; 0 for none.
    bool isReady{false};     ///< In the round robin.

    // Retransmission timer.
    bool isTimed{false}; ///< A frame of this connection can be lost, or a timeout was set by hand.
    bool isTimerPending{false};
    uint8_t backoff{0};
    uint64_t dueAckPsn{0};  ///< One past the last packet sent that the receiver acknowledges.
    TimePs lastProgress{0}; ///< Of the oldest packet with an ACK due: sent, or told of before.
    TimePs baseTimeout{0};

    // Receiver.
    OutgoingMessage* receiving{nullptr};
    uint64_t expectedPsn{0};
    ByteCount receivedBytes{0}; ///< Of the message that it is in.
    uint64_t packetsToAck{0};
    bool isNakSent{false};
};

} // namespace ns3

#endif // ASTRA_QUEUE_PAIR_H
