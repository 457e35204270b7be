// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_QUEUE_PAIR_H
#define ASTRA_QUEUE_PAIR_H

#include "../core/units.h"
#include "outgoing-message.h"
#include "packet-set.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3
{

class DataPort;
struct ControlledFlow;
struct FrameNotes;

/// A way of a queue pair's data, and the port at which it begins.
struct Way
{
    DataPort* port{nullptr};
    const ChannelId* path{nullptr};
    uint16_t hops{0};
};

/// What a sender knows beyond the cumulative acknowledgement, and what it repeats therefore.
struct SelectiveRepeat
{
    explicit SelectiveRepeat(uint64_t firstPsn)
        : received(firstPsn),
          receivedEnd(firstPsn),
          next(firstPsn),
          lostEnd(firstPsn),
          recoveryEnd(firstPsn)
    {
    }

    PacketSet received;   ///< Known as received, out of order.
    uint64_t receivedEnd; ///< One past the last packet known as received.
    uint64_t next;        ///< Next packet to repeat, if before lostEnd.
    uint64_t lostEnd;     ///< Packets before it that are not known as received are lost.
    uint64_t recoveryEnd; ///< One past the last packet sent when recovery began.
    bool isRecovering{false};
    OutgoingMessage* message{nullptr}; ///< The one of `next`, or one before it, or none.

    bool HasRepeat() const
    {
        return isRecovering && next < lostEnd;
    }

    /// All packets before a number are acknowledged, and their messages about to go.
    void Acknowledged(uint64_t expected)
    {
        received.RaiseFloor(expected);
        isRecovering &= expected < recoveryEnd;
        if (message != nullptr && message->EndPsn() <= expected)
        {
            message = nullptr;
        }
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
    bool isScaleUp{false};   ///< No link of its way is Ethernet: no ACK frames, no window, no loss.
    bool isSprayed{false};   ///< Its packets choose their ways singly, and come in any order.
    bool isWatched{false};   ///< What it does is written down.
    bool isRoutedByHop{false}; ///< Each node chooses for each packet; `path` is one way of many.
    Way way;                   ///< The only one, or the first of several.
    const ChannelId* ackPath{nullptr};
    uint16_t ackHops{0};
    uint32_t payload{0}; ///< Largest of a packet.
    uint64_t ringKey{0}; ///< Its place in the round robin of its ports.
    TimePs ackPathLatency{0};
    std::vector<Way> ways; ///< Where there are several; else empty.

    /// All its ways.
    std::span<const Way> Ways() const
    {
        return ways.empty() ? std::span<const Way>{&way, 1} : std::span<const Way>{ways};
    }

    // Sender.
    OutgoingMessage* head{nullptr};
    OutgoingMessage* tail{nullptr};
    OutgoingMessage* sending{nullptr};
    uint64_t nextPsn{0};
    uint64_t unackedPsn{0};
    uint64_t highestPsn{0}; ///< One past the last packet that was ever sent.
    uint64_t askedPsn{0};   ///< One past the last packet sent that asks for an ACK.
    uint64_t postedPsn{0};
    ByteCount postedBytes{0};
    ByteCount sentBytes{0};  ///< Payload before nextPsn.
    ByteCount ackedBytes{0}; ///< Payload before unackedPsn.
    ByteCount window{0};     ///< The transport's limit of sentBytes - ackedBytes; 0 for none.
    bool isReady{false};     ///< In the round robin.
    std::unique_ptr<SelectiveRepeat> repeat; ///< Under selective repeat.

    // Congestion control.
    ControlledFlow* flow{nullptr};
    ByteCount countedInFlight{0}; ///< Its part of the flow's sums.
    uint64_t countedSentPsn{0};
    uint64_t countedAckedPsn{0};
    uint32_t pendingCnps{0}; ///< Notifications that are still to come for it.

    // Retransmission timer.
    bool isTimed{false}; ///< A frame of this connection can be lost, or a timeout was set by hand.
    bool isTimerPending{false};
    uint8_t backoff{0};
    uint32_t timerSerial{0}; ///< Of the timer that is pending; others count for nothing.
    TimePs timeSince{0};     ///< An ACK was due first, or told something new.
    uint64_t timedEnd{0};    ///< One past the last packet sent before that.
    TimePs baseTimeout{0};

    // Receiver.
    OutgoingMessage* receiving{nullptr};
    uint64_t expectedPsn{0};
    ByteCount receivedBytes{0}; ///< Of the message that it is in.
    uint64_t packetsToAck{0};
    bool isNakSent{false};
    bool isAckOwed{false};  ///< A packet has come that no ACK has answered; of controlled ones.
    bool isMarkOwed{false}; ///< It was marked.
    bool isCnpOwed{false};  ///< The next ACK has to carry a notification.
    TimePs lastCnp{NEVER_PS};
    FrameNotes* notesOwed{nullptr};  ///< Of the newest packet that no ACK has answered.
    std::unique_ptr<PacketSet> kept; ///< Came after a gap; where packets are taken so.
    uint64_t keptAskedPsn{0};        ///< One past the last kept packet that asks for an ACK.
};

} // namespace ns3

#endif // ASTRA_QUEUE_PAIR_H
