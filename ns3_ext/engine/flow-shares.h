// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FLOW_SHARES_H
#define ASTRA_FLOW_SHARES_H

#include "../core/units.h"
#include "../fabric/platform-description.h"
#include "flow-end-queue.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ns3
{

/// What one byte of a flow puts on a channel, in parts of 2^32.
struct ChannelUse
{
    ChannelId channel{0};
    uint64_t weight{0};
};

/**
 * Max-min fair sharing of channels by flows, as time goes on.
 *
 * Flows that use the same channels alike are a bundle and have the same rate. Classes are strict: a
 * higher one shares all of a channel, the next what is left. Within a class each flow has a
 * bottleneck, a channel that is full and on which no flow has a higher rate.
 *
 * Rates are whole multiples of a small part of a bit/s, and all that is counted is made of
 * integers, so that sums are exact: no channel is given more than it has, and results depend on
 * neither the order of additions nor the compiler. Levels within a billionth of each other are one,
 * so that flows in the same position have exactly the same rate.
 *
 * All bundles of one bottleneck have the same rate and are kept there: it is the bottleneck whose
 * level changes, and which knows which of its flows ends first. After flows began or ended, only
 * what that reaches is shared out again: the bottlenecks on their way, then those on the way of all
 * bundles that were there (upwards in rate only), and what then has more than its share.
 */
class FlowShares
{
  public:
    using BundleId = uint32_t;
    using FlowId = uint32_t;

    /// A use of all of each byte.
    static constexpr unsigned WEIGHT_BITS = 32;

    /**
     * @param platform Checked; gives the channels' rates.
     * @param classes How many classes there are; class 0 goes first.
     */
    FlowShares(const PlatformDescription& platform, uint32_t classes);

    /// A new bundle, without flows; it stays.
    BundleId AddBundle(std::span<const ChannelUse> uses, uint32_t classIndex);

    /**
     * A flow begins now; it gets a share in Settle.
     *
     * @param bytes What it is to be given, counted as its bundle's weights count.
     */
    void Begin(BundleId bundle, FlowId flow, ByteCount bytes, TimePs now);

    /// When the next flow ends, or NEVER_PS; valid after Settle.
    TimePs NextEnd() const
    {
        return m_ends.IsEmpty() ? NEVER_PS : m_ends.Time();
    }

    /// Append the flows that end now, to the nearest picosecond, to a list; shares stay until
    /// Settle.
    void TakeEnded(TimePs now, std::vector<FlowId>& ended);

    /// Share out anew after flows began or ended.
    void Settle(TimePs now);

    /// How many bundles were given a rate, over all calls of Settle.
    uint64_t GivenRates() const
    {
        return m_givenRates;
    }

  private:
    /// A channel in a class: class times channels + channel.
    using ShareId = uint32_t;
    /// Bits, times rate units in a bit/s, times ps in a second.
    using Work = Int128;
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Use
    {
        ShareId share;
        uint32_t place; ///< In the share's list of places.
        uint64_t weight;
    };

    /// How much its bundle has to have been given each flow when a flow ends.
    struct Target
    {
        Work work;
        FlowId flow;

        /// For a heap with the smallest in front.
        bool operator<(const Target& other) const
        {
            return work > other.work || (work == other.work && flow > other.flow);
        }
    };

    struct Bundle
    {
        uint32_t firstUse{0};
        uint16_t uses{0};
        uint16_t classIndex{0};
        uint32_t flows{0};   ///< Under way.
        uint32_t counted{0}; ///< Of them, those that loads have in them.
        ShareId bottleneck{NONE};
        bool isChanged{false}; ///< Listed as changed since the last Settle.
        bool isTaken{false};   ///< Being shared out.
        bool isLodged{false};  ///< Has an end at its bottleneck.
        int64_t rate{0};       ///< Of each flow.
        Work given{0};  ///< To each flow, until its bottleneck's `since` or, without, until now.
        Target first{}; ///< If it has flows.
        std::vector<Target> others; ///< A heap.
    };

    /// When the first flow of a bundle ends: what is given to it from its bottleneck's `since` on.
    struct End
    {
        Work work;
        BundleId bundle;

        /// For a heap with the smallest in front.
        bool operator<(const End& other) const
        {
            return work > other.work || (work == other.work && bundle > other.bundle);
        }
    };

    struct Place
    {
        BundleId bundle;
        uint32_t use; ///< Into m_uses.
    };

    struct Share
    {
        int64_t load{0};    ///< What its bundles are given.
        int64_t highest{0}; ///< No bundle here has a higher rate.
        std::vector<Place> places;
        std::vector<End> ends;  ///< A heap; one for each bundle whose bottleneck it is.
        int64_t level{0};       ///< Rate of these.
        TimePs since{0};        ///< When they got it.
        uint32_t filling{NONE}; ///< While it is being shared out, its number there.
    };

    /// A share that is being shared out.
    struct Filling
    {
        ShareId share{0};
        int64_t left{0};
        uint64_t weight{0}; ///< Of the flows that have no rate yet.
        uint32_t begin{0};  ///< Of its bundles in m_onShare.
        uint32_t end{0};
        int64_t level{0}; ///< As a bottleneck.
        bool isBottleneck{false};
    };

    /// What a rate of each flow puts on a channel.
    static int64_t OnChannel(int64_t rate, uint64_t weight)
    {
        return static_cast<int64_t>((static_cast<Int128>(rate) * weight) >> WEIGHT_BITS);
    }

    std::span<Use> UsesOf(const Bundle& bundle)
    {
        return std::span(m_uses).subspan(bundle.firstUse, bundle.uses);
    }

    // flow-shares.cc: flows come and go.
    Work WorkOf(ByteCount bytes) const;
    Work GivenBy(const Bundle& bundle, TimePs now) const;
    void MarkChanged(BundleId id);
    void Lodge(BundleId id);
    void Plan(ShareId id);
    static Target PopTarget(Bundle& bundle);
    static TimePs EndTime(const Share& share);

    // flow-shares-taking.cc: what a change reaches.
    void TakeChanged(const std::vector<BundleId>& changed, TimePs now);
    void TakeSqueezed(ShareId id, TimePs now);
    void Occupy(BundleId id);
    void Vacate(BundleId id, TimePs now);
    void Uncount(Bundle& bundle);
    void TakeBundle(BundleId id, TimePs now);
    void TakeBottleneck(ShareId id, TimePs now);
    void Touch(ShareId id, TimePs now);
    void TakeReached(TimePs now);

    // flow-shares-filling.cc: sharing it out.
    int64_t Capacity(ShareId id) const;
    void SettleClass(uint32_t classIndex, TimePs now);
    void ListBundles();
    void Fill();
    void GiveRates(uint32_t number, int64_t level);
    bool TakeThoseAbove(TimePs now);
    void Commit(TimePs now);

    const uint32_t m_channels;
    const uint32_t m_classes;
    unsigned m_fractionBits{0};  ///< Rates are in units of 2^-m_fractionBits bit/s.
    std::vector<int64_t> m_rate; ///< Per channel.
    std::vector<Bundle> m_bundles;
    std::vector<Use> m_uses;
    std::vector<Share> m_shares;
    EndQueue m_ends;                              ///< Of bottlenecks.
    std::vector<std::vector<BundleId>> m_changed; ///< Per class.
    std::vector<std::vector<ShareId>>
        m_squeezed; ///< Per class: what higher ones leave has changed.
    uint64_t m_givenRates{0};

    // Only while sharing out.
    std::vector<BundleId> m_taken;
    size_t m_reached{0}; ///< Of m_taken, those whose shares have been touched.
    std::vector<Filling> m_fillings;
    std::vector<uint32_t> m_onShare; ///< Into m_taken, by share.
    std::vector<uint32_t> m_givenAt; ///< Of m_taken, the filling that gave its rate; NONE before.
    std::vector<std::pair<int64_t, uint32_t>> m_levels; ///< A heap of levels and fillings.
};

} // namespace ns3

#endif // ASTRA_FLOW_SHARES_H
