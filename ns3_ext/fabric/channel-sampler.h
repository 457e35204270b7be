// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CHANNEL_SAMPLER_H
#define ASTRA_CHANNEL_SAMPLER_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../core/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

class Fabric;

/// What each channel carried by bins of time; row b of a column begins at b x channels.
struct ChannelBins
{
    TimePs width{0};                ///< Of every bin but the last.
    std::vector<int64_t> end;       ///< By bin; the first begins at 0.
    std::vector<int64_t> lineBytes; ///< By bin and channel: bytes that were sent in it.
    std::vector<int64_t> maxQueue;  ///< By bin and channel: most bytes that waited or were sent.
};

/**
 * Looks at every port now and then, so that frames cost nothing.
 *
 * When there is no room for another bin, each two become one, and the width doubles. It looks
 * between events: a run has the same events with a sampler and without.
 */
class ChannelSampler
{
  public:
    /**
     * @param fabric, loop What is looked at, and by which clock; must outlive the sampler.
     * @param channels How many there are.
     * @param mostBins At least 2, and even.
     */
    ChannelSampler(Fabric& fabric, EventLoop& loop, uint32_t channels, uint32_t mostBins);
    ~ChannelSampler();

    ChannelSampler(const ChannelSampler&) = delete;
    ChannelSampler& operator=(const ChannelSampler&) = delete;

    /// Bins up to now; the last one may be shorter than the others.
    ChannelBins TakeBins();

  private:
    void BinIsOver(uint64_t);
    void CloseBin(TimePs end);
    void MergePairs();

    /// Width of the first bins: less than most messages take.
    static constexpr TimePs FIRST_WIDTH = 100'000;

    Fabric& m_fabric;
    EventLoop& m_loop;
    const uint32_t m_channels;
    const uint32_t m_mostBins;
    MemberHandler<ChannelSampler, &ChannelSampler::BinIsOver> m_handler;
    ChannelBins m_bins;
    std::vector<ByteCount> m_sentBefore; ///< By channel, until the last bin's end.
};

} // namespace ns3

#endif // ASTRA_CHANNEL_SAMPLER_H
