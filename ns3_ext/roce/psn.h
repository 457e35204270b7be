// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PSN_H
#define ASTRA_PSN_H

#include <cstdint>

namespace ns3
{

/// Packet sequence numbers have 24 bits on the wire and wrap.
constexpr uint32_t PSN_MASK = 0xffffff;

/// Packets of a connection that may be unacknowledged: half the space, so that a number says on
/// which side of the expected one it is.
constexpr uint64_t MAX_UNACKED_PACKETS = 1ULL << 23;

/// A receiver acknowledges at least this often, so that a long message never waits for numbers.
constexpr uint64_t MAX_PACKETS_TO_ACK = MAX_UNACKED_PACKETS / 2;

/**
 * Find the whole number behind the 24 bits of a frame.
 *
 * @param psn Lower 24 bits.
 * @param reference A whole number less than half the space away.
 */
constexpr uint64_t
ExtendPsn(uint32_t psn, uint64_t reference)
{
    const auto difference =
        static_cast<int32_t>((psn - static_cast<uint32_t>(reference & PSN_MASK)) << 8) >> 8;
    return reference + static_cast<uint64_t>(static_cast<int64_t>(difference));
}

} // namespace ns3

#endif // ASTRA_PSN_H
