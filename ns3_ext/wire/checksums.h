// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CHECKSUMS_H
#define ASTRA_CHECKSUMS_H

#include <cstdint>
#include <span>

namespace ns3
{

/**
 * Internet checksum (RFC 1071) of bytes whose own field for it is 0.
 *
 * @param bytes A header, or a whole segment.
 * @param sum Of what is summed up, too, and is not there, such as TCP's pseudo header.
 */
uint16_t InternetChecksum(std::span<const uint8_t> bytes, uint32_t sum = 0);

/// Sum of the pseudo header of a TCP segment (RFC 9293, section 3.1), from its IPv4 packet.
uint32_t PseudoHeaderSum(std::span<const uint8_t> packet);

/**
 * Invariant CRC of a RoCEv2 packet over IPv4: Ethernet's CRC-32 over all that no switch changes
 * (InfiniBand Architecture 1.4 volume 1, section 7.8.1 and annex A17.3.3).
 *
 * @param packet From the first byte of the IPv4 header, which has no options, to the last one
 * before the ICRC.
 * @return As Put32LowestFirst takes it.
 */
uint32_t InvariantCrc(std::span<const uint8_t> packet);

} // namespace ns3

#endif // ASTRA_CHECKSUMS_H
