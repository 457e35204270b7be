// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FLOW_TABLE_H
#define ASTRA_FLOW_TABLE_H

#include "../core/hash.h"
#include "../fabric/routing-policy.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * Numbers of flows, given once and never taken back.
 *
 * Open addressing with linear probing: where every pair of ranks has a flow there are millions, and
 * a node of its own for each costs more than all else that happens to a message.
 */
class FlowTable
{
  public:
    static constexpr uint32_t NONE = 0;

    FlowTable()
        : m_entries(LEAST_ENTRIES)
    {
    }

    /**
     * The place of a flow's number, NONE where it has none yet.
     *
     * Whoever finds NONE there has to put a number; valid until the next call.
     */
    uint32_t& operator[](const FlowIdentity& flow)
    {
        if (2 * m_used > m_entries.size())
        {
            Grow();
        }
        Entry& entry = Find(flow);
        if (entry.number == NONE)
        {
            entry.flow = flow;
            ++m_used;
        }
        return entry.number;
    }

  private:
    struct Entry
    {
        FlowIdentity flow{};
        uint32_t number{NONE};
    };

    static constexpr size_t LEAST_ENTRIES = 64;

    Entry& Find(const FlowIdentity& flow)
    {
        const size_t mask = m_entries.size() - 1;
        const uint64_t pair = (static_cast<uint64_t>(flow.src) << 32) | flow.dst;
        size_t at = Mix64(pair ^ Mix64(flow.queuePair)) & mask;
        while (m_entries[at].number != NONE && !IsSame(m_entries[at].flow, flow))
        {
            at = (at + 1) & mask;
        }
        return m_entries[at];
    }

    static bool IsSame(const FlowIdentity& a, const FlowIdentity& b)
    {
        return a.src == b.src && a.dst == b.dst && a.queuePair == b.queuePair;
    }

    void Grow()
    {
        std::vector<Entry> old(2 * m_entries.size());
        old.swap(m_entries);
        for (const Entry& entry : old)
        {
            if (entry.number != NONE)
            {
                Find(entry.flow) = entry;
            }
        }
    }

    std::vector<Entry> m_entries;
    size_t m_used{0};
};

} // namespace ns3

#endif // ASTRA_FLOW_TABLE_H
