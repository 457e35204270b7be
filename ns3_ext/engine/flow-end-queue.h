// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FLOW_END_QUEUE_H
#define ASTRA_FLOW_END_QUEUE_H

#include "../core/units.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * Which of many numbered items ends next: a binary heap in which an item's time can change.
 *
 * Of items with the same time the one of the smallest number comes first.
 */
class EndQueue
{
  public:
    /// @param items Their number; items are 0..items - 1, and none is in the queue.
    explicit EndQueue(size_t items)
        : m_place(items, NOWHERE)
    {
    }

    bool IsEmpty() const
    {
        return m_heap.empty();
    }

    TimePs Time() const
    {
        return m_heap.front().first;
    }

    uint32_t Item() const
    {
        return m_heap.front().second;
    }

    /// Put an item in, or give it another time.
    void Set(uint32_t item, TimePs time)
    {
        if (m_place[item] == NOWHERE)
        {
            m_heap.emplace_back(time, item);
            Rise(m_heap.size() - 1);
            return;
        }
        const size_t place = m_place[item];
        m_heap[place].first = time;
        Rise(place);
        Sink(m_place[item]);
    }

    /// Take an item out, if it is in.
    void Remove(uint32_t item)
    {
        const uint32_t place = m_place[item];
        if (place == NOWHERE)
        {
            return;
        }
        m_place[item] = NOWHERE;
        const Entry last = m_heap.back();
        m_heap.pop_back();
        if (place < m_heap.size())
        {
            m_heap[place] = last;
            Rise(place);
            Sink(m_place[last.second]);
        }
    }

  private:
    using Entry = std::pair<TimePs, uint32_t>;
    static constexpr uint32_t NOWHERE = UINT32_MAX;

    void Put(size_t place, const Entry& entry)
    {
        m_heap[place] = entry;
        m_place[entry.second] = static_cast<uint32_t>(place);
    }

    void Rise(size_t place)
    {
        const Entry entry = m_heap[place];
        while (place > 0 && entry < m_heap[(place - 1) / 2])
        {
            Put(place, m_heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        Put(place, entry);
    }

    void Sink(size_t place)
    {
        const Entry entry = m_heap[place];
        for (size_t child = 2 * place + 1; child < m_heap.size(); child = 2 * place + 1)
        {
            if (child + 1 < m_heap.size() && m_heap[child + 1] < m_heap[child])
            {
                ++child;
            }
            if (!(m_heap[child] < entry))
            {
                break;
            }
            Put(place, m_heap[child]);
            place = child;
        }
        Put(place, entry);
    }

    std::vector<Entry> m_heap;
    std::vector<uint32_t> m_place; ///< Of each item in the heap.
};

} // namespace ns3

#endif // ASTRA_FLOW_END_QUEUE_H
