// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_MESSAGE_LINE_H
#define ASTRA_MESSAGE_LINE_H

#include "../fabric/line-bytes.h"
#include "../roce/wire-format.h"

#include <cstdint>

namespace ns3
{

/**
 * Line bytes of a whole message on a link.
 *
 * @param format Of packets on Ethernet.
 * @param payload Largest of a packet, on all links of the message's way.
 * @param efficiencyPpm Of a scale-up link; 0 for Ethernet.
 * @param size Of the message.
 */
inline ByteCount
MessageLineBytes(const LineFormat& format, uint32_t payload, int64_t efficiencyPpm, ByteCount size)
{
    if (efficiencyPpm == 0)
    {
        return format.MessageLine(size, payload);
    }
    const ByteCount packets = LineFormat::PacketsOf(size, payload);
    const auto last = static_cast<uint32_t>(size - (packets - 1) * payload);
    return (packets - 1) * ScaleUpLineBytes(payload, efficiencyPpm) +
           ScaleUpLineBytes(last, efficiencyPpm);
}

} // namespace ns3

#endif // ASTRA_MESSAGE_LINE_H
