// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_POOL_SET_H
#define ASTRA_POOL_SET_H

#include "schedule-description.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * Counting semaphores with an order of grants.
 *
 * Who waits is named by a number of the caller's, who goes on with whoever Release returns.
 */
class PoolSet
{
  public:
    static constexpr uint64_t NOBODY = std::numeric_limits<uint64_t>::max();

    /// Make all pools free again.
    void Reset(const PoolColumns& columns)
    {
        m_pools.resize(columns.owner.size());
        for (size_t i = 0; i < m_pools.size(); ++i)
        {
            m_pools[i].free = columns.capacity[i];
            m_pools[i].order = columns.order[i];
            m_pools[i].waiting.clear();
            m_pools[i].head = 0;
        }
    }

    /**
     * Take a unit, or join those who wait for one.
     *
     * @param pool Which.
     * @param who Who; not NOBODY.
     * @param priority Larger ones are granted first where the pool's order is PRIORITY.
     * @return Whether the unit was there.
     */
    bool Take(size_t pool, uint64_t who, uint8_t priority)
    {
        Pool& p = m_pools[pool];
        if (p.free > 0)
        {
            --p.free;
            return true;
        }
        p.waiting.push_back(Waiting{who, priority});
        return false;
    }

    /// Give a unit back; returns who has it now, or NOBODY.
    uint64_t Release(size_t pool)
    {
        Pool& p = m_pools[pool];
        if (p.head == p.waiting.size())
        {
            ++p.free;
            return NOBODY;
        }
        size_t chosen = p.head;
        if (p.order == PoolOrder::LIFO)
        {
            chosen = p.waiting.size() - 1;
        }
        else if (p.order == PoolOrder::PRIORITY)
        {
            for (size_t i = p.head + 1; i < p.waiting.size(); ++i)
            {
                if (p.waiting[i].priority > p.waiting[chosen].priority)
                {
                    chosen = i;
                }
            }
        }
        const uint64_t who = p.waiting[chosen].who;
        if (chosen == p.head)
        {
            ++p.head;
        }
        else
        {
            p.waiting.erase(p.waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
        }
        if (p.head == p.waiting.size())
        {
            p.waiting.clear();
            p.head = 0;
        }
        return who;
    }

  private:
    struct Waiting
    {
        uint64_t who;
        uint8_t priority;
    };

    struct Pool
    {
        int32_t free{0};
        PoolOrder order{PoolOrder::FIFO};
        std::vector<Waiting> waiting; ///< In order of coming, from head on.
        size_t head{0};
    };

    std::vector<Pool> m_pools;
};

} // namespace ns3

#endif // ASTRA_POOL_SET_H
