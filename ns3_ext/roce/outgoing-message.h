// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_OUTGOING_MESSAGE_H
#define ASTRA_OUTGOING_MESSAGE_H

#include "../core/cache-line.h"
#include "../core/message-network.h"
#include "../core/units.h"

#include <cstdint>

namespace ns3
{

/// A message that is split over several queue pairs: how many of its parts have come how far.
struct StripedMessage
{
    StripedMessage* next{nullptr}; ///< Free in its slab.
    uint32_t partsToSend{0};
    uint32_t partsToDeliver{0};
    uint32_t partsToAck{0};
    TimePs sentEnd{0}; ///< When the last bit of what has started leaves.
    ByteCount deliveredBytes{0};
};

/// A message, or a part of one, in a queue pair, from its post to its last acknowledgement.
struct alignas(CACHE_LINE) OutgoingMessage
{
    OutgoingMessage* next{nullptr};
    StripedMessage* whole{nullptr}; ///< Of which it is a part, or none.
    MessageId id{0};
    bool isSent{false}; ///< Its last packet has left at least once.
    ByteCount size{0};
    ByteCount bytesBefore{0}; ///< Payload of all messages before it in the queue pair.
    uint64_t firstPsn{0};
    uint64_t packets{0};
    TimePs sentEnd{0}; ///< When the last bit of its packets leaves; of several ports only.

    uint64_t EndPsn() const
    {
        return firstPsn + packets;
    }
};

/// There may be a million, and each of its moments is far from the one before.
static_assert(sizeof(OutgoingMessage) == CACHE_LINE);

} // namespace ns3

#endif // ASTRA_OUTGOING_MESSAGE_H
