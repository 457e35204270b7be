// SPDX-License-Identifier: GPL-2.0-only
#include "message-book.h"

#include "../core/errors.h"
#include "../core/hash.h"
#include "../roce/psn.h"
#include "../roce/queue-pair.h"
#include "../roce/roce-transport.h"

#include <algorithm>
#include <string>

namespace ns3
{

MessageBook::MessageBook(RoceTransport& transport)
    : m_transport(transport)
{
}

void
MessageBook::Learn(const Frame& frame)
{
    const QueuePair& queuePair = *m_transport.QueuePairAt(frame.flow);
    Connection& connection = m_connections[frame.flow];
    const bool isSame = connection.src == queuePair.src && connection.dst == queuePair.dst &&
                        connection.number == queuePair.number &&
                        connection.priority == queuePair.priority;
    if (connection.messages.empty() || !isSame)
    {
        // The first packet of a queue pair, perhaps in the place of one that is gone.
        connection = Connection{queuePair.src,
                                queuePair.dst,
                                queuePair.number,
                                queuePair.priority,
                                queuePair.repeat != nullptr,
                                queuePair.head->firstPsn,
                                {}};
    }
    const uint64_t psn = ExtendPsn(frame.psn, connection.endPsn);
    if (psn < connection.endPsn)
    {
        return; // A repetition.
    }
    connection.endPsn = psn + 1;
    if (!connection.messages.empty() && psn < connection.messages.back().endPsn)
    {
        return;
    }
    const OutgoingMessage* message = queuePair.head;
    while (message->EndPsn() <= psn)
    {
        message = message->next;
    }
    connection.messages.push_back(
        MessageSpan{message->firstPsn, message->EndPsn(), message->size, message->bytesBefore});
}

const MessageBook::Connection&
MessageBook::At(const Frame& frame) const
{
    const auto found = m_connections.find(frame.flow);
    if (found == m_connections.end())
    {
        throw InvariantError("a capture sees a frame of queue pair " + std::to_string(frame.flow) +
                             ", which has sent nothing");
    }
    return found->second;
}

PacketPlace
MessageBook::Find(const Frame& frame) const
{
    const Connection& connection = At(frame);
    const uint64_t psn = ExtendPsn(frame.psn, connection.endPsn);
    const auto message = std::upper_bound(
        connection.messages.begin(),
        connection.messages.end(),
        psn,
        [](uint64_t number, const MessageSpan& span) { return number < span.endPsn; });
    if (message == connection.messages.end() || psn < message->firstPsn)
    {
        throw InvariantError("a capture sees packet " + std::to_string(frame.psn) +
                             " of queue pair " + std::to_string(frame.flow) +
                             ", which has not sent it");
    }
    return PacketPlace{*message, psn == message->firstPsn, psn + 1 == message->endPsn};
}

uint32_t
MessageBook::CompleteBefore(const Frame& frame) const
{
    const Connection& connection = At(frame);
    const uint64_t psn = ExtendPsn(frame.psn, connection.endPsn);
    const auto open = std::upper_bound(
        connection.messages.begin(),
        connection.messages.end(),
        psn,
        [](uint64_t number, const MessageSpan& span) { return number < span.endPsn; });
    return static_cast<uint32_t>(open - connection.messages.begin());
}

uint64_t
MessageBook::ConnectionHash(const Frame& frame) const
{
    const Connection& connection = At(frame);
    const uint64_t ranks = static_cast<uint64_t>(connection.src) << 32 | connection.dst;
    return Mix64(Mix64(ranks) ^ (static_cast<uint64_t>(connection.number) << 8) ^
                 connection.priority);
}

bool
MessageBook::NamesPackets(const Frame& frame) const
{
    return At(frame).namesPackets;
}

} // namespace ns3
