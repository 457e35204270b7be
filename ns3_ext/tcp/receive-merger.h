// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_RECEIVE_MERGER_H
#define ASTRA_RECEIVE_MERGER_H

#include "received-packet.h"

#include "ns3/sequence-number.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * Generic receive offload: makes one packet of those of an interrupt that continue each other.
 *
 * As Linux does (tcp_gro_receive, inet_gro_receive): a segment is merged into the last unit of its
 * connection's end if it begins where that ends, has payload, no more of it than the unit's first,
 * the same ECN bits and TCP flags (its own CWR begins a unit; FIN and PSH may come), and there is
 * room. A shorter segment, FIN or PSH ends the unit.
 */
class ReceiveMerger
{
  public:
    /**
     * @param batch Packets in order of arrival.
     * @return What comes of them, in order of the first packet of each; valid until the next call.
     */
    std::vector<ReceivedPacket>& Merge(const std::vector<ReceivedPacket>& batch);

  private:
    /// What decides whether a packet continues another one.
    struct Segment
    {
        SequenceNumber32 sequence;
        uint32_t payloadBytes{0};
        uint8_t ecn{0};   ///< Of the IPv4 header.
        uint8_t flags{0}; ///< Of the TCP header.
    };

    struct Unit
    {
        size_t index{0};   ///< Among the units of the batch.
        Segment first;     ///< Its segment.
        uint32_t bytes{0}; ///< Payload so far.
        uint32_t segments{1};
    };

    static Segment Read(const Packet& packet);
    static bool Continues(const Segment& segment, const Unit& unit);
    void Close(const Unit& unit);

    std::vector<ReceivedPacket> m_units;
    std::unordered_map<uint32_t, Unit> m_open; ///< By flow.
};

} // namespace ns3

#endif // ASTRA_RECEIVE_MERGER_H
