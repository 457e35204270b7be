// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_OFFLOAD_UNIT_H
#define ASTRA_OFFLOAD_UNIT_H

#include <cstdint>

namespace ns3
{

/**
 * Most payload that a host hands to its NIC, or gets from it, as one: what an IPv4 packet has room
 * for beside the longest headers, 65,535 - 20 - 60 (RFC 791, RFC 9293).
 */
constexpr uint32_t LARGEST_OFFLOAD_UNIT = 65'455;

} // namespace ns3

#endif // ASTRA_OFFLOAD_UNIT_H
