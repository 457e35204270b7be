// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_LEVEL_LOADS_H
#define ASTRA_LEVEL_LOADS_H

#include "../core/units.h"
#include "schedule-description.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ns3
{

/**
 * How much work is under way on each level of the network, as each rank sees it.
 *
 * The load of a level is the time that all alternatives picked and not yet over are likely to take
 * there: the tracker of dimension loads of Themis (Rashidi et al., ISCA 2022, section 4), kept up
 * while the run goes on.
 */
class LevelLoads
{
  public:
    /// Forget all loads.
    void Reset(size_t ranks)
    {
        m_ranks = ranks;
        m_load.clear();
    }

    /**
     * The load of a level for a group: that of its most loaded rank.
     *
     * @param level Which.
     * @param group The ranks.
     */
    TimePs Of(int32_t level, std::span<const int32_t> group) const
    {
        const size_t first = static_cast<size_t>(level) * m_ranks;
        TimePs most = 0;
        for (size_t i = 0; i < group.size() && first < m_load.size(); ++i)
        {
            most = std::max(most, m_load[first + static_cast<size_t>(group[i])]);
        }
        return most;
    }

    /// Add the loads of an alternative to all ranks of a group, or take them away again.
    void Add(const ChoiceColumns& choices,
             int32_t alternative,
             std::span<const int32_t> group,
             int sign)
    {
        const auto row = static_cast<size_t>(alternative);
        for (auto visit = static_cast<size_t>(choices.visitPtr[row]);
             visit < static_cast<size_t>(choices.visitPtr[row + 1]);
             ++visit)
        {
            const size_t first = static_cast<size_t>(choices.visitLevel[visit]) * m_ranks;
            m_load.resize(std::max(m_load.size(), first + m_ranks), 0);
            for (const int32_t rank : group)
            {
                m_load[first + static_cast<size_t>(rank)] += sign * choices.visitLoad[visit];
            }
        }
    }

  private:
    size_t m_ranks{0};
    std::vector<TimePs> m_load; ///< By level, then rank.
};

} // namespace ns3

#endif // ASTRA_LEVEL_LOADS_H
