// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ECN_MARKER_H
#define ASTRA_ECN_MARKER_H

#include "../core/hash.h"
#include "../core/units.h"

#include <cmath>
#include <cstdint>

namespace ns3
{

/**
 * Explicit congestion notification of one egress port: RED on the instantaneous depth of the
 * frame's queue, and a step where both thresholds are equal (RFC 3168; DCTCP, SIGCOMM 2010; DCQCN,
 * SIGCOMM 2015).
 */
struct EcnMarker
{
    ByteCount kmin{0};
    ByteCount kmax{0};
    double pmax{0.0};
    uint64_t stream{0}; ///< Of draws, mixed with the run's seed.
    ChannelId port{0};
    uint64_t draws{0};

    /// Whether a frame that finds so many bytes is marked.
    bool Marks(ByteCount depth)
    {
        if (depth <= kmin || depth > kmax)
        {
            return depth > kmax;
        }
        const double probability =
            pmax * static_cast<double>(depth - kmin) / static_cast<double>(kmax - kmin);
        const uint64_t draw = Draw(stream, port, draws++);
        return probability >= 1.0 || draw < static_cast<uint64_t>(std::ldexp(probability, 64));
    }
};

} // namespace ns3

#endif // ASTRA_ECN_MARKER_H
