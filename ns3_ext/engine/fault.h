// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FAULT_H
#define ASTRA_FAULT_H

#include <cstdint>

namespace ns3
{

/**
 * A defect to commit on purpose, so that tests see the checks of a run find it.
 */
enum class Fault : uint8_t
{
    NONE = 0,
    DROP_MESSAGE = 1,   ///< The first message is taken for done and never sent.
    DOUBLE_MESSAGE = 2, ///< The first message is sent twice.
    SWAP_SIZES = 3,     ///< The first message and the first one of another size swap sizes.
};

} // namespace ns3

#endif // ASTRA_FAULT_H
