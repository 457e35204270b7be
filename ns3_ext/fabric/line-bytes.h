// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_LINE_BYTES_H
#define ASTRA_LINE_BYTES_H

#include "../core/units.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{

/// Largest payload of a packet on a way of scale-up links, whatever the NIC's is; assumed.
constexpr uint32_t SCALE_UP_PAYLOAD = 4096;
/// What a packet without payload, or an ACK on its way to Ethernet, counts as there: one flit of
/// NVLink (16 B; Foley and Danskin, IEEE Micro 2017).
constexpr uint32_t SCALE_UP_FLIT = 16;
constexpr int64_t PPM = 1'000'000;

/**
 * Line bytes of a packet on a scale-up link: its protocol's overhead is a share of the line.
 *
 * @param payload Bytes of the packet's payload.
 * @param efficiencyPpm Millionths of the line that payload can have; above 0.
 */
constexpr uint32_t
ScaleUpLineBytes(uint32_t payload, int64_t efficiencyPpm)
{
    const int64_t bytes = std::max(payload, SCALE_UP_FLIT);
    return static_cast<uint32_t>((bytes * PPM + efficiencyPpm - 1) / efficiencyPpm);
}

} // namespace ns3

#endif // ASTRA_LINE_BYTES_H
