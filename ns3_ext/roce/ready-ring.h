// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_READY_RING_H
#define ASTRA_READY_RING_H

#include "../fabric/frame.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

struct QueuePair;

/**
 * The queue pairs of a port that have a packet to send, served round robin in order of their keys,
 * starting after the one served last.
 *
 * A queue pair keeps its place when it is taken out, so that it comes back without moving others;
 * a bit tells who is in. Places are given up where most of them are of queue pairs that are out.
 */
class ReadyRing
{
  public:
    bool IsEmpty() const
    {
        return m_count == 0;
    }

    /// Put in a queue pair that is out; no other one has its key. Its next packet is of that size.
    void Insert(QueuePair* queuePair, uint64_t key, const FrameSize& size)
    {
        size_t place = FirstNotBefore(key);
        if (place == m_places.size() || m_places[place].key != key)
        {
            if (m_places.size() >= FEW_PLACES && 2 * m_count < m_places.size())
            {
                GiveUpPlaces();
                place = FirstNotBefore(key);
            }
            MakePlace(place);
            m_places[place].key = key;
            // Whoever comes before the one served last has missed this round.
            m_next += m_hasServed && key <= m_lastKey ? 1 : 0;
        }
        m_places[place].queuePair = queuePair;
        m_places[place].size = size;
        m_isIn[place / WORD] |= Bit(place);
        ++m_count;
    }

    /// The size of what whose turn it is has to send next: without a look at the queue pair.
    const FrameSize& NextSize() const
    {
        return m_places[PlaceOfNext()].size;
    }

    /// The one served last, which is in, has another packet to send next.
    void SetSizeOfServed(const FrameSize& size)
    {
        m_places[m_next - 1].size = size;
    }

    /// A queue pair that is in has another packet to send next.
    void SetSize(uint64_t key, const FrameSize& size)
    {
        m_places[FirstNotBefore(key)].size = size;
    }

    /// The queue pair whose turn it is; it stays in the ring.
    QueuePair* Serve()
    {
        const size_t place = PlaceOfNext();
        m_next = place + 1;
        m_lastKey = m_places[place].key;
        m_hasServed = true;
        return m_places[place].queuePair;
    }

    /// Take out a queue pair that is in.
    void Remove(uint64_t key)
    {
        // Most often it is the one served last.
        const bool isLast = m_hasServed && key == m_lastKey;
        const size_t place = isLast ? m_next - 1 : FirstNotBefore(key);
        m_isIn[place / WORD] &= ~Bit(place);
        --m_count;
    }

  private:
    static constexpr size_t WORD = 64;
    static constexpr size_t FEW_PLACES = 64;

    struct Place
    {
        uint64_t key;
        QueuePair* queuePair; ///< Not valid while its bit is not set.
        FrameSize size;
    };

    static uint64_t Bit(size_t place)
    {
        return uint64_t{1} << (place % WORD);
    }

    /// The first place whose key is not smaller, or their number.
    size_t FirstNotBefore(uint64_t key) const
    {
        if (m_places.empty() || m_places.back().key < key)
        {
            return m_places.size(); // Connections are mostly made in this order.
        }
        const auto place = std::lower_bound(
            m_places.begin(),
            m_places.end(),
            key,
            [](const Place& candidate, uint64_t wanted) { return candidate.key < wanted; });
        return static_cast<size_t>(place - m_places.begin());
    }

    /// The first place from one on whose queue pair is in, or their number.
    size_t FirstIn(size_t from) const
    {
        size_t word = from / WORD;
        uint64_t bits = word < m_isIn.size() ? m_isIn[word] & -Bit(from) : 0;
        while (bits == 0)
        {
            if (++word >= m_isIn.size())
            {
                return m_places.size();
            }
            bits = m_isIn[word];
        }
        return word * WORD + static_cast<size_t>(std::countr_zero(bits));
    }

    /// The place of the one whose turn it is; there is one.
    size_t PlaceOfNext() const
    {
        const size_t place = FirstIn(m_next);
        return place == m_places.size() ? FirstIn(0) : place;
    }

    /// Move all from a place on one further; it is out.
    void MakePlace(size_t place)
    {
        m_places.insert(m_places.begin() + static_cast<std::ptrdiff_t>(place), Place{});
        if (m_places.size() > m_isIn.size() * WORD)
        {
            m_isIn.push_back(0);
        }
        size_t word = place / WORD;
        const uint64_t before = Bit(place) - 1;
        uint64_t carry = m_isIn[word] >> (WORD - 1);
        m_isIn[word] = (m_isIn[word] & before) | ((m_isIn[word] & ~before) << 1);
        while (++word < m_isIn.size())
        {
            const uint64_t next = m_isIn[word] >> (WORD - 1);
            m_isIn[word] = (m_isIn[word] << 1) | carry;
            carry = next;
        }
    }

    /// Forget the places of queue pairs that are out.
    void GiveUpPlaces()
    {
        size_t kept = 0;
        size_t next = 0;
        for (size_t place = FirstIn(0); place < m_places.size(); place = FirstIn(place + 1))
        {
            next += place < m_next ? 1 : 0;
            m_places[kept++] = m_places[place];
        }
        m_places.resize(kept);
        m_next = next;
        m_isIn.assign((kept + WORD - 1) / WORD, ~uint64_t{0});
        if (kept % WORD != 0)
        {
            m_isIn.back() = Bit(kept) - 1;
        }
    }

    std::vector<Place> m_places; ///< In order of key.
    std::vector<uint64_t> m_isIn;
    size_t m_count{0}; ///< Of those that are in.
    size_t m_next{0};  ///< Where to look for whose turn it is.
    uint64_t m_lastKey{0};
    bool m_hasServed{false};
};

} // namespace ns3

#endif // ASTRA_READY_RING_H
