// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_MESSAGE_BOOK_H
#define ASTRA_MESSAGE_BOOK_H

#include "../core/units.h"
#include "../fabric/frame.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

class RoceTransport;

/// A message, or a part of one, as its queue pair carries it.
struct MessageSpan
{
    uint64_t firstPsn;
    uint64_t endPsn;       ///< One past its last packet.
    ByteCount size;        ///< Payload.
    ByteCount bytesBefore; ///< Payload of all messages before it in the queue pair.
};

/// Where a data packet is in its message.
struct PacketPlace
{
    MessageSpan message;
    bool isFirst;
    bool isLast;
};

/**
 * What all queue pairs have sent so far, message by message.
 *
 * A frame says little of its message, and the transport forgets that one when it is acknowledged;
 * a copy of one of its packets may still be on its way then.
 */
class MessageBook
{
  public:
    /// @param transport Must outlive the book.
    explicit MessageBook(RoceTransport& transport);

    /// A data packet leaves its NIC.
    void Learn(const Frame& frame);

    /**
     * Where a data packet is in its message.
     *
     * @throws InvariantError when its queue pair has sent no such packet.
     */
    PacketPlace Find(const Frame& frame) const;

    /// Messages that are complete for a receiver that expects the number next which the frame has.
    uint32_t CompleteBefore(const Frame& frame) const;

    /// Number that stands for a queue pair's connection and no other's, both ways.
    uint64_t ConnectionHash(const Frame& frame) const;

    /// Whether an ACK or NAK of the queue pair names a packet beside the next one expected.
    bool NamesPackets(const Frame& frame) const;

  private:
    struct Connection
    {
        RankId src{0};
        RankId dst{0};
        uint32_t number{0};
        uint8_t priority{0};
        bool namesPackets{false};
        uint64_t endPsn{0}; ///< One past the highest number sent.
        std::vector<MessageSpan> messages;
    };

    const Connection& At(const Frame& frame) const;

    RoceTransport& m_transport;
    std::unordered_map<uint32_t, Connection> m_connections; ///< By index of the transport.
};

} // namespace ns3

#endif // ASTRA_MESSAGE_BOOK_H
