// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_QUEUE_PAIR_STORE_H
#define ASTRA_QUEUE_PAIR_STORE_H

#include "queue-pair.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * All queue pairs by index, which frames carry; they never move.
 *
 * A queue pair's place follows from its index, so that finding one touches nothing else.
 */
class QueuePairStore
{
  public:
    /// A new queue pair, with the index that was given back last, or else the next one.
    QueuePair* Take()
    {
        uint32_t index = m_size;
        if (m_free.empty())
        {
            if (m_size % BLOCK_ITEMS == 0)
            {
                m_blocks.push_back(std::make_unique<QueuePair[]>(BLOCK_ITEMS));
            }
            ++m_size;
        }
        else
        {
            index = m_free.back();
            m_free.pop_back();
            *At(index) = QueuePair{};
        }
        At(index)->index = index;
        return At(index);
    }

    void Give(const QueuePair* queuePair)
    {
        m_free.push_back(queuePair->index);
    }

    QueuePair* At(uint32_t index)
    {
        return &m_blocks[index / BLOCK_ITEMS][index % BLOCK_ITEMS];
    }

  private:
    static constexpr uint32_t BLOCK_ITEMS = 256;

    std::vector<std::unique_ptr<QueuePair[]>> m_blocks;
    std::vector<uint32_t> m_free;
    uint32_t m_size{0}; ///< Indices that were ever given.
};

} // namespace ns3

#endif // ASTRA_QUEUE_PAIR_STORE_H
