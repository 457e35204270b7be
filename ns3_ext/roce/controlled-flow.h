// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CONTROLLED_FLOW_H
#define ASTRA_CONTROLLED_FLOW_H

#include "../congestion/congestion-control.h"
#include "../core/units.h"
#include "control-record.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

struct QueuePair;

/**
 * What one congestion control controls: a queue pair, or all that share its scope.
 *
 * The sums are over its queue pairs, those that are gone included.
 */
struct ControlledFlow
{
    ControlledFlow* next{nullptr}; ///< Free in its slab.
    std::unique_ptr<FlowControl> control;
    std::vector<QueuePair*> queuePairs;
    uint32_t index{0};
    bool isShared{false}; ///< Outlives its queue pairs.
    bool isPaceTimerPending{false};
    bool isToldOfAcks{true}; ///< And of losses.
    uint32_t pendingTimers{0};
    BitRate lineRate{0};        ///< Of the ports that serve it.
    BitRate rate{0};            ///< That the control gave last.
    ByteCount window{0};        ///< The same; 0 for none.
    TimePs nextTimer{NEVER_PS}; ///< The same: when the control is to be called.
    TimePs nextStart{0};        ///< No packet starts before.
    ByteCount inFlight{0};
    uint64_t sentPsn{0};
    uint64_t ackedPsn{0};
    ControlRecord record;
};

} // namespace ns3

#endif // ASTRA_CONTROLLED_FLOW_H
