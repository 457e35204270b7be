// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CONTROL_RECORD_H
#define ASTRA_CONTROL_RECORD_H

#include "../core/units.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{

/// What a congestion control did to its flow so far; only changes cost anything.
struct ControlRecord
{
    RankId src{0};
    RankId dst{0};
    uint32_t number{0}; ///< Of the first queue pair among those between the ranks.
    uint8_t priority{0};
    int64_t notifications{0}; ///< CNPs, and packets that were acknowledged with an ECN mark.
    int64_t decreases{0};     ///< Times that rate or window became less.
    BitRate lineRate{0};
    BitRate rate{0}; ///< Last.
    BitRate leastRate{0};
    ByteCount window{0}; ///< Last; 0 where the control has none.
    ByteCount leastWindow{0};
    TimePs slowSince{NEVER_PS}; ///< Below the line rate since then; NEVER_PS while it is not.
    TimePs slow{0};             ///< Time below the line rate that is over.

    void Begin(BitRate line, BitRate firstRate, ByteCount firstWindow)
    {
        lineRate = line;
        rate = leastRate = firstRate;
        window = leastWindow = firstWindow;
    }

    /// The control gives another rate or window, or the same.
    void Follow(TimePs now, BitRate newRate, ByteCount newWindow)
    {
        decreases += newRate < rate || newWindow < window ? 1 : 0;
        rate = newRate;
        window = newWindow;
        leastRate = std::min(leastRate, rate);
        leastWindow = std::min(leastWindow, window);
        const bool isSlow = rate < lineRate;
        if (isSlow && slowSince == NEVER_PS)
        {
            slowSince = now;
        }
        else if (!isSlow)
        {
            slow = SlowUntil(now);
            slowSince = NEVER_PS;
        }
    }

    /// Time below the line rate until now.
    TimePs SlowUntil(TimePs now) const
    {
        return slow + (slowSince == NEVER_PS ? 0 : now - slowSince);
    }
};

} // namespace ns3

#endif // ASTRA_CONTROL_RECORD_H
