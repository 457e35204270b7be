// SPDX-License-Identifier: GPL-2.0-only
// Flows of FlowShares come and go.
#include "flow-shares.h"

#include <algorithm>
#include <bit>

namespace ns3
{

namespace
{

/// Rates in units are below 2^62, so that two of them still fit 64 bits.
constexpr unsigned RATE_BITS = 62;
/// More work than any rate does in simulated time.
constexpr Int128 MOST_WORK = static_cast<Int128>(1) << 124;

} // namespace

FlowShares::FlowShares(const PlatformDescription& platform, uint32_t classes)
    : m_channels(platform.Channels()),
      m_classes(classes),
      m_shares(static_cast<size_t>(classes) * platform.Channels()),
      m_ends(m_shares.size()),
      m_changed(classes),
      m_squeezed(classes)
{
    // No flow is faster than all links of its sender together.
    std::vector<BitRate> together(platform.Nodes(), 0);
    BitRate fastest = 1;
    for (ChannelId channel = 0; channel < m_channels; ++channel)
    {
        fastest = std::max(fastest, platform.Rate(channel));
        together[platform.Transmitter(channel)] += platform.Rate(channel);
    }
    for (const NodeIndex node : platform.rankNode)
    {
        fastest = std::max(fastest, together[node]);
    }
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(fastest)));
    m_fractionBits = bits < RATE_BITS ? RATE_BITS - bits : 0;
    for (ChannelId channel = 0; channel < m_channels; ++channel)
    {
        m_rate.push_back(platform.Rate(channel) << m_fractionBits);
    }
}

FlowShares::BundleId
FlowShares::AddBundle(std::span<const ChannelUse> uses, uint32_t classIndex)
{
    Bundle& bundle = m_bundles.emplace_back();
    bundle.firstUse = static_cast<uint32_t>(m_uses.size());
    bundle.uses = static_cast<uint16_t>(uses.size());
    bundle.classIndex = static_cast<uint16_t>(classIndex);
    for (const ChannelUse& use : uses)
    {
        m_uses.push_back(Use{classIndex * m_channels + use.channel, NONE, use.weight});
    }
    return static_cast<BundleId>(m_bundles.size() - 1);
}

FlowShares::Work
FlowShares::WorkOf(ByteCount bytes) const
{
    // 2^m_fractionBits, as a factor, would leave 128 bits with messages of over 2^50 bytes.
    const Work whole = static_cast<Work>(bytes) * (BITS_PER_BYTE * PS_PER_S);
    return whole > (MOST_WORK >> m_fractionBits) ? MOST_WORK : whole << m_fractionBits;
}

FlowShares::Work
FlowShares::GivenBy(const Bundle& bundle, TimePs now) const
{
    if (bundle.bottleneck == NONE)
    {
        return bundle.given;
    }
    return bundle.given +
           static_cast<Work>(bundle.rate) * (now - m_shares[bundle.bottleneck].since);
}

void
FlowShares::Begin(BundleId id, FlowId flow, ByteCount bytes, TimePs now)
{
    Bundle& bundle = m_bundles[id];
    Target target{GivenBy(bundle, now) + WorkOf(bytes), flow};
    if (bundle.flows++ == 0)
    {
        bundle.first = target;
    }
    else
    {
        if (bundle.first < target)
        {
            std::swap(bundle.first, target);
        }
        bundle.others.push_back(target);
        std::push_heap(bundle.others.begin(), bundle.others.end());
    }
    MarkChanged(id);
}

void
FlowShares::MarkChanged(BundleId id)
{
    Bundle& bundle = m_bundles[id];
    if (!bundle.isChanged)
    {
        bundle.isChanged = true;
        m_changed[bundle.classIndex].push_back(id);
    }
}

FlowShares::Target
FlowShares::PopTarget(Bundle& bundle)
{
    const Target first = bundle.first;
    if (--bundle.flows > 0)
    {
        std::pop_heap(bundle.others.begin(), bundle.others.end());
        bundle.first = bundle.others.back();
        bundle.others.pop_back();
    }
    return first;
}

/// List the end of a bundle's first flow at its bottleneck; the caller has to Plan for that.
void
FlowShares::Lodge(BundleId id)
{
    Bundle& bundle = m_bundles[id];
    std::vector<End>& ends = m_shares[bundle.bottleneck].ends;
    ends.push_back(End{bundle.first.work - bundle.given, id});
    std::push_heap(ends.begin(), ends.end());
    bundle.isLodged = true;
}

/// The nearest picosecond to the first end, or NEVER_PS where the level is 0 or time ends before.
TimePs
FlowShares::EndTime(const Share& share)
{
    if (share.level == 0)
    {
        return NEVER_PS;
    }
    const Work doubled = 2 * std::max<Work>(share.ends.front().work, 0);
    const Work after = (doubled + share.level) / (2 * static_cast<Work>(share.level));
    return share.since + after < MAX_TIME_PS ? share.since + static_cast<TimePs>(after) : NEVER_PS;
}

void
FlowShares::Plan(ShareId id)
{
    const Share& share = m_shares[id];
    const TimePs end = share.ends.empty() ? NEVER_PS : EndTime(share);
    if (end == NEVER_PS)
    {
        m_ends.Remove(id);
    }
    else
    {
        m_ends.Set(id, end);
    }
}

void
FlowShares::TakeEnded(TimePs now, std::vector<FlowId>& ended)
{
    while (!m_ends.IsEmpty() && m_ends.Time() <= now)
    {
        const ShareId id = m_ends.Item();
        Share& share = m_shares[id];
        const Work doubled = 2 * static_cast<Work>(share.level) * (now - share.since) + share.level;
        while (!share.ends.empty() && 2 * share.ends.front().work <= doubled)
        {
            const BundleId which = share.ends.front().bundle;
            std::pop_heap(share.ends.begin(), share.ends.end());
            share.ends.pop_back();
            Bundle& bundle = m_bundles[which];
            bundle.isLodged = false;
            while (bundle.flows > 0 && 2 * (bundle.first.work - bundle.given) <= doubled)
            {
                ended.push_back(PopTarget(bundle).flow);
            }
            MarkChanged(which);
        }
        Plan(id);
    }
}

} // namespace ns3
