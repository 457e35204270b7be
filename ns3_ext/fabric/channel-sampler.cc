// SPDX-License-Identifier: GPL-2.0-only
#include "channel-sampler.h"

#include "fabric.h"

#include <algorithm>
#include <utility>

namespace ns3
{

ChannelSampler::ChannelSampler(Fabric& fabric,
                               EventLoop& loop,
                               uint32_t channels,
                               uint32_t mostBins)
    : m_fabric(fabric),
      m_loop(loop),
      m_channels(channels),
      m_mostBins(mostBins),
      m_handler(*this),
      m_sentBefore(channels, 0)
{
    m_bins.width = FIRST_WIDTH;
    m_loop.CallAfter(loop.Now() + FIRST_WIDTH, m_handler);
}

ChannelSampler::~ChannelSampler()
{
    m_loop.CallNobody();
}

void
ChannelSampler::BinIsOver(uint64_t)
{
    CloseBin(m_loop.Now());
    if (m_bins.end.size() == m_mostBins)
    {
        MergePairs();
    }
    m_loop.CallAfter(m_loop.Now() + m_bins.width, m_handler);
}

void
ChannelSampler::CloseBin(TimePs end)
{
    m_bins.end.push_back(end);
    for (ChannelId channel = 0; channel < m_channels; ++channel)
    {
        const ByteCount sent = m_fabric.SentLineBytes(channel);
        m_bins.lineBytes.push_back(sent - std::exchange(m_sentBefore[channel], sent));
        m_bins.maxQueue.push_back(m_fabric.TakeMaxQueue(channel));
    }
}

void
ChannelSampler::MergePairs()
{
    const size_t pairs = m_bins.end.size() / 2;
    for (size_t pair = 0; pair < pairs; ++pair)
    {
        m_bins.end[pair] = m_bins.end[2 * pair + 1];
        const size_t to = pair * m_channels;
        const size_t from = 2 * to;
        for (size_t channel = 0; channel < m_channels; ++channel)
        {
            const size_t first = from + channel;
            const size_t second = first + m_channels;
            m_bins.lineBytes[to + channel] = m_bins.lineBytes[first] + m_bins.lineBytes[second];
            m_bins.maxQueue[to + channel] =
                std::max(m_bins.maxQueue[first], m_bins.maxQueue[second]);
        }
    }
    m_bins.end.resize(pairs);
    m_bins.lineBytes.resize(pairs * m_channels);
    m_bins.maxQueue.resize(pairs * m_channels);
    m_bins.width *= 2;
}

ChannelBins
ChannelSampler::TakeBins()
{
    const TimePs reached = m_bins.end.empty() ? 0 : m_bins.end.back();
    if (m_loop.Now() > reached)
    {
        CloseBin(m_loop.Now());
    }
    return std::exchange(m_bins, ChannelBins{});
}

} // namespace ns3
