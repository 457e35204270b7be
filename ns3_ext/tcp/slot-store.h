// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SLOT_STORE_H
#define ASTRA_SLOT_STORE_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/// Things that wait, each under a number that an event can carry.
template <typename T>
class SlotStore
{
  public:
    /// @return The number under which it waits, one that nothing else has meanwhile.
    uint64_t Put(T item)
    {
        if (m_free.empty())
        {
            m_items.push_back(std::move(item));
            return m_items.size() - 1;
        }
        const size_t slot = m_free.back();
        m_free.pop_back();
        m_items[slot] = std::move(item);
        return slot;
    }

    T& At(uint64_t slot)
    {
        return m_items[slot];
    }

    T Take(uint64_t slot)
    {
        m_free.push_back(slot);
        return std::exchange(m_items[slot], T{});
    }

  private:
    std::vector<T> m_items;
    std::vector<size_t> m_free;
};

} // namespace ns3

#endif // ASTRA_SLOT_STORE_H
