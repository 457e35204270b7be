// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_EVENT_QUEUE_H
#define ASTRA_EVENT_QUEUE_H

#include "units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/// Something that events happen to.
class EventHandler
{
  public:
    virtual void HandleEvent(uint64_t argument) = 0;

  protected:
    ~EventHandler() = default;
};

/**
 * The steps of one instant.
 *
 * Events of the same picosecond run in this order, so that a result does not depend on how many
 * events an implementation needs to get there.
 */
enum class EventPhase : uint64_t
{
    RELEASE = 0, ///< Frames that have left give back their room, by port.
    ARRIVAL = 1, ///< Last bytes of frames, by channel.
    TIMER = 2,   ///< Timers and ordinary ns-3 events, in order of scheduling.
    PICK = 3,    ///< Ports choose their next frame, by port.
};

/// A plain event: when, its place within the instant, and what happens to whom.
struct Event
{
    TimePs time;
    uint64_t order; ///< Phase in the two upper bits, then channel, sequence or port.
    EventHandler* handler;
    uint64_t argument;
};

/// The pending events: a 4-ary heap over (time, order), without an allocation per event.
class EventQueue
{
  public:
    bool IsEmpty() const
    {
        return m_heap.empty();
    }

    size_t Size() const
    {
        return m_heap.size();
    }

    const Event& Top() const
    {
        return m_heap.front();
    }

    void Push(const Event& event)
    {
        size_t hole = m_heap.size();
        m_heap.push_back(event);
        while (hole > 0)
        {
            const size_t parent = (hole - 1) / ARITY;
            if (!IsBefore(event, m_heap[parent]))
            {
                break;
            }
            m_heap[hole] = m_heap[parent];
            hole = parent;
        }
        m_heap[hole] = event;
    }

    Event Pop()
    {
        const Event top = m_heap.front();
        const Event last = m_heap.back();
        m_heap.pop_back();
        if (!m_heap.empty())
        {
            SiftDown(last);
        }
        return top;
    }

    void Clear()
    {
        m_heap.clear();
    }

    /// Take out the events for which a predicate holds; the order of the others is as it was.
    template <typename PREDICATE>
    void EraseIf(const PREDICATE& predicate)
    {
        std::erase_if(m_heap, predicate);
        // No two events have the same key, so a sorted array is a heap like any other.
        std::sort(m_heap.begin(), m_heap.end(), IsBefore);
    }

    static constexpr uint64_t MakeOrder(EventPhase phase, uint64_t rank)
    {
        return (static_cast<uint64_t>(phase) << PHASE_SHIFT) | rank;
    }

  private:
    static constexpr size_t ARITY = 4;
    static constexpr unsigned PHASE_SHIFT = 62;

    static UInt128 Key(const Event& event)
    {
        return (static_cast<UInt128>(static_cast<uint64_t>(event.time)) << 64) | event.order;
    }

    static bool IsBefore(const Event& a, const Event& b)
    {
        return Key(a) < Key(b);
    }

    void SiftDown(const Event& event)
    {
        const size_t size = m_heap.size();
        size_t hole = 0;
        for (;;)
        {
            const size_t first = hole * ARITY + 1;
            if (first >= size)
            {
                break;
            }
            const size_t end = first + ARITY < size ? first + ARITY : size;
            size_t least = first;
            auto leastKey = Key(m_heap[first]);
            for (size_t child = first + 1; child < end; ++child)
            {
                const auto key = Key(m_heap[child]);
                if (key < leastKey)
                {
                    least = child;
                    leastKey = key;
                }
            }
            if (!(leastKey < Key(event)))
            {
                break;
            }
            m_heap[hole] = m_heap[least];
            hole = least;
        }
        m_heap[hole] = event;
    }

    std::vector<Event> m_heap;
};

} // namespace ns3

#endif // ASTRA_EVENT_QUEUE_H
