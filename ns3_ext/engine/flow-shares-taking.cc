// SPDX-License-Identifier: GPL-2.0-only
// FlowShares finds what a change reaches, and takes it out to be shared out anew.
#include "flow-shares.h"

namespace ns3
{

void
FlowShares::TakeChanged(const std::vector<BundleId>& changed, TimePs now)
{
    // Where as many flows began as ended, nothing changes, and the end of the next one is known.
    // These come first: a bottleneck that is taken has to know all its bundles.
    for (const BundleId id : changed)
    {
        Bundle& bundle = m_bundles[id];
        bundle.isChanged = false;
        if (bundle.bottleneck != NONE && bundle.flows == bundle.counted && !bundle.isLodged)
        {
            Lodge(id);
            Plan(bundle.bottleneck);
        }
    }
    for (const BundleId id : changed)
    {
        const Bundle& bundle = m_bundles[id];
        if (bundle.isTaken || bundle.flows == bundle.counted)
        {
            continue;
        }
        if (bundle.flows == 0)
        {
            Vacate(id, now);
        }
        else if (bundle.isLodged)
        {
            TakeBottleneck(bundle.bottleneck, now);
        }
        else
        {
            if (bundle.bottleneck == NONE)
            {
                Occupy(id);
            }
            TakeBundle(id, now);
        }
    }
}

void
FlowShares::TakeSqueezed(ShareId id, TimePs now)
{
    TakeBottleneck(id, now);
    const Share& share = m_shares[id];
    if (share.load <= Capacity(id))
    {
        return;
    }
    for (const Place& place : share.places)
    {
        if (!m_bundles[place.bundle].isTaken)
        {
            TakeBottleneck(m_bundles[place.bundle].bottleneck, now);
        }
    }
}

/// A bundle gets flows: put it on its channels.
void
FlowShares::Occupy(BundleId id)
{
    const Bundle& bundle = m_bundles[id];
    for (uint32_t use = bundle.firstUse; use < bundle.firstUse + bundle.uses; ++use)
    {
        std::vector<Place>& places = m_shares[m_uses[use].share].places;
        m_uses[use].place = static_cast<uint32_t>(places.size());
        places.push_back(Place{id, use});
    }
}

/// A bundle has no flows any more: take it off its channels, which then have more for others.
void
FlowShares::Vacate(BundleId id, TimePs now)
{
    Bundle& bundle = m_bundles[id];
    Uncount(bundle);
    bundle.bottleneck = NONE;
    bundle.given = 0;
    for (const Use& use : UsesOf(bundle))
    {
        Share& share = m_shares[use.share];
        const Place last = share.places.back();
        share.places[use.place] = last;
        m_uses[last.use].place = use.place;
        share.places.pop_back();
        if (share.places.empty())
        {
            share.highest = 0;
        }
        Touch(use.share, now);
    }
}

void
FlowShares::Uncount(Bundle& bundle)
{
    for (const Use& use : UsesOf(bundle))
    {
        m_shares[use.share].load -= bundle.counted * OnChannel(bundle.rate, use.weight);
    }
    bundle.counted = 0;
}

/// A bundle, whose end is listed nowhere, loses its rate and gets another one.
void
FlowShares::TakeBundle(BundleId id, TimePs now)
{
    Bundle& bundle = m_bundles[id];
    bundle.given = GivenBy(bundle, now);
    Uncount(bundle);
    bundle.bottleneck = NONE;
    bundle.isLodged = false;
    bundle.isTaken = true;
    m_taken.push_back(id);
}

void
FlowShares::TakeBottleneck(ShareId id, TimePs now)
{
    for (const End& end : m_shares[id].ends)
    {
        TakeBundle(end.bundle, now);
    }
    m_shares[id].ends.clear();
}

void
FlowShares::Touch(ShareId id, TimePs now)
{
    if (m_shares[id].filling == NONE)
    {
        m_shares[id].filling = static_cast<uint32_t>(m_fillings.size());
        m_fillings.push_back(Filling{.share = id});
    }
    TakeBottleneck(id, now);
}

/// Take all that shares a bottleneck with what is taken.
void
FlowShares::TakeReached(TimePs now)
{
    for (; m_reached < m_taken.size(); ++m_reached)
    {
        for (const Use& use : UsesOf(m_bundles[m_taken[m_reached]]))
        {
            Touch(use.share, now);
        }
    }
}

} // namespace ns3
