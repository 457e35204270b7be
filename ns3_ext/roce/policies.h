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

/// What a sender repeats after a loss.
enum class Recovery : uint8_t
{
    GO_BACK_N = 0,        ///< All from the first packet that is missing.
    SELECTIVE_REPEAT = 1, ///< What is missing (IRN; Mittal et al., SIGCOMM 2018).
};

/// How messages use the queue pairs to a destination.
enum class QpPolicy : uint8_t
{
    ROUND_ROBIN = 0, ///< Each the next one.
    STRIPED = 1,     ///< Each all of them, in contiguous parts.
};

/// Whose packets one congestion control controls.
enum class CongestionScope : uint8_t
{
    QUEUE_PAIR = 0,
    PEER = 1, ///< All queue pairs to the same rank by the same first port.
};

} // namespace ns3

#endif // ASTRA_POLICIES_H
