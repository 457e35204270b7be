// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_RING_QUEUE_H
#define ASTRA_RING_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace ns3
{

/**
 * First in, first out, in one piece of memory that grows to the longest that the queue has been.
 *
 * @tparam T A plain value.
 */
template <typename T>
class RingQueue
{
  public:
    bool IsEmpty() const
    {
        return m_size == 0;
    }

    size_t Size() const
    {
        return m_size;
    }

    /// The item that was pushed first; there is one.
    const T& Front() const
    {
        return m_items[m_head];
    }

    /// The item with `index` others before it.
    const T& At(size_t index) const
    {
        return m_items[(m_head + index) & (m_capacity - 1)];
    }

    /// Bring the memory of the item that was pushed first closer.
    void PrefetchFront() const
    {
        __builtin_prefetch(&m_items[m_head]);
    }

    void Push(const T& item)
    {
        if (m_size == m_capacity)
        {
            Grow();
        }
        m_items[(m_head + m_size++) & (m_capacity - 1)] = item;
    }

    T Pop()
    {
        const T item = m_items[m_head];
        m_head = (m_head + 1) & (m_capacity - 1);
        --m_size;
        return item;
    }

  private:
    static constexpr uint32_t FIRST_CAPACITY = 4;

    void Grow()
    {
        const uint32_t capacity = m_capacity == 0 ? FIRST_CAPACITY : 2 * m_capacity;
        auto items = std::make_unique<T[]>(capacity);
        for (uint32_t i = 0; i < m_size; ++i)
        {
            items[i] = At(i);
        }
        m_items = std::move(items);
        m_capacity = capacity;
        m_head = 0;
    }

    std::unique_ptr<T[]> m_items;
    uint32_t m_capacity{0}; ///< A power of two, or nothing yet.
    uint32_t m_head{0};
    uint32_t m_size{0};
};

} // namespace ns3

#endif // ASTRA_RING_QUEUE_H
