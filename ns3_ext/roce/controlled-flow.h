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
    BitRate lineRate{0};  ///< Of the ports that serve it.
    BitRate rate{0};      ///< That the control gave last.
    TimePs nextStart{0};  ///< No packet starts before.
    bool isPaceTimerPending{false};
    TimePs timerAt{NEVER_PS}; ///< Of the control's timer that is pending.
    uint32_t timerSerial{0};  ///< Of that timer; others that are pending count for nothing.
    uint32_t pendingTimers{0};
    ByteCount inFlight{0};
    uint64_t sentPsn{0};
    uint64_t ackedPsn{0};
    ControlRecord record;
};

} // namespace ns3

#endif // ASTRA_CONTROLLED_FLOW_H
