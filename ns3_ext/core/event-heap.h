// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_EVENT_HEAP_H
#define ASTRA_EVENT_HEAP_H

#include "event.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ns3
{

/// Events as a 4-ary heap over (time, order).
class EventHeap
{
  public:
    bool IsEmpty() const
    {
        return m_events.empty();
    }

    size_t Size() const
    {
        return m_events.size();
    }

    const Event& Top() const
    {
        return m_events.front();
    }

    void Push(const Event& event)
    {
        const UInt128 key = event.Key();
        size_t hole = m_events.size();
        m_events.push_back(event);
        while (hole > 0)
        {
            const size_t parent = (hole - 1) / ARITY;
            if (m_events[parent].Key() < key)
            {
                break;
            }
            m_events[hole] = m_events[parent];
            hole = parent;
        }
        m_events[hole] = event;
    }

    Event Pop()
    {
        const Event top = m_events.front();
        const Event last = m_events.back();
        m_events.pop_back();
        if (!m_events.empty())
        {
            SiftDown(last);
        }
        return top;
    }

    /// Let the handlers of the events that come next, or nearly so, bring closer what they need.
    void Foresee() const
    {
        const size_t batch = std::min(m_events.size(), MOST_FORESEEN);
        for (unsigned step = 0; step < EventHandler::FORESIGHT; ++step)
        {
            for (size_t i = 0; i < batch; ++i)
            {
                m_events[i].handler->Foresee(m_events[i].argument, step);
            }
        }
    }

    void Clear()
    {
        m_events.clear();
    }

    /// Take out the events for which a predicate holds; the order of the others is as it was.
    template <typename PREDICATE>
    void EraseIf(const PREDICATE& predicate)
    {
        std::erase_if(m_events, predicate);
        // No two events have the same key, so a sorted array is a heap like any other.
        std::sort(m_events.begin(), m_events.end(), [](const Event& a, const Event& b) {
            return a.Key() < b.Key();
        });
    }

  private:
    static constexpr size_t ARITY = 4;
    /// What they need is to be near still when they come: some kB each.
    static constexpr size_t MOST_FORESEEN = 64;

    void SiftDown(const Event& event)
    {
        const UInt128 key = event.Key();
        const size_t size = m_events.size();
        size_t hole = 0;
        for (;;)
        {
            const size_t first = hole * ARITY + 1;
            if (first >= size)
            {
                break;
            }
            const size_t end = std::min(first + ARITY, size);
            size_t least = first;
            UInt128 leastKey = m_events[first].Key();
            for (size_t child = first + 1; child < end; ++child)
            {
                const UInt128 childKey = m_events[child].Key();
                if (childKey < leastKey)
                {
                    least = child;
                    leastKey = childKey;
                }
            }
            if (key < leastKey)
            {
                break;
            }
            m_events[hole] = m_events[least];
            hole = least;
        }
        m_events[hole] = event;
    }

    std::vector<Event> m_events;
};

} // namespace ns3

#endif // ASTRA_EVENT_HEAP_H
