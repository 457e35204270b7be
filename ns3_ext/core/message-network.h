// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_MESSAGE_NETWORK_H
#define ASTRA_MESSAGE_NETWORK_H

#include "units.h"

#include <cstdint>

namespace ns3
{

/// Index of a message in order of posting.
using MessageId = uint32_t;

/// A message as a network sees it.
struct MessageRequest
{
    MessageId id;
    RankId src;
    RankId dst;
    ByteCount size;
    uint8_t priority; ///< 0..6; a larger one goes first.
};

/// Who is told of a message's moments; each comes exactly once.
class MessageListener
{
  public:
    /// Its last byte left the sender.
    virtual void MessageSent(MessageId id) = 0;

    /// Its last byte is at the receiver, which has got so many bytes of it.
    virtual void MessageDelivered(MessageId id, ByteCount bytes) = 0;

    /// The sender knows that all of it arrived.
    virtual void MessageAcked(MessageId id) = 0;

    /// A packet of it was sent once more.
    virtual void PacketRepeated(MessageId id) = 0;

  protected:
    ~MessageListener() = default;
};

/**
 * What carries messages: the border between the schedule executor and a model of the network.
 *
 * Moments are told through events, never from within Post.
 */
class MessageNetwork
{
  public:
    virtual ~MessageNetwork() = default;

    /// Who is told of the moments of messages.
    virtual void SetListener(MessageListener& listener) = 0;

    /// Send a message, now.
    virtual void Post(const MessageRequest& request) = 0;

    /// Messages from one rank to another will be posted; told once before a run, where it is known.
    virtual void Expect(RankId, RankId, uint8_t)
    {
    }
};

} // namespace ns3

#endif // ASTRA_MESSAGE_NETWORK_H
