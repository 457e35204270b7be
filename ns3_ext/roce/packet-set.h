// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PACKET_SET_H
#define ASTRA_PACKET_SET_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * A set of packet numbers above a floor that only rises: one bit each, as far as the set reaches.
 */
class PacketSet
{
  public:
    /// @param floor Least number that can come in.
    explicit PacketSet(uint64_t floor)
        : m_floor(floor)
    {
    }

    bool IsEmpty() const
    {
        return m_count == 0;
    }

    bool Contains(uint64_t psn) const
    {
        return m_count != 0 && psn >= m_floor && psn - m_floor < Capacity() && IsSet(psn);
    }

    /// Put in a number that is not below the floor.
    void Insert(uint64_t psn)
    {
        if (psn - m_floor >= Capacity())
        {
            Grow(psn - m_floor + 1);
        }
        if (!IsSet(psn))
        {
            Word(psn) |= Bit(psn);
            ++m_count;
        }
    }

    /// Raise the floor, and forget what is then below it.
    void RaiseFloor(uint64_t floor)
    {
        while (m_count != 0 && m_floor < floor)
        {
            if (IsSet(m_floor))
            {
                Word(m_floor) &= ~Bit(m_floor);
                --m_count;
            }
            ++m_floor;
        }
        m_floor = std::max(m_floor, floor);
    }

  private:
    static constexpr uint64_t WORD_BITS = 64;

    uint64_t Capacity() const
    {
        return m_words.size() * WORD_BITS;
    }

    static uint64_t Bit(uint64_t psn)
    {
        return uint64_t{1} << (psn % WORD_BITS);
    }

    /// Numbers share a word's place modulo the capacity, a power of two.
    uint64_t& Word(uint64_t psn)
    {
        return m_words[psn / WORD_BITS & (m_words.size() - 1)];
    }

    bool IsSet(uint64_t psn) const
    {
        return (m_words[psn / WORD_BITS & (m_words.size() - 1)] & Bit(psn)) != 0;
    }

    void Grow(uint64_t span)
    {
        PacketSet larger(m_floor);
        size_t words = std::max<size_t>(m_words.size(), 1);
        while (words * WORD_BITS < span + WORD_BITS)
        {
            words *= 2;
        }
        larger.m_words.assign(words, 0);
        for (uint64_t psn = m_floor; larger.m_count < m_count; ++psn)
        {
            if (IsSet(psn))
            {
                larger.Insert(psn);
            }
        }
        *this = std::move(larger);
    }

    uint64_t m_floor;
    uint64_t m_count{0};
    std::vector<uint64_t> m_words; ///< Bits from the floor on, in a circle.
};

} // namespace ns3

#endif // ASTRA_PACKET_SET_H
