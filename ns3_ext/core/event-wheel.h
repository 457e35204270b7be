// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_EVENT_WHEEL_H
#define ASTRA_EVENT_WHEEL_H

#include "event-heap.h"
#include "event.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * Events that are still far off, sorted by time no finer than is needed yet: a hierarchy of timing
 * wheels (Varghese and Lauck, SOSP 1987, scheme 7).
 *
 * Times are read as numbers of base 64. An event lies at the level of the first digit in which its
 * time differs from `Reached()`, in the slot of that digit; all times up to `Reached()` have been
 * handed out. So the earliest events are in the first slot in use of the lowest level in use, and
 * each event moves down a few levels in its life, whatever the number of events.
 */
class EventWheel
{
  public:
    EventWheel()
    {
        m_slots.fill(nullptr);
    }

    bool IsEmpty() const
    {
        return m_size == 0;
    }

    size_t Size() const
    {
        return m_size;
    }

    /// Events up to this time are no longer here, and are not taken any more.
    TimePs Reached() const
    {
        return m_reached;
    }

    /// Begin at a time; there are no events here.
    void Start(TimePs reached)
    {
        m_reached = reached;
    }

    /// Take an event; its time is after Reached().
    void Push(const Event& event)
    {
        ++m_size;
        Place(event);
    }

    /// Hand out the events that come first, of one slot; there are some.
    void MoveFirst(EventHeap& heap)
    {
        while (heap.IsEmpty())
        {
            const auto level = static_cast<unsigned>(std::countr_zero(m_levels));
            const auto digit = static_cast<unsigned>(std::countr_zero(m_used[level]));
            const unsigned shift = level * DIGIT_BITS;
            const TimePs width = TimePs{1} << shift;
            const TimePs begin =
                (m_reached & -(width << DIGIT_BITS)) | (static_cast<TimePs>(digit) << shift);
            Chunk* chunk = Detach(level, digit);
            if (shift == 0 || (chunk->next == nullptr && width <= WIDEST))
            {
                m_reached = begin + (width - 1);
                HandOut(chunk, heap);
                continue;
            }
            m_reached = begin;
            Spread(chunk, heap);
        }
    }

    /// Hand out all events.
    void MoveAll(EventHeap& heap)
    {
        while (m_levels != 0)
        {
            const auto level = static_cast<unsigned>(std::countr_zero(m_levels));
            HandOut(Detach(level, static_cast<unsigned>(std::countr_zero(m_used[level]))), heap);
        }
    }

    void Clear()
    {
        EraseIf([](const Event&) { return true; });
    }

    /// Take out the events for which a predicate holds.
    template <typename PREDICATE>
    void EraseIf(const PREDICATE& predicate)
    {
        for (unsigned level = 0; level < LEVELS; ++level)
        {
            for (uint64_t left = m_used[level]; left != 0; left &= left - 1)
            {
                Chunk* chunk = Detach(level, static_cast<unsigned>(std::countr_zero(left)));
                while (chunk != nullptr)
                {
                    for (uint32_t i = 0; i < chunk->count; ++i)
                    {
                        predicate(chunk->events[i]) ? void(--m_size) : Place(chunk->events[i]);
                    }
                    chunk = Recycle(chunk);
                }
            }
        }
    }

  private:
    static constexpr unsigned DIGIT_BITS = 6;
    static constexpr unsigned DIGITS = 1U << DIGIT_BITS;
    static constexpr unsigned LEVELS = 10; ///< Enough for MAX_TIME_PS.
    /// Slots that are wider are spread first: what is scheduled meanwhile may belong between.
    static constexpr TimePs WIDEST = TimePs{1} << 12;

    /// Some events of a slot.
    struct Chunk
    {
        static constexpr uint32_t CAPACITY = 15;

        Chunk* next{nullptr};
        uint32_t count{0};
        std::array<Event, CAPACITY> events;
    };

    void Place(const Event& event)
    {
        const auto differing = static_cast<uint64_t>(event.time ^ m_reached);
        const auto level = (static_cast<unsigned>(std::bit_width(differing)) - 1) / DIGIT_BITS;
        const auto digit = static_cast<unsigned>(event.time >> (level * DIGIT_BITS)) & (DIGITS - 1);
        Chunk*& first = m_slots[level * DIGITS + digit];
        if (first == nullptr || first->count == Chunk::CAPACITY)
        {
            first = NewChunk(first);
            m_used[level] |= uint64_t{1} << digit;
            m_levels |= 1U << level;
        }
        first->events[first->count++] = event;
    }

    /// Take a slot's events out.
    Chunk* Detach(unsigned level, unsigned digit)
    {
        m_used[level] &= ~(uint64_t{1} << digit);
        if (m_used[level] == 0)
        {
            m_levels &= ~(1U << level);
        }
        return std::exchange(m_slots[level * DIGITS + digit], nullptr);
    }

    void HandOut(Chunk* chunk, EventHeap& heap)
    {
        while (chunk != nullptr)
        {
            for (uint32_t i = 0; i < chunk->count; ++i)
            {
                heap.Push(chunk->events[i]);
            }
            m_size -= chunk->count;
            chunk = Recycle(chunk);
        }
    }

    /// Move a slot's events down by at least a level; those at its very beginning are due.
    void Spread(Chunk* chunk, EventHeap& heap)
    {
        while (chunk != nullptr)
        {
            for (uint32_t i = 0; i < chunk->count; ++i)
            {
                const Event& event = chunk->events[i];
                if (event.time == m_reached)
                {
                    heap.Push(event);
                    --m_size;
                }
                else
                {
                    Place(event);
                }
            }
            chunk = Recycle(chunk);
        }
    }

    Chunk* NewChunk(Chunk* next)
    {
        if (m_free == nullptr)
        {
            Grow();
        }
        Chunk* chunk = m_free;
        m_free = chunk->next;
        chunk->next = next;
        chunk->count = 0;
        return chunk;
    }

    /// Give a chunk back; returns the one after it.
    Chunk* Recycle(Chunk* chunk)
    {
        Chunk* const next = chunk->next;
        chunk->next = m_free;
        m_free = chunk;
        return next;
    }

    void Grow()
    {
        constexpr size_t BLOCK_CHUNKS = 64;
        m_blocks.push_back(std::make_unique<Chunk[]>(BLOCK_CHUNKS));
        for (size_t i = BLOCK_CHUNKS; i-- > 0;)
        {
            Recycle(&m_blocks.back()[i]);
        }
    }

    TimePs m_reached{0};
    size_t m_size{0};
    uint32_t m_levels{0};                  ///< Bit l is set while level l has events.
    std::array<uint64_t, LEVELS> m_used{}; ///< Bit d is set while slot d of the level has some.
    std::array<Chunk*, LEVELS * DIGITS> m_slots;
    Chunk* m_free{nullptr};
    std::vector<std::unique_ptr<Chunk[]>> m_blocks;
};

} // namespace ns3

#endif // ASTRA_EVENT_WHEEL_H
