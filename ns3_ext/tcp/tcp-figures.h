// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_FIGURES_H
#define ASTRA_TCP_FIGURES_H

#include "../core/units.h"

#include <cstdint>
#include <string>

namespace ns3
{

/// How connections come to be; see astra_py.config.tcp.
enum class TcpConnect : uint8_t
{
    BEFORE, ///< Established at time 0, without a frame on the fabric.
    TIMED,  ///< By a handshake on the fabric, when the first message needs it.
};

/// How messages take the sockets of a peer.
enum class SocketPolicy : uint8_t
{
    ROUND_ROBIN,
    STRIPED,
};

/// TCP and its sockets as plain figures; see astra_py.engines.base.TcpModel.
struct TcpFigures
{
    uint32_t mtu{9000};
    bool hasTimestamps{true};
    bool hasSack{true};
    bool hasWindowScaling{true};
    bool hasEcn{true};
    bool hasNagle{false};
    std::string variant{"ns3::FabricTcpDctcp"};  ///< TypeId of a TcpCongestionOps.
    std::string recovery{"ns3::TcpPrrRecovery"}; ///< TypeId of a TcpRecoveryOps.
    int64_t sendBuffer{-1};                      ///< Bytes; -1: 4 x bandwidth-delay of the pair.
    int64_t receiveBuffer{-1};                   ///< Bytes; -1: as sendBuffer.
    uint32_t initialWindow{10};                  ///< Segments.
    TimePs minRto{5'000'000'000};
    TimePs initialRtt{200'000'000};
    uint32_t delayedAckSegments{2}; ///< Segments an ACK is delayed for; 1: none is.
    TimePs delayedAckTimeout{40'000'000'000};
    uint32_t dataRetries{15}; ///< Of one segment, before the connection is given up.
    uint32_t socketsPerPeer{1};
    SocketPolicy socketPolicy{SocketPolicy::ROUND_ROBIN};
    int64_t unsentLimit{
        -1}; ///< Bytes of a socket that wait at its NIC; -1: a TSO unit or two segments.
    TcpConnect connect{TcpConnect::BEFORE};
};

} // namespace ns3

#endif // ASTRA_TCP_FIGURES_H
