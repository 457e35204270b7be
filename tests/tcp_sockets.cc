// SPDX-License-Identifier: GPL-2.0-only
//
// Counts what ns-3's own trace sources of its TCP sockets tell, of every socket of the process. A
// test compiles this against the ns3 wheel and loads it beside the engine.

#include "ns3/config.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-base.h"

#include <cstdint>
#include <string>

namespace
{

using namespace ns3;

/// In order of what Python reads.
struct Counts
{
    uint64_t sockets;
    uint64_t dataSegments;
    uint64_t emptySegments;
    uint64_t sentBytes;
    uint64_t retransmissions;
    uint64_t receivedSegments;
    uint64_t receivedEmpty;
    uint64_t receivedBytes;
    uint64_t marked; ///< Empty segments that tell of congestion (ECE).
};

Counts counts;

void
Tx(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    const uint32_t size = packet->GetSize();
    ++(size > 0 ? counts.dataSegments : counts.emptySegments);
    counts.sentBytes += size;
    counts.marked += size == 0 && (header.GetFlags() & TcpHeader::ECE) != 0;
}

void
Rx(Ptr<const Packet> packet, const TcpHeader&, Ptr<const TcpSocketBase>)
{
    const uint32_t size = packet->GetSize();
    ++(size > 0 ? counts.receivedSegments : counts.receivedEmpty);
    counts.receivedBytes += size;
}

void
Retransmission(Ptr<const Packet>,
               const TcpHeader&,
               const Address&,
               const Address&,
               Ptr<const TcpSocketBase>)
{
    ++counts.retransmissions;
}

} // namespace

/// To be called when the sockets are there, and before a run: as a user of ns-3 would, by their
/// paths.
extern "C" void
ConnectSockets()
{
    const std::string sockets = "/NodeList/*/$ns3::TcpL4Protocol/SocketList/*";
    counts = {};
    counts.sockets = Config::LookupMatches(sockets).GetN();
    Config::ConnectWithoutContextFailSafe(sockets + "/Tx", MakeCallback(&Tx));
    Config::ConnectWithoutContextFailSafe(sockets + "/Rx", MakeCallback(&Rx));
    Config::ConnectWithoutContextFailSafe(sockets + "/Retransmission",
                                          MakeCallback(&Retransmission));
}

extern "C" const uint64_t*
SocketCounts()
{
    return &counts.sockets;
}
