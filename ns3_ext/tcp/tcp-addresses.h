// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_ADDRESSES_H
#define ASTRA_TCP_ADDRESSES_H

#include "../core/units.h"

#include "ns3/ipv4-address.h"

#include <cstdint>

namespace ns3
{

/// 10.0.0.1 is rank 0's.
constexpr uint32_t FIRST_TCP_ADDRESS = 0x0a000001;
/// Ranks that 10.0.0.0/8 has room for.
constexpr RankId MAX_TCP_RANKS = (1U << 24) - 2;
/// Where receivers listen: that of iperf, the field's tool for streams.
constexpr uint16_t TCP_SERVICE_PORT = 5001;
/// First of the dynamic ports (RFC 6335, section 6), which senders have.
constexpr uint16_t FIRST_DYNAMIC_PORT = 49152;

/// Largest buffer that a scaled window can tell of (RFC 7323, section 2.3).
constexpr int64_t LARGEST_TCP_BUFFER = (1 << 30) - 1;

inline Ipv4Address
TcpAddressOf(RankId rank)
{
    return Ipv4Address(FIRST_TCP_ADDRESS + rank);
}

} // namespace ns3

#endif // ASTRA_TCP_ADDRESSES_H
