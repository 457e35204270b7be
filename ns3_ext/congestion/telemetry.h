// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TELEMETRY_H
#define ASTRA_TELEMETRY_H

#include "../core/units.h"

#include <cstdint>

namespace ns3
{

/// Most switches that stamp a packet (HPCC, SIGCOMM 2019, section 4.1).
constexpr uint8_t MAX_TELEMETRY_HOPS = 5;

/// In-band telemetry of one egress port, stamped when a frame starts on its wire.
struct TelemetryHop
{
    TimePs time{0};         ///< When the stamp was made.
    ByteCount sentBytes{0}; ///< Line bytes that the port had sent before.
    ByteCount queueBytes{
        0}; ///< Line bytes that waited in the port's data queues, this frame aside.
    BitRate rate{0};
};

} // namespace ns3

#endif // ASTRA_TELEMETRY_H
