// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_QUEUE_PAIR_H
#define ASTRA_QUEUE_PAIR_H

#include "../core/cache-line.h"
#include "../core/units.h"
#include "outgoing-message.h"
#include "packet-set.h"

#include <cstdint>
#include <map>
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

/// What came after a gap and is kept.
struct KeptPackets
{
    explicit KeptPackets(uint64_t firstPsn)
        : packets(firstPsn)
    {
    }

    PacketSet packets;
    uint64_t askedPsn{0}; ///< One past the last one that asks for an ACK.
    /// Payload of messages after the one that the receiver is in, by their first packet.
    std::map<uint64_t, ByteCount> early;

    /// Payload that has come of a message, which is now the one that the receiver is in.
    ByteCount TakeEarly(uint64_t firstPsn)
    {
        const auto node = early.extract(firstPsn);
        return node.empty() ? 0 : node.mapped();
    }
};

/**
 * A reliable connection between two ranks, both ends of it.
 *
 * Sequence numbers count packets in 64 bits here; frames carry their lower 24. Messages are a list
 * in order of posting: `head` is the oldest that is not acknowledged, `sending` the one that has
 * the next packet, `receiving` the one that the receiver is in.
 *
 * What happens to a packet touches one or two of its cache lines, in this order: both ends,
 * sending, receiving, messages, and what few connections need.
 */
struct alignas(CACHE_LINE) QueuePair
{
    // Identity and way.
    Way way; ///< The only one, or the first of several.
    const ChannelId* ackPath{nullptr};
    uint32_t index{0};
    RankId src{0};
    RankId dst{0};
    uint32_t payload{0}; ///< Largest of a packet.
    uint16_t ackHops{0};
    uint8_t priority{0};
    bool isReady : 1 {false};      ///< In the round robin.
    bool isControlled : 1 {false}; ///< Has a congestion control, or will once it is notified.
    bool isTimed : 1 {false};      ///< A frame of it can be lost, or a timeout was set by hand.
    bool isTransient : 1 {false};  ///< Made for one message; goes with its last acknowledgement.
    bool isScaleUp : 1 {false};    ///< No link of its way is Ethernet: no ACK, window, loss.
    bool isSprayed : 1 {false};    ///< Its packets choose their ways singly, and come in any order.
    bool isRoutedByHop : 1 {false}; ///< Each node chooses for each packet; `path` is one of many.
    bool isWatched : 1 {false};     ///< What it does is written down.

    // Sender.
    alignas(CACHE_LINE) OutgoingMessage* sending{nullptr};
    uint64_t nextPsn{0};
    uint64_t unackedPsn{0};
    uint64_t highestPsn{0};  ///< One past the last packet that was ever sent.
    uint64_t askedPsn{0};    ///< One past the last packet sent that asks for an ACK.
    ByteCount sentBytes{0};  ///< Payload before nextPsn.
    ByteCount ackedBytes{0}; ///< Payload before unackedPsn.
    ByteCount window{0};     ///< The transport's limit of sentBytes - ackedBytes; 0 for none.

    // Receiver.
    alignas(CACHE_LINE) OutgoingMessage* receiving{nullptr};
    uint64_t expectedPsn{0};
    ByteCount receivedBytes{0};        ///< Of the message that it is in.
    std::unique_ptr<KeptPackets> kept; ///< Where packets are taken out of order.
    FrameNotes* notesOwed{nullptr};    ///< Of the newest packet that no ACK has answered.
    TimePs ackPathLatency{0};
    TimePs lastCnp{NEVER_PS};
    uint32_t packetsToAck{0};
    bool isNakSent : 1 {false};
    bool isAckOwed : 1 {false}; ///< A packet has come that no ACK has answered; of controlled ones.
    bool isMarkOwed : 1 {false}; ///< It was marked.
    bool isCnpOwed : 1 {false};  ///< The next ACK has to carry a notification.

    // Messages, and who decides what is sent.
    alignas(CACHE_LINE) OutgoingMessage* head{nullptr};
    OutgoingMessage* tail{nullptr};
    uint64_t postedPsn{0};
    ByteCount postedBytes{0};
    uint64_t ringKey{0};                     ///< Its place in the round robin of its ports.
    ControlledFlow* flow{nullptr};           ///< None where nothing has been controlled so far.
    std::unique_ptr<SelectiveRepeat> repeat; ///< Under selective repeat.
    uint32_t number{0};
    uint32_t pendingCnps{0}; ///< Notifications that are still to come for it.

    // Its part of the flow's sums.
    ByteCount countedInFlight{0};
    uint64_t countedSentPsn{0};
    uint64_t countedAckedPsn{0};

    // Retransmission timer.
    TimePs timeSince{0};  ///< An ACK was due first, or told something new.
    uint64_t timedEnd{0}; ///< One past the last packet sent before that.
    TimePs baseTimeout{0};
    uint32_t timerSerial{0}; ///< Of the timer that is pending; others count for nothing.
    bool isTimerPending{false};
    uint8_t backoff{0};

    /// All its ways, where there are several; else none.
    std::unique_ptr<std::vector<Way>> ways;

    /// All its ways.
    std::span<const Way> Ways() const
    {
        return ways == nullptr ? std::span<const Way>{&way, 1} : std::span<const Way>{*ways};
    }
};

static_assert(sizeof(QueuePair) == 5 * CACHE_LINE);

} // namespace ns3

#endif // ASTRA_QUEUE_PAIR_H
