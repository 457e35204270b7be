// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_READY_RING_H
#define ASTRA_READY_RING_H

#include "queue-pair.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The queue pairs of a port that have a packet to send, served round robin in order of their keys,
 * starting after the one served last.
 */
class ReadyRing
{
  public:
    bool IsEmpty() const
    {
        return m_entries.empty();
    }

    void Insert(QueuePair* queuePair)
    {
        const auto place =
            std::lower_bound(m_entries.begin(),
                             m_entries.end(),
                             queuePair->ringKey,
                             [](const Entry& entry, uint64_t key) { return entry.key < key; });
        const auto index = static_cast<size_t>(place - m_entries.begin());
        m_entries.insert(place, Entry{queuePair->ringKey, queuePair});
        // Whoever comes before the one served last has missed this round.
        if (index < m_next || (index == m_next && m_hasServed && queuePair->ringKey <= m_lastKey))
        {
            ++m_next;
        }
    }

    /// The queue pair whose turn it is; it stays in the ring.
    QueuePair* Serve()
    {
        if (m_next == m_entries.size())
        {
            m_next = 0;
        }
        const Entry& entry = m_entries[m_next++];
        m_lastKey = entry.key;
        m_hasServed = true;
        return entry.queuePair;
    }

    /// Take out any queue pair of the ring.
    void Remove(const QueuePair* queuePair)
    {
        const auto place =
            std::lower_bound(m_entries.begin(),
                             m_entries.end(),
                             queuePair->ringKey,
                             [](const Entry& entry, uint64_t key) { return entry.key < key; });
        if (static_cast<size_t>(place - m_entries.begin()) < m_next)
        {
            --m_next;
        }
        m_entries.erase(place);
    }

  private:
    struct Entry
    {
        uint64_t key;
        QueuePair* queuePair;
    };

    std::vector<Entry> m_entries; ///< In order of key.
    size_t m_next{0};             ///< Whose turn it is; the size means the first again.
    uint64_t m_lastKey{0};
    bool m_hasServed{false};
};

} // namespace ns3

#endif // ASTRA_READY_RING_H
