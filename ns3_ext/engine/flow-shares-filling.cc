// SPDX-License-Identifier: GPL-2.0-only
// FlowShares shares channels out: progressive filling (Bertsekas and Gallager, Data Networks, 2nd
// edition, section 6.5.2) of what a change reaches.
#include "flow-shares.h"

#include <algorithm>
#include <functional>

namespace ns3
{

namespace
{

/// Levels that differ by less than this part of them, two to the minus so many, are one.
constexpr unsigned SAME_LEVEL_BITS = 30;

/// The largest level that is the same as another one.
int64_t
Around(int64_t level)
{
    return level + (level >> SAME_LEVEL_BITS);
}

/// The rate that flows of a weight together have where so much is left; no more than a channel's.
int64_t
LevelOf(int64_t left, uint64_t weight)
{
    constexpr Int128 most = static_cast<Int128>(1) << 62;
    return static_cast<int64_t>(
        std::min(most, (static_cast<Int128>(left) << FlowShares::WEIGHT_BITS) / weight));
}

} // namespace

/// What higher classes leave of a channel; less than a billionth of it is nothing.
int64_t
FlowShares::Capacity(ShareId id) const
{
    const int64_t rate = m_rate[id % m_channels];
    int64_t left = rate;
    for (ShareId higher = id % m_channels; higher < id; higher += m_channels)
    {
        left -= m_shares[higher].load;
    }
    return left > rate >> SAME_LEVEL_BITS ? left : 0;
}

void
FlowShares::Settle(TimePs now)
{
    for (uint32_t classIndex = 0; classIndex < m_classes; ++classIndex)
    {
        if (!m_changed[classIndex].empty() || !m_squeezed[classIndex].empty())
        {
            SettleClass(classIndex, now);
        }
    }
}

void
FlowShares::SettleClass(uint32_t classIndex, TimePs now)
{
    TakeChanged(m_changed[classIndex], now);
    m_changed[classIndex].clear();
    for (const ShareId id : m_squeezed[classIndex])
    {
        TakeSqueezed(id, now);
    }
    m_squeezed[classIndex].clear();
    do
    {
        TakeReached(now);
        ListBundles();
        Fill();
    } while (TakeThoseAbove(now));
    Commit(now);
    for (const Filling& filling : m_fillings)
    {
        m_shares[filling.share].filling = NONE;
        for (uint32_t lower = classIndex + 1; lower < m_classes; ++lower)
        {
            const ShareId same = filling.share + (lower - classIndex) * m_channels;
            if (!m_shares[same].places.empty())
            {
                m_squeezed[lower].push_back(same);
            }
        }
    }
    m_fillings.clear();
    m_taken.clear();
    m_reached = 0;
}

/// What there is on each channel for the bundles taken, and which these are.
void
FlowShares::ListBundles()
{
    for (Filling& filling : m_fillings)
    {
        const int64_t left = Capacity(filling.share) - m_shares[filling.share].load;
        filling = Filling{.share = filling.share, .left = std::max<int64_t>(left, 0)};
    }
    for (const BundleId id : m_taken)
    {
        for (const Use& use : UsesOf(m_bundles[id]))
        {
            Filling& filling = m_fillings[m_shares[use.share].filling];
            filling.weight += m_bundles[id].flows * use.weight;
            ++filling.end;
        }
    }
    uint32_t sum = 0;
    for (Filling& filling : m_fillings)
    {
        filling.begin = sum;
        sum += filling.end;
        filling.end = filling.begin;
    }
    m_onShare.resize(sum);
    for (uint32_t i = 0; i < m_taken.size(); ++i)
    {
        for (const Use& use : UsesOf(m_bundles[m_taken[i]]))
        {
            m_onShare[m_fillings[m_shares[use.share].filling].end++] = i;
        }
    }
}

/// Raise the rates of all bundles taken alike; each time that a channel is full, its flows stay.
void
FlowShares::Fill()
{
    m_givenAt.assign(m_taken.size(), NONE);
    m_levels.clear();
    for (uint32_t number = 0; number < m_fillings.size(); ++number)
    {
        if (const Filling& filling = m_fillings[number]; filling.weight > 0)
        {
            m_levels.emplace_back(LevelOf(filling.left, filling.weight), number);
        }
    }
    std::make_heap(m_levels.begin(), m_levels.end(), std::greater<>());
    int64_t water = 0;
    while (!m_levels.empty())
    {
        std::pop_heap(m_levels.begin(), m_levels.end(), std::greater<>());
        auto [least, number] = m_levels.back();
        m_levels.pop_back();
        Filling& filling = m_fillings[number];
        if (filling.weight == 0)
        {
            continue;
        }
        // Levels only rise while others get their rates.
        const int64_t level = LevelOf(filling.left, filling.weight);
        if (level > Around(std::max(least, water)))
        {
            m_levels.emplace_back(level, number);
            std::push_heap(m_levels.begin(), m_levels.end(), std::greater<>());
            continue;
        }
        if (level > Around(water))
        {
            water = level;
        }
        GiveRates(number, std::min(level, water));
    }
}

/// A channel is full: the flows on it that have no rate yet get this one.
void
FlowShares::GiveRates(uint32_t number, int64_t level)
{
    m_fillings[number].isBottleneck = true;
    m_fillings[number].level = level;
    for (uint32_t k = m_fillings[number].begin; k < m_fillings[number].end; ++k)
    {
        const uint32_t i = m_onShare[k];
        if (m_givenAt[i] != NONE)
        {
            continue;
        }
        m_givenAt[i] = number;
        const Bundle& bundle = m_bundles[m_taken[i]];
        for (const Use& use : UsesOf(bundle))
        {
            Filling& filling = m_fillings[m_shares[use.share].filling];
            filling.left -= bundle.flows * OnChannel(level, use.weight);
            filling.weight -= bundle.flows * use.weight;
        }
    }
}

/// Take those that were left out and have more, now, than others on a full channel.
bool
FlowShares::TakeThoseAbove(TimePs now)
{
    const size_t before = m_taken.size();
    for (const Filling& filling : m_fillings)
    {
        Share& share = m_shares[filling.share];
        const int64_t most = Around(filling.level);
        if (!filling.isBottleneck || share.highest <= most ||
            share.places.size() == filling.end - filling.begin)
        {
            continue;
        }
        share.highest = 0;
        for (const Place& place : share.places)
        {
            const Bundle& bundle = m_bundles[place.bundle];
            if (bundle.isTaken)
            {
                continue;
            }
            share.highest = std::max(share.highest, bundle.rate);
            if (bundle.rate > most)
            {
                TakeBottleneck(bundle.bottleneck, now);
            }
        }
    }
    return m_taken.size() > before;
}

void
FlowShares::Commit(TimePs now)
{
    m_givenRates += m_taken.size();
    for (uint32_t i = 0; i < m_taken.size(); ++i)
    {
        Bundle& bundle = m_bundles[m_taken[i]];
        const Filling& filling = m_fillings[m_givenAt[i]];
        bundle.isTaken = false;
        bundle.isLodged = true;
        bundle.rate = filling.level;
        bundle.counted = bundle.flows;
        bundle.bottleneck = filling.share;
        m_shares[filling.share].ends.push_back(End{bundle.first.work - bundle.given, m_taken[i]});
        for (const Use& use : UsesOf(bundle))
        {
            Share& share = m_shares[use.share];
            share.load += bundle.counted * OnChannel(bundle.rate, use.weight);
            share.highest = std::max(share.highest, bundle.rate);
        }
    }
    for (const Filling& filling : m_fillings)
    {
        Share& share = m_shares[filling.share];
        if (filling.isBottleneck)
        {
            share.level = filling.level;
            share.since = now;
            std::make_heap(share.ends.begin(), share.ends.end());
        }
        Plan(filling.share);
    }
}

} // namespace ns3
