// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_RECEIVED_PACKET_H
#define ASTRA_RECEIVED_PACKET_H

#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>

namespace ns3
{

/// A packet of a connection that has come to a host, or several that were merged into one.
struct ReceivedPacket
{
    uint32_t flow{0};    ///< The end of the connection that sent it.
    Ptr<Packet> packet;  ///< From its IPv4 header on.
    uint32_t packets{1}; ///< How many came by the wire.
};

} // namespace ns3

#endif // ASTRA_RECEIVED_PACKET_H
