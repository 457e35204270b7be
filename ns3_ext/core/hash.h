// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_HASH_H
#define ASTRA_HASH_H

#include "units.h"

#include <cstdint>

namespace ns3
{

/**
 * Mix 64 bits into 64 well distributed ones (the finaliser of SplitMix64; Steele, Lea and Flood,
 * OOPSLA 2014). Everything random derives from it, so that a draw depends on what is drawn for and
 * never on the order in which the simulation gets there.
 */
constexpr uint64_t
Mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/**
 * A draw of a stream of random numbers.
 *
 * @param stream The stream, mixed with the run's seed.
 * @param place What it is drawn for: a port, a node; below 2^24.
 * @param number How many were drawn there before.
 */
constexpr uint64_t
Draw(uint64_t stream, uint64_t place, uint64_t number)
{
    return Mix64(stream ^ Mix64((place << 40) ^ number));
}

/// Map a hash onto 0..count-1 without the bias of a remainder.
constexpr uint32_t
ReduceHash(uint64_t hash, uint32_t count)
{
    return static_cast<uint32_t>((static_cast<UInt128>(hash) * count) >> 64);
}

} // namespace ns3

#endif // ASTRA_HASH_H
