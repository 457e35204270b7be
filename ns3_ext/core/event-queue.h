// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_EVENT_QUEUE_H
#define ASTRA_EVENT_QUEUE_H

#include "event-heap.h"
#include "event-wheel.h"
#include "event.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace ns3
{

/**
 * The pending events, without an allocation per event: a heap of those that come next, and a wheel
 * of all others.
 *
 * While there are few the heap has them all.
 */
class EventQueue
{
  public:
    bool IsEmpty() const
    {
        return m_near.IsEmpty() && m_far.IsEmpty();
    }

    size_t Size() const
    {
        return m_near.Size() + m_far.Size();
    }

    /// The event that comes first; there is one.
    const Event& Top()
    {
        if (m_near.IsEmpty())
        {
            Refill();
        }
        return m_near.Top();
    }

    void Push(const Event& event)
    {
        if (event.time > m_far.Reached())
        {
            m_far.Push(event);
            return;
        }
        m_near.Push(event);
        if (m_near.Size() > MOST_IN_HEAP && m_far.Reached() == NOT_IN_USE)
        {
            UseWheel();
        }
    }

    /// Take the event that comes first out; Top() was called since the last one.
    Event Pop()
    {
        return m_near.Pop();
    }

    void Clear()
    {
        m_near.Clear();
        m_far.Clear();
        m_far.Start(NOT_IN_USE);
    }

    /// Take out the events for which a predicate holds; the order of the others is as it was.
    template <typename PREDICATE>
    void EraseIf(const PREDICATE& predicate)
    {
        m_near.EraseIf(predicate);
        m_far.EraseIf(predicate);
    }

    static constexpr uint64_t MakeOrder(EventPhase phase, uint64_t rank)
    {
        return (static_cast<uint64_t>(phase) << PHASE_SHIFT) | rank;
    }

  private:
    static constexpr unsigned PHASE_SHIFT = 61;
    static constexpr TimePs NOT_IN_USE = std::numeric_limits<TimePs>::max();
    static constexpr size_t MOST_IN_HEAP = 64;
    static constexpr size_t FEWEST_IN_WHEEL = 16;
    static constexpr size_t FEWEST_OUT_OF_CACHE = 512;

    void Refill()
    {
        if (m_far.Size() > FEWEST_IN_WHEEL)
        {
            m_far.MoveFirst(m_near);
            if (m_far.Size() >= FEWEST_OUT_OF_CACHE)
            {
                m_near.Foresee();
            }
            return;
        }
        m_far.MoveAll(m_near);
        m_far.Start(NOT_IN_USE);
    }

    void UseWheel()
    {
        m_far.Start(m_near.Top().time);
        m_near.EraseIf([this](const Event& event) {
            const bool isFar = event.time > m_far.Reached();
            if (isFar)
            {
                m_far.Push(event);
            }
            return isFar;
        });
    }

    EventHeap m_near;
    EventWheel m_far;
};

} // namespace ns3

#endif // ASTRA_EVENT_QUEUE_H
