// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_UNITS_H
#define ASTRA_UNITS_H

#include <algorithm>
#include <cstdint>

namespace ns3
{

/// Integer picoseconds; also a duration.
using TimePs = int64_t;
/// Integer bytes, wide enough for messages over 2^32.
using ByteCount = int64_t;
/// Integer bits per second.
using BitRate = int64_t;
/// Directed half of a link; also names the egress port that feeds it.
using ChannelId = uint32_t;
/// Endpoint of the job.
using RankId = uint32_t;
/// Node of the platform graph.
using NodeIndex = uint32_t;

/// Products of rates and times need more than 64 bits.
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// "It never happened", for times in result columns.
constexpr TimePs NEVER_PS = -1;
constexpr TimePs PS_PER_NS = 1'000;
constexpr TimePs PS_PER_S = 1'000'000'000'000;
constexpr int64_t BITS_PER_BYTE = 8;

/// No event is as late as this, 13 days: sums of a few such times still fit 64 bits.
constexpr TimePs MAX_TIME_PS = TimePs{1} << 60;

/// How a serialisation time becomes an integer.
enum class TimeRounding : uint8_t
{
    PS_CEIL = 0,    ///< Smallest whole picosecond that is not shorter.
    NS_NEAREST = 1, ///< Nearest whole nanosecond, at least 1, as where nanoseconds are counted.
};

/**
 * Time that bytes take on a wire.
 *
 * @param bytes Line bytes.
 * @param rate Bits per second.
 * @param rounding How the exact quotient is made an integer.
 * @return The serialisation time; MAX_TIME_PS where it is longer, at which no event can be.
 */
inline TimePs
SerializationTime(ByteCount bytes, BitRate rate, TimeRounding rounding)
{
    // 128 bits: 8 * bytes * 10^12 leaves 64 bits from 1.2 MB on.
    const auto bits = static_cast<Int128>(bytes) * BITS_PER_BYTE;
    if (rounding == TimeRounding::NS_NEAREST)
    {
        const auto doubled = 2 * bits * (PS_PER_S / PS_PER_NS);
        const auto nearest = (doubled + rate) / (2 * static_cast<Int128>(rate));
        // No frame is sent in no time: two of one channel never arrive in the same instant.
        const auto nanoseconds = bytes > 0 ? std::max<Int128>(nearest, 1) : nearest;
        return static_cast<TimePs>(std::min<Int128>(nanoseconds, MAX_TIME_PS / PS_PER_NS)) *
               PS_PER_NS;
    }
    const auto picoseconds = (bits * PS_PER_S + rate - 1) / rate;
    return static_cast<TimePs>(std::min<Int128>(picoseconds, MAX_TIME_PS));
}

} // namespace ns3

#endif // ASTRA_UNITS_H
