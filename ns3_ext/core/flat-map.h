// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FLAT_MAP_H
#define ASTRA_FLAT_MAP_H

#include "hash.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * Small values by number, in one array: a look-up touches one cache line most of the time, and an
 * entry takes no allocation.
 *
 * @tparam T Default constructible; its entries move when others come in.
 */
template <typename T>
class FlatMap
{
  public:
    /// The value of a key, or none; valid until another one comes in.
    T* Find(uint64_t key)
    {
        if (m_entries.empty())
        {
            return nullptr;
        }
        Entry& entry = m_entries[PlaceOf(key)];
        return entry.key == key ? &entry.value : nullptr;
    }

    /// The value of a key, a new one if there was none; valid until another one comes in.
    T& operator[](uint64_t key)
    {
        if (2 * (m_size + 1) > m_entries.size())
        {
            Grow();
        }
        Entry& entry = m_entries[PlaceOf(key)];
        if (entry.key != key)
        {
            entry.key = key;
            ++m_size;
        }
        return entry.value;
    }

    void Clear()
    {
        m_entries.clear();
        m_size = 0;
    }

  private:
    /// Of an entry that is free; no caller has it.
    static constexpr uint64_t NO_KEY = std::numeric_limits<uint64_t>::max();
    static constexpr size_t FEWEST_ENTRIES = 8;

    struct Entry
    {
        uint64_t key{NO_KEY};
        T value{};
    };

    /// Where a key is, or would be.
    size_t PlaceOf(uint64_t key) const
    {
        const size_t mask = m_entries.size() - 1; // Their number is a power of two.
        size_t place = Mix64(key) & mask;
        while (m_entries[place].key != key && m_entries[place].key != NO_KEY)
        {
            place = (place + 1) & mask;
        }
        return place;
    }

    void Grow()
    {
        std::vector<Entry> before(m_entries.empty() ? FEWEST_ENTRIES : 2 * m_entries.size());
        before.swap(m_entries);
        for (const Entry& entry : before)
        {
            if (entry.key != NO_KEY)
            {
                m_entries[PlaceOf(entry.key)] = entry;
            }
        }
    }

    std::vector<Entry> m_entries; ///< At least half of them free.
    size_t m_size{0};
};

} // namespace ns3

#endif // ASTRA_FLAT_MAP_H
