// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PATH_STORE_H
#define ASTRA_PATH_STORE_H

#include "../core/units.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace ns3
{

/// Keeps ways for as long as it lives, where frames can point at them: they never move.
class PathStore
{
  public:
    const ChannelId* Store(const std::vector<ChannelId>& path)
    {
        if (m_blocks.empty() || m_blocks.back().size() + path.size() > m_blocks.back().capacity())
        {
            m_blocks.emplace_back().reserve(std::max(BLOCK_CHANNELS, path.size()));
        }
        std::vector<ChannelId>& block = m_blocks.back();
        const size_t start = block.size();
        block.insert(block.end(), path.begin(), path.end());
        return block.data() + start;
    }

  private:
    static constexpr size_t BLOCK_CHANNELS = 1U << 14;

    std::deque<std::vector<ChannelId>> m_blocks;
};

} // namespace ns3

#endif // ASTRA_PATH_STORE_H
