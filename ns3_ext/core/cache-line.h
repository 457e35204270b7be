// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CACHE_LINE_H
#define ASTRA_CACHE_LINE_H

#include <cstddef>

namespace ns3
{

/// Bytes that come from memory together, on all machines that we build for.
constexpr std::size_t CACHE_LINE = 64;

} // namespace ns3

#endif // ASTRA_CACHE_LINE_H
