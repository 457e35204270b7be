// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_OPERATION_LOG_H
#define ASTRA_OPERATION_LOG_H

#include "../core/units.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * When the operations of all instances could start, and did, and which pools they waited for.
 *
 * One row an operation, those of all instances one after another.
 */
struct OperationLog
{
    std::vector<int64_t> ready; ///< All it depends on is there, and its owner has joined.
    std::vector<int64_t> start; ///< It has its pools, too.
    std::vector<int64_t> end;   ///< Of local ones.
    // Pools that were not free, each from its time to the operation's next one, or to its start.
    std::vector<int64_t> waitRow;
    std::vector<int32_t> waitPool;
    std::vector<int64_t> waitTime;

    void Reset(size_t rows)
    {
        ready.assign(rows, NEVER_PS);
        start.assign(rows, NEVER_PS);
        end.assign(rows, NEVER_PS);
    }

    void Waits(size_t row, int32_t pool, TimePs now)
    {
        waitRow.push_back(static_cast<int64_t>(row));
        waitPool.push_back(pool);
        waitTime.push_back(now);
    }
};

} // namespace ns3

#endif // ASTRA_OPERATION_LOG_H
