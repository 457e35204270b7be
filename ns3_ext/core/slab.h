// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SLAB_H
#define ASTRA_SLAB_H

#include <cstddef>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * A pool of equal objects that never move, handed out and taken back without the allocator.
 *
 * Objects are reset to a default-constructed value when handed out. Memory is kept until the slab
 * goes, so a run's footprint is its largest moment.
 *
 * @tparam T Default constructible, with a member `T* next` that is the slab's while it is free.
 */
template <typename T>
class Slab
{
  public:
    T* Take()
    {
        if (m_free == nullptr)
        {
            Grow();
        }
        T* item = m_free;
        m_free = item->next;
        *item = T{};
        ++m_live;
        return item;
    }

    void Give(T* item)
    {
        item->next = m_free;
        m_free = item;
        --m_live;
    }

    /// Objects handed out and not taken back.
    size_t Live() const
    {
        return m_live;
    }

  private:
    static constexpr size_t BLOCK_ITEMS = 1024;

    void Grow()
    {
        m_blocks.push_back(std::make_unique<T[]>(BLOCK_ITEMS));
        T* block = m_blocks.back().get();
        for (size_t i = BLOCK_ITEMS; i-- > 0;)
        {
            block[i].next = m_free;
            m_free = &block[i];
        }
    }

    std::vector<std::unique_ptr<T[]>> m_blocks;
    T* m_free{nullptr};
    size_t m_live{0};
};

} // namespace ns3

#endif // ASTRA_SLAB_H
