// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CHOSEN_PATHS_H
#define ASTRA_CHOSEN_PATHS_H

#include "platform-description.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/// The ways that a user's function chose before the run, by flow.
class ChosenPaths
{
  public:
    /**
     * @param platform Checked, with its chosen ways; must outlive this.
     * @throws ConfigError when a way does not lead from its source to its destination, or the queue
     *         pairs of a pair of ranks are not 0, 1, ...
     */
    explicit ChosenPaths(const PlatformDescription& platform);

    /**
     * Append a flow's way; queue pairs beyond those of the table share its ways in turn.
     *
     * @throws ConfigError when none was chosen for the pair of ranks.
     */
    void Find(const FlowIdentity& flow, std::vector<ChannelId>& path) const;

  private:
    bool DoesLead(const FlowIdentity& flow, size_t row) const;

    const PlatformDescription& m_platform;
    std::unordered_map<uint64_t, std::vector<size_t>> m_rows; ///< By pair of ranks.
};

} // namespace ns3

#endif // ASTRA_CHOSEN_PATHS_H
