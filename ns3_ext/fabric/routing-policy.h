// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ROUTING_POLICY_H
#define ASTRA_ROUTING_POLICY_H

#include "../core/units.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/// What equal-cost routing hashes: the 5-tuple of a flow comes down to these three.
struct FlowIdentity
{
    RankId src;
    RankId dst;
    uint32_t queuePair;
};

/// How one of several equal ways is chosen; the values are those of astra_py.platforms.RoutingKind.
enum class RoutingKind : uint8_t
{
    ECMP = 0,          ///< Hash of source and destination.
    ENHANCED_ECMP = 1, ///< Hash of source, destination and queue pair.
    SPRAY = 2,         ///< Another way for each packet; chosen in the fabric.
    LEAST_LOADED = 3,  ///< The shortest queue for each packet; chosen in the fabric.
    STATIC_RAIL = 4,   ///< By the destination's rail.
    HOOK = 5,          ///< As the table says that a user's function filled.
};

/// Which NIC of its machine a flow takes; the values are those of astra_py.platforms.NicPolicy.
enum class NicPolicy : uint8_t
{
    OWN = 0,     ///< The one that the accelerator is linked to.
    HASH = 1,    ///< Hash of the flow.
    STRIPED = 2, ///< Queue pair number modulo the NICs.
    PXN = 3,     ///< The one of the destination's rail, over NVLink.
};

/// Whether frames pass through a node; the values are those of PlatformArrays.node_forwards.
enum class Forwarding : uint8_t
{
    NONE = 0,
    ALL = 1,
    SCALE_UP_TO_ETHERNET = 2, ///< From a scale-up link to an Ethernet link or a NIC, and no other.
};

/// Ways that were chosen before the run, one row a flow; rows of a pair in order of queue pair.
struct ChosenWays
{
    std::vector<int32_t> src;
    std::vector<int32_t> dst;
    std::vector<int32_t> queuePair;
    std::vector<int64_t> ptr; ///< Rows of `channel`; one more than flows.
    std::vector<int32_t> channel;
};

/// How flows get their ways over a platform.
struct RoutingPolicy
{
    RoutingKind kind{RoutingKind::ECMP};
    NicPolicy nics{NicPolicy::OWN};
    bool isSeedCommon{false}; ///< One hash for all switches, which polarises.
    ChosenWays chosen;        ///< With HOOK only.
};

} // namespace ns3

#endif // ASTRA_ROUTING_POLICY_H
