// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_MESSAGE_LOG_H
#define ASTRA_MESSAGE_LOG_H

#include "../core/message-network.h"

#include <vector>

namespace ns3
{

/// What happened to each message, as columns in order of posting.
struct MessageLog
{
    std::vector<int32_t> instance;
    std::vector<int32_t> op;
    std::vector<int32_t> src;
    std::vector<int32_t> dst;
    std::vector<int64_t> size;
    std::vector<int64_t> posted;
    std::vector<int64_t> sent;
    std::vector<int64_t> delivered;
    std::vector<int64_t> acked;
    std::vector<int64_t> deliveredBytes;
    std::vector<int64_t> repeatedPackets;

    size_t Size() const
    {
        return op.size();
    }

    /// Make room for all messages of a run at once: columns that grow would take up to twice that.
    void Reserve(size_t messages)
    {
        instance.reserve(messages);
        op.reserve(messages);
        src.reserve(messages);
        dst.reserve(messages);
        size.reserve(messages);
        posted.reserve(messages);
        sent.reserve(messages);
        delivered.reserve(messages);
        acked.reserve(messages);
        deliveredBytes.reserve(messages);
        repeatedPackets.reserve(messages);
    }

    /// A new row whose moments have not come.
    MessageId Append(int32_t instanceIndex,
                     int32_t opIndex,
                     int32_t from,
                     int32_t to,
                     ByteCount bytes)
    {
        instance.push_back(instanceIndex);
        op.push_back(opIndex);
        src.push_back(from);
        dst.push_back(to);
        size.push_back(bytes);
        posted.push_back(NEVER_PS);
        sent.push_back(NEVER_PS);
        delivered.push_back(NEVER_PS);
        acked.push_back(NEVER_PS);
        deliveredBytes.push_back(0);
        repeatedPackets.push_back(0);
        return static_cast<MessageId>(op.size() - 1);
    }
};

} // namespace ns3

#endif // ASTRA_MESSAGE_LOG_H
