// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_POLICIES_H
#define ASTRA_POLICIES_H

#include <cstdint>

namespace ns3
{

/// When a receiver acknowledges; the values are those of astra_py.engines.base.AckPolicy.
enum class AckPolicy : uint8_t
{
    PER_PACKET = 0,
    EVERY = 1,
    PER_MESSAGE = 2,
    OUT_OF_BAND = 3,
};

/// What limits unacknowledged bytes; the values are those of astra_py.engines.base.WindowPolicy.
enum class WindowPolicy : uint8_t
{
    NONE = 0,
    BDP = 1,
    FIXED = 2,
};

} // namespace ns3

#endif // ASTRA_POLICIES_H
