// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FLOW_WAYS_H
#define ASTRA_FLOW_WAYS_H

#include "../fabric/platform-description.h"
#include "../fabric/route-table.h"
#include "flow-shares.h"
#include "transport-figures.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ns3
{

/// A way of messages, for their times: of several that packets are spread over, the longest.
struct FlowWay
{
    std::vector<ChannelId> path;
    TimePs latency{0};    ///< Of links and of the nodes between them.
    TimePs ackLatency{0}; ///< Of the reverse way.
    uint32_t counted{0};  ///< Hop on whose channel line bytes are those of the flow.
    uint32_t slowest{0};  ///< Last hop where a full packet takes longest.
    bool isScaleUp{true}; ///< No link is Ethernet.
    bool isSplit{false};  ///< Packets of one message go several ways.

    bool operator==(const FlowWay&) const = default;
};

/**
 * What flows have of a platform: the ways that packets of the same queue pair take, what a flow
 * puts on each channel of them, and what its time is beside its bytes over its rate.
 *
 * A flow's bytes are its line bytes on the first Ethernet link of its way, or on its first link
 * where there is none. Where a NIC or a switch chooses for each packet, a flow is split over the
 * ways: over first links, and where the least loaded is chosen, in proportion to links' rates;
 * where packets are sprayed, evenly.
 */
class FlowWays
{
  public:
    /**
     * @param platform Checked; must outlive this.
     * @param figures Line format, payload, rounding.
     * @param seed The run's seed, for routes.
     */
    FlowWays(const PlatformDescription& platform, const TransportFigures& figures, uint64_t seed);

    /// The way of a flow; that of no other queue pair of the same ranks, where packets are spread.
    FlowWay Find(const FlowIdentity& flow);

    /// What a flow puts on channels for each of its bytes, with full packets.
    std::vector<ChannelUse> UsesOf(const FlowWay& way, RankId src, RankId dst);

    /// Largest payload of a packet.
    uint32_t Payload(const FlowWay& way) const;

    /// Bytes that a message's flow has.
    ByteCount FlowBytes(const FlowWay& way, ByteCount size) const
    {
        return LineBytes(way, way.path[way.counted], size);
    }

    /// Line bytes of a message on a channel that it takes, if all of it goes there.
    ByteCount LineBytes(const FlowWay& way, ChannelId channel, ByteCount size) const;

    /**
     * From a message's last byte leaving the sender to its last byte's arrival: latencies, and the
     * filling of the pipeline. The latter is the first packet's time on each link before the
     * slowest, and the last one's on each link behind it.
     */
    TimePs AfterLastByte(const FlowWay& way, ByteCount size) const;

    /// Channels and what goes over each.
    using Parts = std::vector<std::pair<ChannelId, int64_t>>;

    /**
     * What of an amount goes over which channels where packets of one message go several ways: what
     * comes to a node leaves it. The channels are the same ones, in the same order, for any amount.
     */
    Parts Split(const FlowWay& way, RankId src, RankId dst, int64_t amount);

  private:
    uint32_t PacketBytes(ChannelId channel, uint32_t size, bool isFirst) const;
    TimePs PacketTime(ChannelId channel, uint32_t size, bool isFirst) const;
    TimePs Latency(std::span<const ChannelId> path) const;
    void Describe(FlowWay& way) const;
    Parts SplitOverWays(RankId src, RankId dst, int64_t amount);
    Parts SplitByHop(RankId src, RankId dst, int64_t amount);

    const PlatformDescription& m_platform;
    const TransportFigures m_figures;
    RouteTable m_routes;
    std::vector<int64_t> m_coming; ///< Per node, while an amount is split.
    std::vector<bool> m_isComing;
};

} // namespace ns3

#endif // ASTRA_FLOW_WAYS_H
