// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FLOW_TABLE_H
#define ASTRA_FLOW_TABLE_H

#include "../core/hash.h"
#include "../core/units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * Numbers of a rank's flows, given once and never taken back.
 *
 * Open addressing with linear probing: where every pair of ranks has a flow there are millions, and
 * a node of its own for each costs more than all else that happens to a message.
 */
class FlowTable
{
  public:
    static constexpr uint32_t NONE = 0;

    /**
     * The place of the number of a flow to `dst`, NONE where it has none yet.
     *
     * Whoever finds NONE there has to put a number; valid until the next call.
     */
    uint32_t& Of(RankId dst, uint32_t queuePair)
    {
        if (2 * m_used >= m_entries.size())
        {
            Grow();
        }
        Entry& entry = Find(dst, queuePair);
        if (entry.number == NONE)
        {
            entry.dst = dst;
            entry.queuePair = queuePair;
            ++m_used;
        }
        return entry.number;
    }

  private:
    struct Entry
    {
        RankId dst{0};
        uint32_t queuePair{0};
        uint32_t number{NONE};
    };

    static constexpr size_t LEAST_ENTRIES = 8;

    Entry& Find(RankId dst, uint32_t queuePair)
    {
        const size_t mask = m_entries.size() - 1;
        size_t at = Mix64((static_cast<uint64_t>(dst) << 32) | queuePair) & mask;
        while (m_entries[at].number != NONE &&
               (m_entries[at].dst != dst || m_entries[at].queuePair != queuePair))
        {
            at = (at + 1) & mask;
        }
        return m_entries[at];
    }

    void Grow()
    {
        std::vector<Entry> old(std::max(LEAST_ENTRIES, 2 * m_entries.size()));
        old.swap(m_entries);
        for (const Entry& entry : old)
        {
            if (entry.number != NONE)
            {
                Find(entry.dst, entry.queuePair) = entry;
            }
        }
    }

    std::vector<Entry> m_entries;
    size_t m_used{0};
};

} // namespace ns3

#endif // ASTRA_FLOW_TABLE_H
